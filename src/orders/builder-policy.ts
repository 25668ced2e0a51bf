import { type Lamports, lamports, ZERO } from '../base/units.ts'
import { PROGRAMS } from '../solana/programs.ts'

/** What somebody who builds transactions for us may put into one. Whatever is not named here is refused. */
export interface BuilderPolicy {
  /** Where it comes from, for people. */
  readonly name: string
  /** Programs that may trade. System, Token, Token-2022, Associated Token, Compute Budget and Memo are always read,
   *  each by its own rules. */
  readonly programs: readonly TradingProgram[]
  /** Programs that may be called from inside the trading ones, beside those and Solana's own. */
  readonly innerPrograms: readonly string[]
  readonly feeAccounts: readonly FeeAccount[]
  readonly tips: { readonly accounts: readonly string[]; readonly maxLamports: Lamports }
  /** Who may sign beside the wallet. */
  readonly coSigners: readonly string[]
  readonly lookupTables: 'any' | readonly string[]
  /** Pools that are traded with beside the canonical one of a mint. */
  readonly pools: readonly string[]
  /** Accounts that an opaque program may be handed although they name the wallet, or hold SOL and could be the wallet's
   *  by a seed. */
  readonly opaqueAccounts: readonly string[]
  readonly maxPriorityFeeLamports: Lamports
  /** How many accounts a trading program may open at the wallet's cost (pump.fun: records of volume, a creator's
   *  vault). */
  readonly rentAccounts: number
  /** An opaque program that no guards bound may run only while the wallet holds no more than this; null: never. */
  readonly maxWalletLamports: Lamports | null
  /** Guards at the end of what we alone sign: where they fit, always, or never. */
  readonly guard: 'auto' | 'required' | 'off'
  /** What a sale's number counts; null: not known, so a sale by number is refused. */
  readonly sellNumber: 'tokens' | 'baseUnits' | null
}

/** A program with a known layout, or one of which only the place of the mint and the wallet is known. */
export type TradingProgram =
  | { readonly id: string; readonly decode: 'pump' | 'pump-swap' }
  | {
      readonly id: string
      readonly decode: 'opaque'
      /** How the instruction data of a buy and of a sale may begin, hex. */
      readonly buy: readonly string[]
      readonly sell: readonly string[]
      /** Places among the instruction's accounts. */
      readonly mintIndex: number
      readonly userIndex: number
    }

/** What the service takes for itself, by a transfer of its own; the smaller of the two caps counts. */
export interface FeeAccount {
  readonly address: string
  /** Of the SOL that the trade moves. */
  readonly maxPercent: number | null
  readonly maxLamports: Lamports | null
}

/** Programs by the names that a policy may use. */
export const PRESETS = {
  pump: { id: PROGRAMS.bondingCurve, decode: 'pump' },
  'pump-swap': { id: PROGRAMS.pumpSwap, decode: 'pump-swap' },
} as const satisfies Record<string, TradingProgram>

/** Where Jito's block engine takes tips (its getTipAccounts). */
export const JITO_TIPS = [
  '96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5',
  'HFqU5x63VTqvQss8hp11i4wVV8bD44PvwucfZ2bU7gRe',
  'Cw8CFyM9FkoMi7K7Crf6HNQqf4uEMzpKw6QNghXLvLkY',
  'ADaUMid9yfUytqMBgopwjb2DTLSokTSzL1zt6iGPaS49',
  'DfXygSm4jCyNCybVYYK6DwvWqjKee8pbDmJGcLWNDXjh',
  'ADuUkR4vqLUMWXxW9gh6D6L8pMSawimctcNZ5pGwDcEt',
  'DttWaMuVvTiduZRnguLF7jNxTgiMBZ1hyAumKUiL2KRL',
  '3AVi9Tg9Uo68tJfuvoKvqKNWKkC5wPdSSdeBnizKZ6jT',
] as const

/** Without a file: pump.fun and PumpSwap, nobody's fees, tips or signatures. */
export const BUILT_IN_POLICY: BuilderPolicy = {
  name: 'built in',
  programs: [PRESETS.pump, PRESETS['pump-swap']],
  innerPrograms: [],
  feeAccounts: [],
  tips: { accounts: [], maxLamports: ZERO },
  coSigners: [],
  lookupTables: 'any',
  pools: [],
  opaqueAccounts: [],
  maxPriorityFeeLamports: lamports(2_000_000),
  rentAccounts: 2,
  maxWalletLamports: null,
  guard: 'auto',
  sellNumber: null,
}

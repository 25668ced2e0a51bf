import { type Lamports, lamports, ZERO } from '../base/units.ts'
import { PROGRAMS } from '../solana/programs.ts'

/** The permitted contents of a transaction that the service builds for Sluice. All other contents are refused. */
export interface BuilderPolicy {
  /** File of the policy, or `built in`; for display. */
  readonly name: string
  /** Programs that may trade. System, Token, Token-2022, Associated Token, Compute Budget and Memo need no entry,
   *  because the verifier has rules for each of them. */
  readonly programs: readonly TradingProgram[]
  /** Programs that trading programs may call, in addition to each other and to Solana's own programs. */
  readonly innerPrograms: readonly string[]
  readonly feeAccounts: readonly FeeAccount[]
  readonly tips: { readonly accounts: readonly string[]; readonly maxLamports: Lamports }
  /** Permitted signers other than the wallet. */
  readonly coSigners: readonly string[]
  readonly lookupTables: 'any' | readonly string[]
  /** Permitted pools other than the canonical pool of a mint. */
  readonly pools: readonly string[]
  /** Accounts through which the wallet cannot lose anything. They may be passed to an opaque program (see
   *  `TradingProgram`) in two cases in which other accounts may not: if their data contain the wallet's address, and if
   *  they hold SOL and may be derived from the wallet by a seed. */
  readonly opaqueAccounts: readonly string[]
  readonly maxPriorityFeeLamports: Lamports
  /** Number of accounts that a trading program may open at the wallet's cost (pump.fun: volume records, a creator's
   *  vault). */
  readonly rentAccounts: number
  /** Largest balance of the wallet with which an opaque program may run without guards; null: it never may. */
  readonly maxWalletLamports: Lamports | null
  /** Guards are instructions that make the transaction fail if it took too much from the wallet. They are appended to a
   *  transaction without other signers if they fit (auto), always (required), or never (off). */
  readonly guard: 'auto' | 'required' | 'off'
  /** Unit of the number of tokens in a request to sell. null if it is unknown; a sale of a number of tokens is then
   *  refused. */
  readonly sellNumber: 'tokens' | 'baseUnits' | null
}

/** A program that may trade. Either the layout of its instructions is known, or the program is opaque: only the
 *  positions of the mint and of the wallet among its accounts are known. */
export type TradingProgram =
  | { readonly id: string; readonly decode: 'pump' | 'pump-swap' }
  | {
      readonly id: string
      readonly decode: 'opaque'
      /** Permitted prefixes of the instruction data, hex: `buy` for a buy, `sell` for a sale. */
      readonly buy: readonly string[]
      readonly sell: readonly string[]
      /** Indexes of the mint and of the wallet (`userIndex`) in the instruction's accounts. */
      readonly mintIndex: number
      readonly userIndex: number
    }

/** An account that receives the service's fee by a separate transfer. If both limits are set, the smaller one
 *  applies. */
export interface FeeAccount {
  readonly address: string
  /** Highest fee in percent of the SOL that the trade moves. */
  readonly maxPercent: number | null
  readonly maxLamports: Lamports | null
}

/** Trading programs with a known layout, by their names in a policy file. */
export const PRESETS = {
  pump: { id: PROGRAMS.bondingCurve, decode: 'pump' },
  'pump-swap': { id: PROGRAMS.pumpSwap, decode: 'pump-swap' },
} as const satisfies Record<string, TradingProgram>

/** Tip accounts of Jito's block engine (its getTipAccounts). */
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

/** The policy that applies without a policy file. It permits pump.fun and PumpSwap, but no fees, tips or signatures of
 *  third parties. */
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

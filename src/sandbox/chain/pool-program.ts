import { readFileSync } from 'node:fs'
import { decodeBase58, encodeBase58 } from '../../solana/base58.ts'
import type { Curve, Reserves } from '../../solana/bonding-curve.ts'
import { CURVE_FEE_BPS, TOKEN_SUPPLY } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { namedAddress, poolAddress, poolBump, tokenAccountAddress } from '../keys.ts'

/** Address of the program in `bpf/pool.c`. This module describes its instructions and accounts to clients.
 *  Instructions, account indexes and errors are those of pump.fun's program (pump-public-docs @1b82215, IDL), so a
 *  builder policy lists the program as `{id, decode: pump}`. */
export const POOL_PROGRAM = namedAddress('pool program')

/** Account that receives the curve's fee. */
export const CURVE_FEES = namedAddress('curve fees')

/** pump.fun's error numbers. */
export const POOL_FAILURES = {
  tooMuchSolRequired: 6002,
  tooLittleSolReceived: 6003,
  bondingCurveComplete: 6005,
  buyZeroAmount: 6020,
  sellZeroAmount: 6022,
  overflow: 6024,
  belowMinimumTokens: 6042,
  accountNotInitialized: 3012,
} as const

/** First bytes of the data of buy_exact_sol_in, buy and sell, hex. */
const DISCRIMINATORS = { in: '38fc74089edfcd5f', out: '66063d1201daebea', sell: '33e685a4017f83ad' } as const
const CURVE_DISCRIMINATOR = '17b7f83760d8ac60'
export const POOL_BYTES = 152

/** A trade with a pool. Amounts are in lamports and base units. `in`: a buy spends at most `lamports`, fee included,
 *  for at least `tokens`. `out`: a buy receives exactly `tokens` for at most `lamports`. A sale gives exactly `tokens`
 *  for at least `lamports` after the fee. */
export interface PoolTrade {
  side: 'buy' | 'sell'
  exact: 'in' | 'out'
  lamports: bigint
  tokens: bigint
}

export interface InstructionAccount {
  address: string
  signer: boolean
  writable: boolean
}

export interface ProgramInstruction {
  program: string
  accounts: InstructionAccount[]
  data: Uint8Array
}

/** Binary of the program. */
export function poolBinary(): Uint8Array {
  return readFileSync(new URL('../bpf/pool.so', import.meta.url))
}

/** Address of the account with the reserves of a mint's pool. */
export function poolOf(mint: string): string {
  return poolAddress(mint, POOL_PROGRAM)
}

/** Address of the pool's associated token account, which holds the tokens of the pool. */
export function vaultOf(mint: string, tokenProgram: string = PROGRAMS.token): string {
  return tokenAccountAddress(poolOf(mint), mint, tokenProgram)
}

export function encodeTrade({ side, exact, lamports, tokens }: PoolTrade): Uint8Array {
  const spends = side === 'buy' && exact === 'in'
  const data = Buffer.concat([Buffer.from(DISCRIMINATORS[side === 'sell' ? 'sell' : exact], 'hex'), Buffer.alloc(16)])
  data.writeBigUInt64LE(spends ? lamports : tokens, 8)
  data.writeBigUInt64LE(spends ? tokens : lamports, 16)
  return data
}

/** Instruction for a trade of `wallet`, whose token account must exist. Accounts that pump.fun's program needs only for
 *  its own records are set to the id of this program. */
export function poolInstruction(
  wallet: string,
  mint: string,
  trade: PoolTrade,
  tokenProgram: string = PROGRAMS.token,
): ProgramInstruction {
  const fixed = (address: string) => ({ address, signer: false, writable: false })
  const written = (address: string) => ({ address, signer: false, writable: true })
  const none = fixed(POOL_PROGRAM)
  const token = fixed(tokenProgram)
  const accounts = [
    none,
    written(CURVE_FEES),
    fixed(mint),
    written(poolOf(mint)),
    written(vaultOf(mint, tokenProgram)),
    written(tokenAccountAddress(wallet, mint, tokenProgram)),
    { address: wallet, signer: true, writable: true },
    fixed(PROGRAMS.system),
    ...(trade.side === 'buy' ? [token, none] : [none, token]),
    ...Array<InstructionAccount>(trade.side === 'buy' ? 6 : 4).fill(none),
  ]
  return { program: POOL_PROGRAM, accounts, data: encodeTrade(trade) }
}

/** Data of the account of a pool: the fields of BondingCurve of pump.fun up to the creator, then fields of the sandbox.
 *  The data may be rewritten between any two transactions. A curve that has sold all its tokens is marked as complete.
 *  It refuses trades until the sandbox rewrites the account as the pool to which the token migrates. */
export function encodePool(mint: string, { reserves, realSol }: Curve, feeBps: bigint = CURVE_FEE_BPS): Uint8Array {
  const data = Buffer.alloc(POOL_BYTES)
  data.write(CURVE_DISCRIMINATOR, 0, 'hex')
  const { virtualTokens, virtualSol, realTokens } = reserves
  for (const [index, value] of [virtualTokens, virtualSol, realTokens, realSol, TOKEN_SUPPLY].entries())
    data.writeBigUInt64LE(value, 8 + 8 * index)
  data[48] = realTokens === 0n ? 1 : 0
  data[81] = poolBump(mint, POOL_PROGRAM)
  data.writeUInt16LE(Number(feeBps), 82)
  data.set(decodeBase58(CURVE_FEES, 32)!, 88)
  data.set(decodeBase58(mint, 32)!, 120)
  return data
}

/** Decodes a pool's account; undefined if the bytes are not such an account. `complete`: whether the curve has sold all
 *  its tokens. */
export function decodePool(data: Uint8Array): { mint: string; reserves: Reserves; realSol: bigint } | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  if (bytes.length !== POOL_BYTES || bytes.toString('hex', 0, 8) !== CURVE_DISCRIMINATOR) return undefined
  const [virtualTokens, virtualSol, realTokens, realSol] = [8, 16, 24, 32].map((at) => bytes.readBigUInt64LE(at)) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ]
  const reserves = { virtualSol, virtualTokens, realTokens, complete: bytes[48] === 1 }
  return { mint: encodeBase58(bytes.subarray(120)), reserves, realSol }
}

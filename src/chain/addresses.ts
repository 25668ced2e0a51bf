import { createHash } from 'node:crypto'
import { encodeBase58 } from '../solana/base58.ts'
import { derivedAddress } from '../solana/derived-address.ts'
import { PROGRAMS, WSOL_MINT } from '../solana/programs.ts'
import { keyBytes } from '../solana/transaction.ts'

const MOST_KEPT = 10_000
const kept = new Map<string, string>()

/** Returns the address of a wallet's associated token account for a mint. */
export function tokenAccountOf(wallet: string, mint: string, tokenProgram: string): string {
  return derive(PROGRAMS.associatedToken, [keyBytes(wallet), keyBytes(tokenProgram), keyBytes(mint)])
}

/** Returns the address of a mint's bonding curve account on pump.fun. */
export function bondingCurveOf(mint: string, program: string): string {
  return derive(program, [text('bonding-curve'), keyBytes(mint)])
}

/** Returns the address of the pool that pump.fun opens when a curve is complete (pump-public-docs @1b82215,
 *  PUMP_SWAP_CREATOR_FEE_README). It has index 0, is created by the mint's own pool authority, and is quoted in wrapped
 *  SOL. */
export function canonicalPoolOf(mint: string, program: string): string {
  const authority = derive(PROGRAMS.bondingCurve, [text('pool-authority'), keyBytes(mint)])
  const index = new Uint8Array(2)
  return derive(program, [text('pool'), index, keyBytes(authority), keyBytes(mint), keyBytes(WSOL_MINT)])
}

/** Returns the address of the vault in which pump.fun collects the fees of a coin's creator. */
export function creatorVaultOf(creator: Uint8Array): string {
  return derive(PROGRAMS.bondingCurve, [text('creator-vault'), Uint8Array.from(creator)])
}

/** Returns the address of the account in which pump.fun or PumpSwap counts the trading volume of a wallet. */
export function volumeAccumulatorOf(wallet: string, program: string): string {
  return derive(program, [text('user_volume_accumulator'), keyBytes(wallet)])
}

/** Returns the address of an account that the key `base` can open (`create_with_seed`) and sign for. It is derived from
 *  this key, a seed and the owning program. */
export function seededAddress(base: string, seed: Uint8Array, owner: string): string {
  return encodeBase58(digest(keyBytes(base), seed, keyBytes(owner)))
}

/** Derives an address of a program. Results are cached, because a derivation takes several hundred microseconds and the
 *  same addresses are requested often. */
function derive(program: string, seeds: Uint8Array[]): string {
  const key = `${program}:${seeds.map((seed) => Buffer.from(seed).toString('hex')).join(':')}`
  const known = kept.get(key)
  if (known !== undefined) return known
  const address = encodeBase58(derivedAddress(seeds, keyBytes(program), digest))
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(key, address)
  return address
}

function text(value: string): Uint8Array {
  return Buffer.from(value, 'latin1')
}

function digest(...parts: Uint8Array[]): Uint8Array {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

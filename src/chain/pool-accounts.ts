import { encodeBase58 } from '../core/base58.ts'
import type { TradingProgram } from '../core/builder-policy.ts'
import type { Refusal } from '../core/errors.ts'
import { PROGRAMS, WSOL_MINT } from '../core/programs.ts'
import { keyBytes } from '../core/transaction-bytes.ts'
import { mintDecimalsOf } from './mint-account.ts'
import { type AccountState, tokenAccountOf as tokenStateOf } from './verifier/account-state.ts'
import { bondingCurveOf, canonicalPoolOf, tokenAccountOf } from './verifier/addresses.ts'

// Pools as accounts of the chain. pump-public-docs @1b82215, idl/pump.json BondingCurve and idl/pump_amm.json Pool; what stands behind the
// fields of that day: docs/NEGATIVE_VIRTUAL_QUOTE_RESERVES.md of the same repository. Both were made longer several times, and what a
// shorter one lacks is 0. An address that a program derives can hold nothing but what that program put there.

/** Of a pool: what its price is made of. */
export interface Sides {
  readonly lamports: bigint
  readonly tokens: bigint
  readonly decimals: number
}

const CURVE = '17b7f83760d8ac60'
const CURVE_BYTES = 49
const COMPLETE_AT = 48
/** Since May 2026; of pump.fun's own only. Nothing there: against SOL. */
const QUOTE_AT = 83
const POOL = 'f19a6d0411b16dbc'
const POOL_BYTES = 211
/** Signed, 16 bytes. */
const VIRTUAL_AT = 245
const KEY_BYTES = 32
/** With less SOL than this on its side a pool has no price: whoever likes moves it. */
const LEAST_LAMPORTS = 10_000_000n
/** Unsigned, 8 bytes. */
const MOST = 2n ** 64n - 1n
const MOST_DECIMALS = 12
const NO_KEY = new Uint8Array(KEY_BYTES)

/** Those with bonding curves: pump.fun's, and what else of its layout is named. */
export function curveProgramsOf(programs: readonly TradingProgram[]): string[] {
  const named = programs.filter(({ decode }) => decode === 'pump').map(({ id }) => id)
  return [...new Set([PROGRAMS.bondingCurve, ...named])]
}

/** The mint first, which says how many decimals a token has. */
export function curveAddresses(mint: string, programs: readonly string[]): string[] {
  return [mint, ...programs.map((program) => bondingCurveOf(mint, program))]
}

/** The pool of one that has left its curve. */
export function poolAddresses(mint: string, tokenProgram: string): string[] {
  const pool = canonicalPoolOf(mint, PROGRAMS.pumpSwap)
  return [mint, pool, tokenAccountOf(pool, mint, tokenProgram), tokenAccountOf(pool, WSOL_MINT, PROGRAMS.token)]
}

/** `migrated`: no curve trades it, any more or ever. */
export function readCurve(
  [mint, ...curves]: readonly (AccountState | null)[],
  programs: readonly string[],
): Sides | Refusal | 'migrated' {
  const decimals = mint ? mintDecimalsOf(mint) : undefined
  if (decimals === undefined) return unreadable('the mint is none')
  const found = curves.findIndex((account, index) => account?.owner === programs[index])
  const account = curves[found]
  if (!account) return 'migrated'
  const { data } = account
  if (data.length < CURVE_BYTES || !startsWith(data, CURVE)) return unreadable('its curve has another layout')
  if (data[COMPLETE_AT] !== 0) return 'migrated'
  if (programs[found] === PROGRAMS.bondingCurve && !isSol(data.subarray(QUOTE_AT, QUOTE_AT + KEY_BYTES)))
    return unreadable('its curve trades it against another token than SOL')
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const [virtualTokens, virtualLamports, tokens, lamports] = [8, 16, 24, 32].map((at) => bytes.readBigUInt64LE(at)) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ]
  if (tokens > virtualTokens || lamports > virtualLamports || lamports > account.lamports)
    return unreadable('its curve has more than it can have')
  return sides(virtualLamports, virtualTokens, decimals)
}

export function readPool(
  [mint, pool, tokens, lamports]: readonly (AccountState | null)[],
  key: string,
): Sides | Refusal {
  const decimals = mint ? mintDecimalsOf(mint) : undefined
  if (decimals === undefined || !mint) return unreadable('the mint is none')
  if (pool?.owner !== PROGRAMS.pumpSwap) return unreadable('it is neither on a curve of pump.fun nor in its pool')
  const { data } = pool
  if (data.length < POOL_BYTES || !startsWith(data, POOL)) return unreadable('its pool has another layout')
  const [, address, tokenVault, lamportVault] = poolAddresses(key, mint.owner)
  const named = [43, 75, 139, 171].map((at) => encodeBase58(data.subarray(at, at + KEY_BYTES)))
  if ([key, WSOL_MINT, tokenVault, lamportVault].some((wanted, index) => wanted !== named[index]))
    return unreadable('its pool holds something else')
  const [base, quote] = [tokenStateOf(tokens ?? null), tokenStateOf(lamports ?? null)]
  if (base?.mint !== key || quote?.mint !== WSOL_MINT || base.owner !== address || quote.owner !== address)
    return unreadable('the accounts of its pool are not its own')
  return sides(quote.tokens + virtualLamports(data), base.tokens, decimals)
}

function sides(lamports: bigint, tokens: bigint, decimals: number): Sides | Refusal {
  if (lamports < LEAST_LAMPORTS || tokens <= 0n) return unreadable('its pool is empty')
  const isOdd = lamports > MOST || tokens > MOST || decimals > MOST_DECIMALS
  return isOdd ? unreadable('its pool has more than it can have') : { lamports, tokens, decimals }
}

/** What counts beside what is there: less what waits to be paid out as fees, more where the pool was given depth. */
function virtualLamports(data: Uint8Array): bigint {
  if (data.length < VIRTUAL_AT + 16) return 0n
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return bytes.readBigUInt64LE(VIRTUAL_AT) + (bytes.readBigInt64LE(VIRTUAL_AT + 8) << 64n)
}

function isSol(key: Uint8Array): boolean {
  return key.length < KEY_BYTES || [NO_KEY, keyBytes(WSOL_MINT)].some((sol) => Buffer.compare(sol, key) === 0)
}

function startsWith(data: Uint8Array, hex: string): boolean {
  return Buffer.from(data.subarray(0, 8)).toString('hex') === hex
}

function unreadable(reason: string): Refusal {
  return { code: 'POOL_UNREADABLE', reason }
}

import { createHash, createPrivateKey, createPublicKey } from 'node:crypto'
import { decodeBase58, encodeBase58 } from '../core/base58.ts'

/** Programs that appear in the sandbox's transactions, by Solana's own addresses. */
export const PROGRAMS = {
  system: '11111111111111111111111111111111',
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  associatedToken: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  computeBudget: 'ComputeBudget111111111111111111111111111111',
  bondingCurve: '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P',
} as const

/** Mints that are money, not tokens to trade; real feeds now and then announce one as a launch. */
export const MONEY_MINTS = [
  'So11111111111111111111111111111111111111112',
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
] as const

/** SHA-256 of the joined parts. */
export function digest(...parts: (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** An address that nobody holds a key of, the same for the same name. */
export function namedAddress(name: string): string {
  return encodeBase58(digest('sluice sandbox ', name))
}

/** The public key of the ed25519 key whose 32 secret bytes are `secret`. */
export function walletAddress(secret: Uint8Array): string {
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), secret])
  const key = createPublicKey(createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }))
  return encodeBase58(key.export({ format: 'der', type: 'spki' }).subarray(-32))
}

const derived = new Map<string, string>()

/**
 * The associated token account of an owner and a mint, as the real program derives it, so that a client may derive it
 * too.
 */
export function tokenAccountAddress(owner: string, mint: string): string {
  return once(`${owner}:${mint}`, () =>
    derivedAddress([bytes(owner), bytes(PROGRAMS.token), bytes(mint)], PROGRAMS.associatedToken),
  )
}

/** The bonding curve account of a mint, derived as pump.fun derives it. */
export function poolAddress(mint: string): string {
  return once(mint, () => derivedAddress([Buffer.from('bonding-curve'), bytes(mint)], PROGRAMS.bondingCurve))
}

function once(key: string, derive: () => string): string {
  const known = derived.get(key)
  if (known) return known
  const address = derive()
  if (derived.size >= 10_000) derived.clear()
  derived.set(key, address)
  return address
}

function derivedAddress(seeds: Uint8Array[], program: string): string {
  for (let bump = 255; bump >= 0; bump--) {
    const hash = digest(...seeds, Uint8Array.of(bump), bytes(program), 'ProgramDerivedAddress')
    if (!isOnCurve(hash)) return encodeBase58(hash)
  }
  throw new Error('no bump gives an address off the curve')
}

function bytes(address: string): Uint8Array {
  const decoded = decodeBase58(address, 32)
  if (!decoded) throw new RangeError(`not an address: ${address}`)
  return decoded
}

const P = 2n ** 255n - 19n
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n

/** Whether 32 bytes are a point of ed25519 (RFC 8032 5.1.3): x^2 = (y^2 - 1) / (d y^2 + 1) has a root. */
function isOnCurve(point: Uint8Array): boolean {
  let y = 0n
  for (let index = 31; index >= 0; index--) y = (y << 8n) | BigInt(index === 31 ? point[index]! & 127 : point[index]!)
  const square = (y * y) % P
  const ratio = ((square - 1n + P) * power((D * square + 1n) % P, P - 2n)) % P
  return ratio === 0n || power(ratio, (P - 1n) / 2n) === 1n
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let factor = base; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * factor) % P
    factor = (factor * factor) % P
  }
  return result
}

import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { decodeBase58, encodeBase58 } from '../solana/base58.ts'
import { derivation } from '../solana/derived-address.ts'
import { PROGRAMS } from '../solana/programs.ts'

/** Key pair of the sandbox. It protects only play money. */
export interface Secret {
  /** Public key in base58. */
  address: string
  key: KeyObject
  /** The 64 bytes of a Solana keypair file: the secret key, then the public key. */
  bytes: Uint8Array
}

/** DER prefix of an ed25519 private key (PKCS 8, RFC 8410). `PUBLIC`: of a public key (SPKI). */
const PRIVATE = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC = Buffer.from('302a300506032b6570032100', 'hex')

/** Key pair that belongs to a 32-byte ed25519 seed. */
export function secretOf(seed: Uint8Array): Secret {
  const key = createPrivateKey({ key: Buffer.concat([PRIVATE, seed]), format: 'der', type: 'pkcs8' })
  const shared = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
  return { address: encodeBase58(shared), key, bytes: Buffer.concat([seed, shared]) }
}

export function verifyingKey(address: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([PUBLIC, address]), format: 'der', type: 'spki' })
}

/** Mints of currencies (SOL and USD coins). Real feeds sometimes announce them as new tokens. */
export const MONEY_MINTS = [
  'So11111111111111111111111111111111111111112',
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
] as const

/** SHA-256 hash of the concatenated parts. */
export function digest(...parts: (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Address that is computed from a name; its private key is unknown. */
export function namedAddress(name: string): string {
  return encodeBase58(digest('sluice sandbox ', name))
}

/** Public key, in base58, that belongs to a 32-byte ed25519 seed. */
export function walletAddress(secret: Uint8Array): string {
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), secret])
  const key = createPublicKey(createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }))
  return encodeBase58(key.export({ format: 'der', type: 'spki' }).subarray(-32))
}

interface Derived {
  address: string
  bump: number
}

const derived = new Map<string, Derived>()

/** Address of the associated token account of an owner and a mint. It is derived in the same way as on the real chain,
 *  so that clients can derive it too. */
export function tokenAccountAddress(owner: string, mint: string, tokenProgram: string = PROGRAMS.token): string {
  const seeds = () => [bytes(owner), bytes(tokenProgram), bytes(mint)]
  return once(`${owner}:${mint}:${tokenProgram}`, PROGRAMS.associatedToken, seeds).address
}

/** Address of a mint's bonding curve account, derived in the same way as by pump.fun. */
export function poolAddress(mint: string, program: string = PROGRAMS.bondingCurve): string {
  return curve(mint, program).address
}

/** Bump seed of the bonding curve account of a mint. */
export function poolBump(mint: string, program: string): number {
  return curve(mint, program).bump
}

function curve(mint: string, program: string): Derived {
  return once(`${mint}:${program}`, program, () => [Buffer.from('bonding-curve'), bytes(mint)])
}

function once(key: string, program: string, seeds: () => Uint8Array[]): Derived {
  const known = derived.get(key)
  if (known) return known
  const { address, bump } = derivation(seeds(), bytes(program), digest)
  const made = { address: encodeBase58(address), bump }
  if (derived.size >= 10000) derived.clear()
  derived.set(key, made)
  return made
}

function bytes(address: string): Uint8Array {
  const decoded = decodeBase58(address, 32)
  if (!decoded) throw new RangeError(`not a base58 address: ${address}`)
  return decoded
}

import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { decodeBase58, encodeBase58 } from '../solana/base58.ts'
import { derivation } from '../solana/derived-address.ts'
import { PROGRAMS } from '../solana/programs.ts'

/** A key of the sandbox's own, if only to play money. */
export interface Secret {
  /** Base58 of the public key. */
  address: string
  key: KeyObject
  /** The 64 bytes of Solana's keypair files: the secret ones, then the public ones. */
  bytes: Uint8Array
}

/** PKCS 8 and SPKI of ed25519 (RFC 8410), up to where the 32 bytes begin. */
const PRIVATE = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC = Buffer.from('302a300506032b6570032100', 'hex')

/** The ed25519 key of 32 secret bytes. */
export function secretOf(seed: Uint8Array): Secret {
  const key = createPrivateKey({ key: Buffer.concat([PRIVATE, seed]), format: 'der', type: 'pkcs8' })
  const shared = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
  return { address: encodeBase58(shared), key, bytes: Buffer.concat([seed, shared]) }
}

export function verifyingKey(address: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([PUBLIC, address]), format: 'der', type: 'spki' })
}

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

interface Derived {
  address: string
  bump: number
}

const derived = new Map<string, Derived>()

/**
 * The associated token account of an owner and a mint, as the real program derives it, so that a client may derive it
 * too.
 */
export function tokenAccountAddress(owner: string, mint: string, tokenProgram: string = PROGRAMS.token): string {
  const seeds = () => [bytes(owner), bytes(tokenProgram), bytes(mint)]
  return once(`${owner}:${mint}:${tokenProgram}`, PROGRAMS.associatedToken, seeds).address
}

/** The bonding curve account of a mint, derived as pump.fun derives it. */
export function poolAddress(mint: string, program: string = PROGRAMS.bondingCurve): string {
  return curve(mint, program).address
}

/** What the program signs with for that account. */
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
  if (!decoded) throw new RangeError(`not an address: ${address}`)
  return decoded
}

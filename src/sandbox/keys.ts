import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { encodeBase58 } from '../core/base58.ts'

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

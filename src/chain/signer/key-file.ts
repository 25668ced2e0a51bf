import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { ExitCode } from '../../base/errors.ts'
import { encodeBase58 } from '../../solana/base58.ts'

/** A wallet's key. Only OpenSSL holds its bytes. */
export interface WalletKey {
  /** Public key of the wallet, base58. */
  readonly wallet: string
  readonly publicKey: Uint8Array
  readonly privateKey: KeyObject
}

/** Prefix of the PKCS #8 encoding of an ed25519 key. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const KEY_BYTES = 64
const SEED_BYTES = 32
/** Maximum length of a key file in bytes. A key file has 64 numbers with commas and spaces. */
const MOST_BYTES = 4_096

/** Reads a key file of `solana-keygen`, which is a JSON array of 64 bytes: the seed, then the public key. Throws a
 *  SignerFailure that names the file and the problem, never its content. `wallet`: the expected public key. */
export function readKeyFile(path: string, wallet: string | undefined): WalletKey {
  const text = readOurs(path)
  const bytes = Buffer.alloc(KEY_BYTES)
  try {
    if (!parseBytes(text, bytes))
      throw new SignerFailure(`${path}: expected a JSON array of 64 bytes, as solana-keygen writes it`, ExitCode.usage)
    return keyOf(path, bytes, wallet)
  } finally {
    text.fill(0)
    bytes.fill(0)
  }
}

function readOurs(path: string): Buffer {
  const file = open(path)
  try {
    const { mode, uid, size } = checked(path, file)
    if (uid !== process.getuid?.())
      throw new SignerFailure(`${path}: belongs to another user; the signer's user must own it`)
    if ((mode & 0o077) !== 0) {
      const shown = (mode & 0o777).toString(8).padStart(4, '0')
      throw new SignerFailure(`${path}: others can read it (mode ${shown}); run: chmod 600 '${path}'`)
    }
    const text = Buffer.alloc(size)
    return text.subarray(0, readSync(file, text, 0, size, 0))
  } finally {
    closeSync(file)
  }
}

function open(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new SignerFailure(`${path}: no such file`, ExitCode.usage)
    throw new SignerFailure(`${path}: cannot be read (${code}); the signer's user must own it, with mode 0600`)
  }
}

function checked(path: string, file: number): { mode: number; uid: number; size: number } {
  const status = fstatSync(file)
  if (!status.isFile() || status.size > MOST_BYTES)
    throw new SignerFailure(`${path}: not a keypair file`, ExitCode.usage)
  return status
}

/** Parses the array byte by byte, so that no string with the key stays in memory. Returns false if the text is anything
 *  but an array of 64 bytes. */
function parseBytes(text: Uint8Array, into: Uint8Array): boolean {
  let at = 0
  const blanks = (): void => {
    while (isBlank(text[at])) at++
  }
  const take = (letter: string): boolean => {
    blanks()
    return text[at] === letter.charCodeAt(0) && ++at > 0
  }
  if (!take('[')) return false
  for (let index = 0; index < into.length; index++) {
    if (index > 0 && !take(',')) return false
    blanks()
    const start = at
    let value = 0
    for (; isDigit(text[at]); at++) value = value * 10 + (text[at] as number) - 48
    if (at === start || at > start + 3 || value > 255) return false
    into[index] = value
  }
  if (!take(']')) return false
  blanks()
  return at === text.length
}

function isBlank(code: number | undefined): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= 48 && code <= 57
}

function keyOf(path: string, bytes: Buffer, wanted: string | undefined): WalletKey {
  const der = Buffer.concat([PKCS8, bytes.subarray(0, SEED_BYTES)])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  der.fill(0)
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)
  if (!publicKey.equals(bytes.subarray(SEED_BYTES)))
    throw new SignerFailure(`${path}: its public key does not match its private key`, ExitCode.usage)
  const wallet = encodeBase58(publicKey)
  if (wanted !== undefined && wallet !== wanted)
    throw new SignerFailure(
      `${path}: contains the key of ${wallet}, but the configured wallet is ${wanted}`,
      ExitCode.usage,
    )
  return { wallet, publicKey: Uint8Array.from(publicKey), privateKey }
}

/** The reason why a signer does not start, as text for a person. It never contains a part of the key. */
export class SignerFailure extends Error {
  readonly exitCode: ExitCode
  constructor(message: string, exitCode: ExitCode = ExitCode.unsafe) {
    super(message)
    this.name = 'SignerFailure'
    this.exitCode = exitCode
  }
}

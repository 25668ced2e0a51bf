import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { ExitCode } from '../../base/errors.ts'
import { encodeBase58 } from '../../solana/base58.ts'

/** A wallet's key, which nothing but OpenSSL sees any more. */
export interface WalletKey {
  /** Base58. */
  readonly wallet: string
  readonly publicKey: Uint8Array
  readonly privateKey: KeyObject
}

/** What a PKCS #8 of an ed25519 key begins with. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const KEY_BYTES = 64
const SEED_BYTES = 32
/** 64 numbers with commas, and room for blanks. */
const MOST_BYTES = 4_096

/** Reads what `solana-keygen` writes: a JSON array of 64 bytes, seed and public key. Throws a SignerFailure that names
 *  the file and what is wrong with it; never what stands in it. `wallet`: whose it has to be. */
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
      throw new SignerFailure(`${path}: belongs to another user, and must be the signer's own`)
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
    throw new SignerFailure(`${path}: cannot be read (${code}); it must be the signer's own file, mode 0600`)
  }
}

function checked(path: string, file: number): { mode: number; uid: number; size: number } {
  const status = fstatSync(file)
  if (!status.isFile() || status.size > MOST_BYTES)
    throw new SignerFailure(`${path}: not a file that holds a keypair`, ExitCode.usage)
  return status
}

/** Byte by byte, so that no text of it lies about. False where it is anything else than an array of so many bytes. */
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
    throw new SignerFailure(`${path}: its public half does not belong to its private half`, ExitCode.usage)
  const wallet = encodeBase58(publicKey)
  if (wanted !== undefined && wallet !== wanted)
    throw new SignerFailure(`${path}: the key of ${wallet}, and the wallet asked for is ${wanted}`, ExitCode.usage)
  return { wallet, publicKey: Uint8Array.from(publicKey), privateKey }
}

/** Why a signer does not start; the message is for a person and never holds anything of a key. */
export class SignerFailure extends Error {
  readonly exitCode: ExitCode
  constructor(message: string, exitCode: ExitCode = ExitCode.unsafe) {
    super(message)
    this.name = 'SignerFailure'
    this.exitCode = exitCode
  }
}

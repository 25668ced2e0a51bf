import type { Refusal } from '../../../base/errors.ts'
import { decodeLongBase58 } from '../../../solana/base58.ts'
import type { BuiltReply, CheckBytes } from '../../venue.ts'

const MOST_BYTES = 4_096
const DEEPEST = 8
const MOST_VALUES = 10_000
/** Reading base58 takes time by the square of its length: of all texts together so much of it, some twenty
 *  transactions' worth. */
const MOST_BASE58_STEPS = 64_000_000
const HEIGHT_NAMES = new Set(['lastvalidblockheight', 'lastvalidheight', 'validuntilblockheight'])

/** The document shows no reply of the builder beyond a field `lastValidBlockHeight`, so every plausible one is read:
 *  the bytes themselves; base64 or base58, alone or anywhere in JSON; JSON's ways to write bytes. Exactly one
 *  transaction has to be in it. */
export function readBuiltReply(body: Uint8Array, check: CheckBytes): BuiltReply {
  const raw = check(body)
  if (raw === undefined) return { ok: true, bytes: body, lastValidBlockHeight: undefined }
  const text = textOf(body)
  if (text === undefined) return { ok: false, ...raw }
  const found: Found = { bytes: new Map(), heights: new Set(), problem: undefined, values: 0, base58Steps: 0 }
  walk(jsonOf(text), '', 0, found, check)
  const [first, ...others] = found.bytes.values()
  if (others.length > 0)
    return { ok: false, code: 'REPLY_UNREADABLE', reason: `${others.length + 1} different transactions in one answer` }
  if (first === undefined) return { ok: false, ...(found.problem ?? nothing()) }
  const [height, ...more] = found.heights
  return { ok: true, bytes: first, lastValidBlockHeight: more.length === 0 ? height : undefined }
}

interface Found {
  /** By their hex. */
  readonly bytes: Map<string, Uint8Array>
  readonly heights: Set<number>
  /** Of what is most likely meant to be the transaction. */
  problem: Refusal | undefined
  values: number
  base58Steps: number
}

function walk(value: unknown, name: string, depth: number, found: Found, check: CheckBytes): void {
  if (depth > DEEPEST || ++found.values > MOST_VALUES) return
  if (HEIGHT_NAMES.has(name)) {
    addHeight(value, found)
  } else if (typeof value === 'string') {
    for (const bytes of bytesOfText(value, found)) add(bytes, found, check)
  } else if (typeof value === 'object' && value !== null) {
    const bytes = bytesOfNumbers(value)
    if (bytes !== undefined) add(bytes, found, check)
    else
      for (const [key, item] of Object.entries(value))
        walk(item, Array.isArray(value) ? name : key.toLowerCase().replaceAll(/[_-]/g, ''), depth + 1, found, check)
  }
}

/** A list of bytes, or what JSON makes of a Uint8Array: an object with a key for each. */
function bytesOfNumbers(value: object): Uint8Array | undefined {
  const numbers: unknown[] = Object.values(value)
  const isList = Array.isArray(value) || Object.keys(value).every((key, index) => key === String(index))
  return isList && numbers.length > 0 && numbers.every(isByte) ? Uint8Array.from(numbers) : undefined
}

function add(bytes: Uint8Array, found: Found, check: CheckBytes): void {
  const problem = check(bytes)
  if (problem === undefined) found.bytes.set(Buffer.from(bytes).toString('hex'), bytes)
  // A version that is not signed here is told before anything else: most likely the builder has to be told too.
  else if (found.problem?.code !== 'TX_VERSION' && bytes.length > SHORTEST) found.problem = problem
}

/** A signature, and a message of one account: what is shorter is a key, a signature or an id, and nobody meant it to be
 *  a transaction. */
const SHORTEST = 64 + 3 + 32 + 32

function addHeight(value: unknown, { heights }: Found): void {
  const height = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (Number.isSafeInteger(height) && (height as number) > 0) heights.add(height as number)
}

/** Every way in which a text can be bytes. */
function bytesOfText(text: string, found: Found): Uint8Array[] {
  const bare = text.trim()
  if (bare.length <= SHORTEST || bare.length > MOST_BYTES * 2) return []
  const base64 = base64Of(bare)
  found.base58Steps += bare.length ** 2
  const base58 = found.base58Steps > MOST_BASE58_STEPS ? undefined : decodeLongBase58(bare, MOST_BYTES)
  return [base64, base58].filter((bytes) => bytes !== undefined)
}

/** Only where it is written as it has to be: padded or not, in one of the two alphabets. */
function base64Of(text: string): Uint8Array | undefined {
  const bare = text.replace(/=+$/, '')
  const bytes = Buffer.from(bare, 'base64')
  const isExact = ['base64', 'base64url'].some(
    (how) => bytes.toString(how as BufferEncoding).replace(/=+$/, '') === bare,
  )
  return isExact ? bytes : undefined
}

function isByte(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255
}

function textOf(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return undefined
  }
}

/** A text that is no JSON stands for itself. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function nothing(): Refusal {
  return { code: 'REPLY_UNREADABLE', reason: 'no transaction in it: neither bytes nor base64 nor base58' }
}

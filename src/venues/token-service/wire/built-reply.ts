import type { Refusal } from '../../../base/errors.ts'
import { decodeLongBase58 } from '../../../solana/base58.ts'
import type { BuiltReply, CheckBytes } from '../../venue.ts'

const MAX_BYTES = 4_096
const DEEPEST = 8
const MAX_VALUES = 10_000
/** Limit on the work of decoding base58 texts, as the sum of their squared lengths, because decoding takes quadratic
 *  time. It is enough for about twenty transactions. */
const MAX_BASE58_STEPS = 64_000_000
const HEIGHT_NAMES = new Set(['lastvalidblockheight', 'lastvalidheight', 'validuntilblockheight'])

/** Extracts the transaction from a builder's answer. The document shows only a field `lastValidBlockHeight`, so every
 *  plausible format is accepted: raw bytes; base64 or base58, alone or anywhere in JSON; JSON arrays of bytes. The
 *  answer must contain exactly one transaction. */
export function readBuiltReply(body: Uint8Array, check: CheckBytes): BuiltReply {
  const raw = check(body)
  if (raw === undefined) return { ok: true, bytes: body, lastValidBlockHeight: undefined }
  const text = textOf(body)
  if (text === undefined) return { ok: false, ...raw }
  const found: Found = { bytes: new Map(), heights: new Set(), problem: undefined, values: 0, base58Steps: 0 }
  walk(jsonOf(text), '', 0, found, check)
  const [first, ...others] = found.bytes.values()
  if (others.length > 0)
    return {
      ok: false,
      code: 'REPLY_UNREADABLE',
      reason: `the answer contains ${others.length + 1} different transactions, but must contain exactly one`,
    }
  if (first === undefined) return { ok: false, ...(found.problem ?? nothing()) }
  const [height, ...more] = found.heights
  return { ok: true, bytes: first, lastValidBlockHeight: more.length === 0 ? height : undefined }
}

interface Found {
  /** Transactions that were found, by the hexadecimal form of their bytes. */
  readonly bytes: Map<string, Uint8Array>
  readonly heights: Set<number>
  /** Reason why the text in the answer that looks most like a transaction is not one. */
  problem: Refusal | undefined
  values: number
  base58Steps: number
}

function walk(value: unknown, name: string, depth: number, found: Found, check: CheckBytes): void {
  if (depth > DEEPEST || ++found.values > MAX_VALUES) return
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

/** Reads bytes from a JSON array, or from the object that JSON.stringify makes of a Uint8Array (one key per index);
 *  undefined if the value is neither. */
function bytesOfNumbers(value: object): Uint8Array | undefined {
  const numbers: unknown[] = Object.values(value)
  const isList = Array.isArray(value) || Object.keys(value).every((key, index) => key === String(index))
  return isList && numbers.length > 0 && numbers.every(isByte) ? Uint8Array.from(numbers) : undefined
}

function add(bytes: Uint8Array, found: Found, check: CheckBytes): void {
  const problem = check(bytes)
  if (problem === undefined) found.bytes.set(Buffer.from(bytes).toString('hex'), bytes)
  // If several candidates have problems, an unsupported version is reported, because then the user must configure the
  // builder differently.
  else if (found.problem?.code !== 'TX_VERSION' && bytes.length > SHORTEST) found.problem = problem
}

/** Length in bytes of a signature and a message with one account. A shorter value is a key, a signature or an id. */
const SHORTEST = 64 + 3 + 32 + 32

function addHeight(value: unknown, { heights }: Found): void {
  const height = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (Number.isSafeInteger(height) && (height as number) > 0) heights.add(height as number)
}

/** Returns the bytes that a text may encode, in base64 and in base58. */
function bytesOfText(text: string, found: Found): Uint8Array[] {
  const bare = text.trim()
  if (bare.length <= SHORTEST || bare.length > MAX_BYTES * 2) return []
  const base64 = base64Of(bare)
  found.base58Steps += bare.length ** 2
  const base58 = found.base58Steps > MAX_BASE58_STEPS ? undefined : decodeLongBase58(bare, MAX_BYTES)
  return [base64, base58].filter((bytes) => bytes !== undefined)
}

/** Decodes canonical base64, padded or not, in either alphabet; undefined for any other text. */
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

/** Parses a text as JSON. A text that is not JSON is returned unchanged. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function nothing(): Refusal {
  return {
    code: 'REPLY_UNREADABLE',
    reason: 'the answer contains no transaction: neither raw bytes nor base64 nor base58',
  }
}

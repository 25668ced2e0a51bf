import { isSignature } from '../../../solana/base58.ts'

/** Documented error codes of the HTTPS interface. */
export const HTTP_CODES = ['INSUFFICIENT_BALANCE', 'INVALID_MINT', 'SLIPPAGE_EXCEEDED', 'RATE_LIMIT'] as const
export type HttpCode = (typeof HTTP_CODES)[number]

/** The parts of an answer's body that were recognized. The service's document shows no body, so every plausible format
 *  is accepted, and ambiguous content is ignored. */
export interface Answer {
  /** The signature if the body contains exactly one, else ''. */
  readonly signature: string
  /** The documented error code if the body contains exactly one, else ''. */
  readonly code: HttpCode | ''
  /** First message for a person in the body, truncated; '' if there is none. */
  readonly message: string
  readonly isJson: boolean
}

/** Field names that may hold a signature. They are compared regardless of case and underscores. */
const SIGNATURE_NAMES = new Set([
  'signature',
  'signatures',
  'txsignature',
  'transactionsignature',
  'txid',
  'transactionid',
  'txhash',
  'transactionhash',
  'hash',
  'tx',
  'transaction',
])
const MESSAGE_NAMES = new Set(['message', 'error', 'reason', 'detail', 'errormessage', 'description'])

const LONGEST_MESSAGE = 200
const DEEPEST = 16
const MAX_VALUES = 10_000
const LONGEST_CODE = 40

/** Matches a separate word of base58 characters that has the length of a signature. */
const SIGNATURE_PATTERN = /(?<![0-9A-Za-z+_-])[1-9A-HJ-NP-Za-km-z]{64,88}(?![0-9A-Za-z+/=_-])/g
const CODE_PATTERN = new RegExp(`\\b(?:${HTTP_CODES.join('|')})\\b`, 'g')

export function readAnswer(body: string): Answer {
  const { value, isJson } = parse(body)
  const found: Found = { named: new Set(), codes: new Set(), message: '', values: 0 }
  walk(value, '', 0, found)
  const anywhere = new Set((body.match(SIGNATURE_PATTERN) ?? []).filter(isSignature))
  return {
    signature: onlyOne(found.named.size > 0 ? found.named : anywhere),
    code: onlyOne(found.codes),
    message: found.message,
    isJson,
  }
}

interface Found {
  named: Set<string>
  codes: Set<HttpCode>
  message: string
  values: number
}

function walk(value: unknown, name: string, depth: number, found: Found): void {
  if (depth > DEEPEST || ++found.values > MAX_VALUES) return
  if (typeof value === 'string') readText(value, name, found)
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) walk(item, name, depth + 1, found)
    return
  }
  for (const [key, item] of Object.entries(value)) {
    findCodes(key, found)
    walk(item, key.toLowerCase().replaceAll('_', ''), depth + 1, found)
  }
}

function readText(text: string, name: string, found: Found): void {
  if (SIGNATURE_NAMES.has(name) && isSignature(text)) found.named.add(text)
  if (found.message === '' && MESSAGE_NAMES.has(name)) found.message = text.slice(0, LONGEST_MESSAGE)
  findCodes(text, found)
}

/** Collects error codes. A code counts if it is a separate word in a text, or if it is the whole text in another
 *  spelling (`slippage-exceeded`, `slippageExceeded`). */
function findCodes(text: string, found: Found): void {
  for (const code of text.match(CODE_PATTERN) ?? []) found.codes.add(code as HttpCode)
  if (text.length > LONGEST_CODE) return
  const letters = lettersOf(text)
  for (const code of HTTP_CODES) if (lettersOf(code) === letters) found.codes.add(code)
}

function lettersOf(text: string): string {
  return text.replace(/[\s_-]/g, '').toUpperCase()
}

function parse(body: string): { value: unknown; isJson: boolean } {
  try {
    return { value: JSON.parse(body), isJson: true }
  } catch {
    return { value: body, isJson: false }
  }
}

function onlyOne<T extends string>(values: ReadonlySet<T>): T | '' {
  const [first] = values
  return values.size === 1 && first !== undefined ? first : ''
}

/** Returns the path of the signature in an answer, such as `data.txid`; '' unless there is exactly one signature. */
export function signaturePathOf(body: string): string {
  const { value } = parse(body)
  const paths: string[] = []
  const look = (item: unknown, path: string, depth: number): void => {
    if (isSignature(item)) paths.push(path)
    if (typeof item !== 'object' || item === null || depth > DEEPEST) return
    for (const [key, inner] of Object.entries(item)) look(inner, path === '' ? key : `${path}.${key}`, depth + 1)
  }
  look(value, '', 0)
  return paths.length === 1 ? (paths[0] as string) : ''
}

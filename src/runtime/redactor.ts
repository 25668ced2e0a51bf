import { encodeBase58 } from '../solana/base58.ts'

/** Length of the shortest secret that is redacted. The configuration check refuses shorter secrets, because redacting
 *  them would damage ordinary words. */
const SHORTEST_SECRET = 4
/** Parts of a secret URL with at least this number of characters are redacted on their own, because an error may show a
 *  path or a query without the host. */
const SHORTEST_URL_PART = 8
const REDACTED = '[redacted]'

/** Returns a function that redacts every secret by value: literally, with any of its characters escaped as in URLs,
 *  JSON or HTML, reversed, and as base64, base58, hex or decimal bytes. For a URL, also its user, password, path
 *  segments and query values. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const parts = new Set(secrets.flatMap(partsOf).filter(isLongEnough))
  if (parts.size === 0) return (text) => text
  const longestFirst = [...parts].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(longestFirst.flatMap(patternsOf).join('|'), 'g')
  return (text) => text.replace(pattern, REDACTED)
}

function isLongEnough(secret: string): boolean {
  return secret.length >= SHORTEST_SECRET
}

function partsOf(secret: string): string[] {
  if (!/^[a-z]+:\/\//i.test(secret) || !URL.canParse(secret)) return [secret]
  const url = new URL(secret)
  const parts = [
    url.username,
    url.password,
    ...url.pathname.split('/'),
    ...url.searchParams.values(),
    ...url.search.slice(1).split(/[&=]/),
  ]
  return [secret, url.href, ...parts.filter((part) => part.length >= SHORTEST_URL_PART)]
}

/** Returns every form of a secret as a regular expression, most likely first. */
function patternsOf(secret: string): string[] {
  const bytes = [...Buffer.from(secret)]
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0'))
  const number = BigInt(`0x${hex.join('')}`).toString()
  return [
    [...secret].map(characterPattern).join(''),
    escapeForPattern([...secret].reverse().join('')),
    ...base64Patterns(secret),
    encodeBase58(Uint8Array.from(bytes)),
    hex.map(eitherCase).join('(?:[\\s:,-]*(?:0x|\\\\x)?)'),
    `(?<!\\d)${bytes.join('[^\\d\\n]{1,3}')}(?!\\d)`,
    `(?<!\\d)${number}(?!\\d)`,
  ]
}

/** Returns a pattern that matches a character both unescaped and escaped, because a server may escape more characters
 *  than necessary, or only some. */
function characterPattern(character: string): string {
  const code = character.codePointAt(0) as number
  const percent = [...Buffer.from(character)].map((byte) => `%${eitherCase(byte.toString(16).padStart(2, '0'))}`)
  const units = Array.from({ length: character.length }, (_none, at) => character.charCodeAt(at).toString(16))
  const forms = [
    escapeForPattern(character),
    escapeForPattern(JSON.stringify(character).slice(1, -1)),
    percent.join(''),
    units.map((unit) => `\\\\u${eitherCase(unit.padStart(4, '0'))}`).join(''),
    `&#0*(?:${code}|[xX]0*${eitherCase(code.toString(16))});`,
    ...(character === ' ' ? ['\\+'] : []),
  ]
  return `(?:${[...new Set(forms)].join('|')})`
}

/** Returns patterns for the base64 form of a secret. Within a longer text, the form depends on the secret's position
 *  modulo 3 bytes, so there is also a pattern for each of the three cases. */
function base64Patterns(secret: string): string[] {
  const whole = Buffer.from(secret).toString('base64').replace(/=+$/, '')
  const within = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]).toString('base64')
    // The characters at the start and at the end that also encode bits of the text around the secret are omitted.
    return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + Buffer.byteLength(secret)) * 8) / 6))
  })
  const isLong = secret.length >= SHORTEST_URL_PART
  return [whole, ...(isLong ? within : [])].map((text) =>
    text.replaceAll(/[+/]/g, (one) => (one === '+' ? '[+-]' : '[/_]')),
  )
}

function eitherCase(hex: string): string {
  return hex.replaceAll(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)
}

function escapeForPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

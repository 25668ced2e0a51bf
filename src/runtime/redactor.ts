/** Shorter ones are ignored: they would tear up every other word. Checked where the configuration is read. */
const SHORTEST_SECRET = 4
/** Of a secret URL also its parts from this length on: an error names a path or a query without the host. */
const SHORTEST_URL_PART = 8

const REDACTED = '[redacted]'

/** A function that takes every secret out of a text, by value: as it is, URL-encoded, as in JSON, in base64 and in hex; of a URL also its
 *  user, password, path segments and query values. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(secrets.flatMap(partsOf).filter(isLongEnough).flatMap(formsOf))
  if (forms.size === 0) return (text) => text
  const longestFirst = [...forms].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(longestFirst.map(escapeForPattern).join('|'), 'g')
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

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const urlEncoded = encodeURIComponent(secret)
  return [
    secret,
    urlEncoded,
    urlEncoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    new URLSearchParams({ '': secret }).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ]
}

function escapeForPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

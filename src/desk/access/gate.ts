import { isIP } from 'node:net'
import type { Millis } from '../../base/units.ts'
import { Refusal } from '../refusal.ts'
import type { Logins, Session } from './logins.ts'
import { METRICS_PATH, type Scrapers } from './scrapers.ts'
import { TokenBucket } from './token-bucket.ts'

/** Settings that determine the addresses at which browsers reach the desk. */
export interface Reach {
  readonly port: number
  /** Whether the desk itself serves HTTPS, with a certificate of its own. */
  readonly isTls: boolean
  /** Origin at which browsers reach the desk through TLS or a proxy. */
  readonly origin?: string | undefined
  readonly proxy?: readonly string[] | undefined
}

/** The parts of a request that are checked before its body is read. */
export interface RequestHead {
  readonly method: string
  /** Path and query as the client sent them. */
  readonly target: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly headerCount: number
  /** Address of the peer. */
  readonly peer: string
}

/** A request that passed every check. */
export interface Admitted {
  readonly path: string
  readonly session: Session | undefined
  /** Address of the client; behind a proxy, the address that the proxy reports. */
  readonly address: string
  readonly isSecure: boolean
  /** Name of the session's cookie. */
  readonly cookieName: string
}

interface Route {
  readonly origin: string
  readonly address: string
  readonly isSecure: boolean
}

const METHODS = ['GET', 'HEAD', 'POST', 'DELETE']
/** Pages that another site may link to. */
const LINKABLE = ['/', '/login']
/** Paths that are answered without a session. Without a session, `/` redirects to the login. */
const OPEN = ['/', '/login', '/health']
/**
 * Paths whose requests are not counted. Otherwise, a flood from this machine or from behind the proxy would lock out
 * the user's login, and `sluice watch` would report that the process is down although it runs. Their answers cost no
 * more than a refusal. Wrong login links have a limit of their own.
 */
const UNCOUNTED = ['/login', '/health']
const MOST_HEADERS = 60
const LONGEST_TARGET = 2_000
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip']
const MOST_OF_SESSION = { burst: 400, perSecond: 60 }
const MOST_OF_STRANGER = { burst: 40, perSecond: 5 }

/** Decides which requests are answered, by address, host name, origin, path, session and rate. */
export class Gate {
  readonly #reach: Reach
  readonly #logins: Logins
  readonly #scrapers: Scrapers | undefined
  readonly #ofSession: TokenBucket
  readonly #ofStranger: TokenBucket

  /** `scrapers` decides about requests for the metrics. It is absent if the desk serves no metrics. */
  constructor(reach: Reach, logins: Logins, now: () => Millis, scrapers?: Scrapers) {
    this.#reach = reach
    this.#logins = logins
    this.#scrapers = scrapers
    this.#ofSession = new TokenBucket(MOST_OF_SESSION, now)
    this.#ofStranger = new TokenBucket(MOST_OF_STRANGER, now)
  }

  /** Throws a Refusal if the request is not admitted. */
  admit(head: RequestHead): Admitted {
    const { method, headers } = head
    const route = this.#route(head)
    const { address, isSecure } = route
    const cookieName = isSecure ? '__Host-sluice' : `sluice-${this.#reach.port}`
    if (this.#scrapers !== undefined && head.target.split('?')[0] === METRICS_PATH) {
      checkSize(head)
      checkSite(head, pathOf(head.target), route.origin)
      this.#scrapers.admit(method, one(headers, 'authorization'), address)
      return { path: METRICS_PATH, session: undefined, address, isSecure, cookieName }
    }
    const session = this.#sessionOf(cookiesOf(one(headers, 'cookie') ?? '', cookieName))
    if (!UNCOUNTED.includes(head.target.split('?')[0] as string)) this.#count(session, address)
    if (!METHODS.includes(method)) throw new Refusal(405, 'METHOD_REFUSED', `expected ${METHODS.join(', ')}`)
    checkSize(head)
    const path = pathOf(head.target)
    checkSite(head, path, route.origin)
    // A different spelling of the path, such as /%6detrics, must not reach the metrics without the token.
    if (path === METRICS_PATH && this.#scrapers !== undefined)
      throw new Refusal(404, 'NOT_FOUND', `this path does not exist: use ${METRICS_PATH}`)
    if (session === undefined && !OPEN.includes(path))
      throw new Refusal(401, 'LOGIN_REQUIRED', 'log in first: run `sluice desk link` and open the link')
    return { path, session, address, isSecure, cookieName }
  }

  /** Throws a Refusal if the session, or the address of a client without one, has sent too many requests. */
  #count(session: Session | undefined, address: string): void {
    const isAllowed = session === undefined ? this.#ofStranger.take(address) : this.#ofSession.take(session.id)
    if (!isAllowed) throw new Refusal(429, 'TOO_MANY', 'too many requests: wait a moment')
  }

  /**
   * Returns the session of a request; undefined if the request has none. Browsers share cookies between the ports of a
   * host, so a program at another port can add cookies with the same name. Cookies that belong to no session are
   * ignored. If the cookies belong to two sessions, the request counts as one without a session, because it is unclear
   * which session is the user's.
   */
  #sessionOf(cookies: readonly string[]): Session | undefined {
    const sessions = new Set(cookies.map((cookie) => this.#logins.find(cookie)))
    sessions.delete(undefined)
    return sessions.size === 1 ? [...sessions][0] : undefined
  }

  /** Finds the host name and the address of a request, and checks both. */
  #route({ headers, peer }: RequestHead): Route {
    const { origin, proxy, isTls, port } = this.#reach
    const host = one(headers, 'host')?.toLowerCase()
    const isForwarded = FORWARDED.some((name) => headers[name] !== undefined)
    const isProxy = proxy?.includes(plainAddress(peer)) === true
    if (isForwarded && !isProxy)
      throw new Refusal(403, 'PROXY_REFUSED', 'only a proxy that desk.proxy lists may forward requests')
    if (isTls || (isProxy && (isForwarded || !isLoopback(peer)))) {
      if (origin === undefined || host !== new URL(origin).host) throw hostRefused()
      return { origin, isSecure: true, address: isTls ? plainAddress(peer) : forwardedAddress(headers) }
    }
    if (!isLoopback(peer)) throw new Refusal(403, 'PROXY_REFUSED', 'the desk accepts requests only through its proxy')
    if (host === undefined || !loopbackHosts(port).includes(host)) throw hostRefused()
    return { origin: `http://${host}`, address: plainAddress(peer), isSecure: false }
  }
}

function checkSize({ headerCount }: RequestHead): void {
  if (headerCount > MOST_HEADERS) throw new Refusal(431, 'TOO_LARGE', 'the request has too many headers')
}

function hostRefused(): Refusal {
  return new Refusal(403, 'HOST_REFUSED', 'the desk does not answer requests to this host name: see desk.origin')
}

function loopbackHosts(port: number): string[] {
  return ['127.0.0.1', 'localhost', '[::1]'].flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])])
}

/** Address of the client behind a proxy. Only the last entry of X-Forwarded-For counts, because the proxy itself wrote
 *  that one. */
function forwardedAddress(headers: RequestHead['headers']): string {
  const address = one(headers, 'x-forwarded-for')?.split(',').at(-1)?.trim() ?? ''
  if (one(headers, 'x-forwarded-proto') !== 'https' || isIP(address) === 0)
    throw new Refusal(403, 'PROXY_REFUSED', 'the proxy must set X-Forwarded-For, and X-Forwarded-Proto to https')
  return address
}

/** Refuses requests that a page of another site may have caused. */
function checkSite({ method, headers }: RequestHead, path: string, own: string): void {
  const origin = one(headers, 'origin')
  const site = one(headers, 'sec-fetch-site')
  const crossSite = new Refusal(403, 'CROSS_SITE', 'the request comes from another site')
  if (origin !== undefined && origin !== own) throw crossSite
  const changes = method !== 'GET' && method !== 'HEAD'
  if (changes && origin === undefined && site !== 'same-origin') throw crossSite
  if (site === undefined || site === 'same-origin' || (site === 'none' && !changes)) return
  const isLink = one(headers, 'sec-fetch-mode') === 'navigate' && one(headers, 'sec-fetch-dest') === 'document'
  if (changes || !isLink || !LINKABLE.includes(path)) throw crossSite
}

/**
 * Returns the decoded path. Throws a Refusal if a part of the path is `..`, or contains an encoded slash or control
 * characters: a proxy could read such a path in a different way.
 */
function pathOf(target: string): string {
  const invalid = new Refusal(400, 'REQUEST_INVALID', 'the path or the query is invalid')
  if (target.length > LONGEST_TARGET) throw new Refusal(414, 'TOO_LARGE', 'the path and the query are too long')
  if (!/^\/[\x21-\x7e]*$/.test(target)) throw invalid
  const [path = '', query = ''] = target.split(/\?(.*)/s)
  const parts = path.split('/').map((part) => decoded(part))
  const isSafe = (part: string | undefined): boolean =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression refuses control characters
    part !== undefined && part !== '.' && part !== '..' && !/[\u0000-\u001f\u007f-\u009f/\\#]/.test(part)
  if (!parts.every(isSafe) || path.includes('//') || decoded(query) === undefined) throw invalid
  return parts.join('/')
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Values of the cookies of this name. */
function cookiesOf(header: string, name: string): string[] {
  return header.split(';').flatMap((part) => {
    const at = part.indexOf('=')
    return part.slice(0, at).trim() === name ? [part.slice(at + 1).trim()] : []
  })
}

/** Returns the value of a header; undefined if the header is absent or has several values. */
function one(headers: RequestHead['headers'], name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? undefined : value
}

/** Returns the address of the peer. An IPv6 socket shows an IPv4 address with a prefix, which is removed. */
function plainAddress(peer: string): string {
  return peer.replace(/^::ffff:(?=\d+\.)/, '')
}

export function isLoopback(address: string): boolean {
  const plain = plainAddress(address)
  return plain === '::1' || /^127(\.\d{1,3}){3}$/.test(plain)
}

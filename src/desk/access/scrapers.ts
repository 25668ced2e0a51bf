import { createHash, timingSafeEqual } from 'node:crypto'
import type { Millis } from '../../base/units.ts'
import { Refusal } from '../refusal.ts'
import { TokenBucket } from './token-bucket.ts'

/** The only path that scrapers may read. Sessions cannot read it. */
export const METRICS_PATH = '/metrics'
const WRONG_TOKENS = { burst: 5, perSecond: 1 / 12 }
const MOST_SCRAPES = { burst: 20, perSecond: 2 }

/** Returns the hash by which a token is recognized. The desk's thread has only this hash. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Decides which requests may read the metrics: only GET requests with the token. A session is not enough, and the
 *  token is not valid for other paths. */
export class Scrapers {
  readonly #hash: Buffer
  readonly #wrong: TokenBucket
  readonly #scrapes: TokenBucket

  /** `hash`: the hash of the token. */
  constructor(hash: string, now: () => Millis) {
    this.#hash = Buffer.from(hash, 'hex')
    this.#wrong = new TokenBucket(WRONG_TOKENS, now)
    this.#scrapes = new TokenBucket(MOST_SCRAPES, now)
  }

  /** Throws a Refusal if the request may not read the metrics. `authorization`: the header of this name. `address`: the
   *  address of the client. */
  admit(method: string, authorization: string | undefined, address: string): void {
    if (method !== 'GET') throw new Refusal(405, 'METHOD_REFUSED', 'expected GET')
    // Wrong tokens have a limit of their own. Otherwise, any program of this machine could stop the monitoring by
    // sending wrong tokens. The right token is accepted even after many wrong ones: 32 random characters cannot be
    // guessed.
    if (!this.#isRight(authorization)) {
      if (!this.#wrong.take(address)) throw new Refusal(429, 'TOO_MANY', 'too many wrong tokens: wait a minute')
      throw new Refusal(401, 'TOKEN_REQUIRED', 'send the token of metrics.token as a bearer token')
    }
    if (!this.#scrapes.take()) throw new Refusal(429, 'TOO_MANY', 'too many scrapes: wait a moment')
  }

  #isRight(authorization: string | undefined): boolean {
    const token = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1]
    return token !== undefined && timingSafeEqual(Buffer.from(tokenHash(token), 'hex'), this.#hash)
  }
}

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const BYTES = 24
const TOKEN = /^[\w-]{32}$/

/** A value, and the hash of the secret that gives access to it. */
export interface Hashed<T> {
  readonly hash: string
  readonly value: T
}

/** Values that can be read only with their secret, 192 random bits. Only the hash of a secret is stored, and all
 *  comparisons take the same time. */
export class Secrets<T> {
  readonly #most: number
  #kept: Hashed<T>[]

  /** `most`: number of values that are kept; when another one is added, the oldest is dropped. */
  constructor(most: number, kept: readonly Hashed<T>[] = []) {
    this.#most = most
    this.#kept = [...kept]
  }

  /** Adds a value and returns its secret. */
  add(value: T): string {
    const token = randomBytes(BYTES).toString('base64url')
    this.#kept.push({ hash: hashOf(token), value })
    if (this.#kept.length > this.#most) this.#kept.shift()
    return token
  }

  find(token: string): T | undefined {
    if (!TOKEN.test(token)) return undefined
    const hash = Buffer.from(hashOf(token), 'hex')
    let found: T | undefined
    for (const one of this.#kept) if (timingSafeEqual(Buffer.from(one.hash, 'hex'), hash)) found = one.value
    return found
  }

  delete(value: T): void {
    this.#kept = this.#kept.filter((one) => one.value !== value)
  }

  values(): T[] {
    return this.#kept.map(({ value }) => value)
  }

  hashed(): readonly Hashed<T>[] {
    return this.#kept
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

import { Fifo } from '../base/fifo.ts'

/** 429s within this time are one signal: a lower rate takes time to show. */
const REACTION_MS = 2_000
/** What one signal takes of the rate at most. */
const DEEPEST_CUT = 0.5
/** So many answers tell whether the service refuses everything or a stray request. */
const SAMPLE = 10
/** From this part of the slots open to entries on, a rate that is being won back is too high again. */
const IN_USE = 0.9
/** What is left at least, so that an exit can try again within the minute. */
const LEAST_SHARE = 0.1
/** Won back each minute after a 429, as a part of the plan. */
const RECOVERY_SHARE = 0.05
const MINUTE = 60_000

/** What was in use when a request was refused. */
export interface Use {
  readonly held: number
  /** Slots open to entries. */
  readonly open: number
}

/** What the service has refused since the rate was last whole. */
export interface Throttling {
  readonly count: number
  /** When the first of them came, on the limiter's clock. */
  readonly sinceMs: number
  readonly perMinute: number
}

/** How many requests a minute are allowed while the service answers 429 within the plan: somebody shares the key, or
 *  the service counts differently. Like TCP: one multiplicative decrease per reaction time, then a linear recovery. A
 *  stray 429 says little about the rate, so the decrease follows the square of the part of recent answers that were
 *  refusals. When all were, the rate falls to what was accepted. */
export class Throttle {
  #plan: number
  #allowed: number
  #updatedAt: number
  /** When the last signal began, and the rate that it found. */
  #signalAt = Number.NEGATIVE_INFINITY
  #rateBefore = 0
  #throttled: { count: number; sinceMs: number } | undefined
  /** Whether each of the last answers was a refusal. */
  readonly #answers = new Fifo<boolean>()
  /** When requests were refused within the last minute. */
  readonly #refusals = new Fifo<number>()
  #refusedOfSample = 0

  constructor(requestsPerMinute: number, nowMs: number) {
    this.#plan = requestsPerMinute
    this.#allowed = requestsPerMinute
    this.#updatedAt = nowMs
  }

  /** Whole requests a minute, as of the last update. */
  get allowed(): number {
    return Math.floor(this.#allowed)
  }

  /** undefined while the whole plan may be used. */
  get throttling(): Throttling | undefined {
    return this.#throttled && { ...this.#throttled, perMinute: this.#perMinute }
  }

  /** Wins back what the time since the last update allows. */
  update(now: number): void {
    if (this.#throttled !== undefined) {
      this.#allowed = Math.min(this.#plan, this.#allowed + ((now - this.#updatedAt) * this.#perMinute) / 60_000)
      if (this.#allowed === this.#plan) this.#throttled = undefined
    }
    this.#updatedAt = now
  }

  /** When one more request a minute will be allowed; Infinity while all are. */
  nextStepAt(now: number): number {
    if (this.#throttled === undefined) return Number.POSITIVE_INFINITY
    return now + ((this.allowed + 1 - this.#allowed) * 60_000) / this.#perMinute
  }

  /** A lowered rate stays the same part of the plan. Kept as a number of requests, the rate of a small plan would hold
   *  back a larger one for many minutes. */
  setPlan(requestsPerMinute: number): void {
    const scaled = (rate: number): number => (rate * requestsPerMinute) / this.#plan
    this.#allowed = this.#throttled === undefined ? requestsPerMinute : Math.max(1, scaled(this.#allowed))
    this.#rateBefore = scaled(this.#rateBefore)
    this.#plan = requestsPerMinute
  }

  /** An answer has come to a request, and it was no 429. */
  accepted(): void {
    this.#sample(false)
  }

  /** The service answered 429 to a request that was sent at `sentAt`. */
  refused(now: number, sentAt: number, { held, open }: Use): void {
    this.#sample(true)
    this.#refusals.push(now)
    for (let at = this.#refusals.peek(); at !== undefined && at <= now - MINUTE; at = this.#refusals.peek())
      this.#refusals.shift()
    const wasWhole = this.#throttled === undefined
    this.#throttled ??= { count: 0, sinceMs: now }
    this.#throttled.count++
    // More is out than is allowed by now: what was sent before still fills the service's minute.
    if (held > this.allowed) return
    const isNewSignal = now >= this.#signalAt + REACTION_MS
    if (isNewSignal && sentAt < this.#signalAt) return
    if (isNewSignal) {
      this.#signalAt = now
      this.#rateBefore = this.#allowed
    }
    const part = !wasWhole && held >= open * IN_USE ? 1 : this.#refusedOfSample / SAMPLE
    const left = this.#rateBefore * (1 - part ** 2 * DEEPEST_CUT)
    const accepted = this.#refusedOfSample === SAMPLE ? held - this.#refusals.length : Number.POSITIVE_INFINITY
    this.#allowed = Math.max(1, this.#plan * LEAST_SHARE, Math.min(this.#allowed, left, accepted))
  }

  #sample(isRefusal: boolean): void {
    this.#answers.push(isRefusal)
    if (isRefusal) this.#refusedOfSample++
    if (this.#answers.length > SAMPLE && this.#answers.shift() === true) this.#refusedOfSample--
  }

  get #perMinute(): number {
    return Math.max(1, this.#plan * RECOVERY_SHARE)
  }
}

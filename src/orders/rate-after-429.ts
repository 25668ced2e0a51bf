import { Fifo } from '../base/fifo.ts'

/** All 429 answers within this time (ms) count as one signal to lower the rate, because a lower rate takes time to show
 *  an effect. */
const REACTION_MS = 2_000
/** The 429 answers within REACTION_MS together lower the rate by at most this share. */
const DEEPEST_CUT = 0.5
/** Number of recent answers from which the share of 429s is computed. The share shows whether the service refuses
 *  requests in general, or whether one 429 was an exception. */
const SAMPLE = 10
/** If a 429 arrives while at least this share of the request slots for entries is in use, the recovering rate has
 *  become too high again. The cut is then `DEEPEST_CUT`. */
const IN_USE = 0.9
/** The rate never falls below this share of the plan, so that an exit can be retried within the minute. */
const LEAST_SHARE = 0.1
/** After a 429, the rate recovers by this share of the plan each minute. */
const RECOVERY_SHARE = 0.05
const MINUTE = 60_000

/** The number of request slots in use when the service answered 429, and the number that entries may use. */
export interface Use {
  readonly held: number
  /** Number of request slots that entries may use. */
  readonly open: number
}

/** The 429 answers that have lowered the rate below the rate of the plan. */
export interface Throttling {
  readonly count: number
  /** Time of the first of the counted 429 answers, on the limiter's clock. */
  readonly sinceMs: number
  readonly perMinute: number
}

/** Computes how many requests a minute are allowed when the service answers 429 although the plan is not used up. This
 *  happens if another process shares the key, or if the service counts differently. As in TCP, the rate is cut at most
 *  once per reaction time, and then recovers linearly. A single 429 is weak evidence, so the cut is proportional to the
 *  square of the share of 429s among the recent answers; `IN_USE` states the exception. If all recent answers were
 *  429s, the rate falls immediately to the number of requests that the service accepted within the last minute. */
export class RateAfter429 {
  #plan: number
  #allowed: number
  #updatedAt: number
  /** Time of the first 429 answer of the last signal to lower the rate (see REACTION_MS). `#rateBefore`: the rate
   *  before that signal. */
  #signalAt = Number.NEGATIVE_INFINITY
  #rateBefore = 0
  #throttled: { count: number; sinceMs: number } | undefined
  /** The last answers, oldest first; true means a 429. */
  readonly #answers = new Fifo<boolean>()
  /** Times of the 429 answers of the last minute. */
  readonly #refusals = new Fifo<number>()
  #refusedOfSample = 0

  constructor(requestsPerMinute: number, nowMs: number) {
    this.#plan = requestsPerMinute
    this.#allowed = requestsPerMinute
    this.#updatedAt = nowMs
  }

  /** Number of requests a minute that are allowed, as of the last update, rounded down. */
  get allowed(): number {
    return Math.floor(this.#allowed)
  }

  /** The 429 answers that have lowered the rate below the rate of the plan; undefined while the rates are equal. */
  get throttling(): Throttling | undefined {
    return this.#throttled && { ...this.#throttled, perMinute: this.#perMinute }
  }

  /** Raises a lowered rate for the time that has passed since the last update, at most to the rate of the plan. */
  update(now: number): void {
    if (this.#throttled !== undefined) {
      this.#allowed = Math.min(this.#plan, this.#allowed + ((now - this.#updatedAt) * this.#perMinute) / 60_000)
      if (this.#allowed === this.#plan) this.#throttled = undefined
    }
    this.#updatedAt = now
  }

  /** Returns the time at which the recovering rate allows one more request a minute; Infinity if the whole plan is
   *  allowed. */
  nextStepAt(now: number): number {
    if (this.#throttled === undefined) return Number.POSITIVE_INFINITY
    return now + ((this.allowed + 1 - this.#allowed) * 60_000) / this.#perMinute
  }

  /** Changes the plan. A lowered rate keeps its ratio to the plan. If it kept its number of requests, the low rate of a
   *  small plan would slow down a larger plan for many minutes. */
  setPlan(requestsPerMinute: number): void {
    const scaled = (rate: number): number => (rate * requestsPerMinute) / this.#plan
    this.#allowed = this.#throttled === undefined ? requestsPerMinute : Math.max(1, scaled(this.#allowed))
    this.#rateBefore = scaled(this.#rateBefore)
    this.#plan = requestsPerMinute
  }

  /** Counts an answer that is not a 429. */
  accepted(): void {
    this.#sample(false)
  }

  /** Counts a 429 for a request that was sent at `sentAt`. Lowers the rate, unless an earlier cut has not taken effect
   *  yet. */
  refused(now: number, sentAt: number, { held, open }: Use): void {
    this.#sample(true)
    this.#refusals.push(now)
    for (let at = this.#refusals.peek(); at !== undefined && at <= now - MINUTE; at = this.#refusals.peek())
      this.#refusals.shift()
    const wasWhole = this.#throttled === undefined
    this.#throttled ??= { count: 0, sinceMs: now }
    this.#throttled.count++
    // More request slots are held than are allowed now, so requests that were sent before the last cut caused this 429.
    // The rate is not cut again.
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

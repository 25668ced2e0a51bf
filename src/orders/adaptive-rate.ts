import { Fifo } from '../base/fifo.ts'

/** All 429s within this time (ms) count as one signal, because a lower rate takes time to show an effect. */
const REACTION_MS = 2_000
/** Largest share of the rate by which one signal lowers it. */
const DEEPEST_CUT = 0.5
/** Number of recent answers from which the share of refusals is computed. The share shows whether the service refuses
 *  requests in general, or a single 429 was an exception. */
const SAMPLE = 10
/** If at least this share of the request slots for entries was in use, a refusal shows that the recovering rate is too
 *  high again. */
const IN_USE = 0.9
/** Lower bound of the rate, so that an exit can be tried again within the minute. */
const LEAST_SHARE = 0.1
/** Share of the plan by which the rate recovers each minute after a 429. */
const RECOVERY_SHARE = 0.05
const MINUTE = 60_000

/** Request slots in use when the service answered 429. */
export interface Use {
  readonly held: number
  /** Request slots that entries may use. */
  readonly open: number
}

/** Refusals since the whole plan was last available. */
export interface Throttling {
  readonly count: number
  /** Time of the first refusal, on the limiter's clock. */
  readonly sinceMs: number
  readonly perMinute: number
}

/** Number of requests a minute that are allowed while the service answers 429 within the plan, because another process
 *  shares the key or because the service counts differently. As in TCP, the rate is cut at most once per reaction time
 *  and then recovers linearly. A single 429 says little about the rate, so the cut is proportional to the square of the
 *  share of refusals among recent answers. If all recent answers were refusals, the rate falls at once to the number of
 *  requests that the service accepted within the last minute. */
export class AdaptiveRate {
  #plan: number
  #allowed: number
  #updatedAt: number
  /** Time at which the last signal began. `#rateBefore` is the rate before that signal. */
  #signalAt = Number.NEGATIVE_INFINITY
  #rateBefore = 0
  #throttled: { count: number; sinceMs: number } | undefined
  /** The last answers; true means a refusal. */
  readonly #answers = new Fifo<boolean>()
  /** Times of the refusals of the last minute. */
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

  /** Refusals since the whole plan was last available; undefined while the whole plan may be used. */
  get throttling(): Throttling | undefined {
    return this.#throttled && { ...this.#throttled, perMinute: this.#perMinute }
  }

  /** Raises a lowered rate for the time since the last update. */
  update(now: number): void {
    if (this.#throttled !== undefined) {
      this.#allowed = Math.min(this.#plan, this.#allowed + ((now - this.#updatedAt) * this.#perMinute) / 60_000)
      if (this.#allowed === this.#plan) this.#throttled = undefined
    }
    this.#updatedAt = now
  }

  /** Returns the time at which one more request a minute is allowed; Infinity if the whole plan is allowed. */
  nextStepAt(now: number): number {
    if (this.#throttled === undefined) return Number.POSITIVE_INFINITY
    return now + ((this.allowed + 1 - this.#allowed) * 60_000) / this.#perMinute
  }

  /** Changes the plan. A lowered rate keeps its ratio to the plan, because the absolute rate of a small plan would slow
   *  down a larger plan for many minutes. */
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

  /** Counts a 429 to a request that was sent at `sentAt`, and lowers the rate, unless an earlier cut has not taken
   *  effect yet. */
  refused(now: number, sentAt: number, { held, open }: Use): void {
    this.#sample(true)
    this.#refusals.push(now)
    for (let at = this.#refusals.peek(); at !== undefined && at <= now - MINUTE; at = this.#refusals.peek())
      this.#refusals.shift()
    const wasWhole = this.#throttled === undefined
    this.#throttled ??= { count: 0, sinceMs: now }
    this.#throttled.count++
    // More request slots are held than are allowed now. This 429 was caused by requests that the service still counts
    // in its minute, so the rate is not cut again.
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

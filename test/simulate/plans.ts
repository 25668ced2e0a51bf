import type { Attempt } from '../../src/orders/attempt.ts'
import type { Draws } from '../../src/sandbox/draws.ts'
import type { Scenario } from './scenario.ts'

const KNOWN: Readonly<Record<string, number>> = { standard: 100, premium: 1_000 }
const MINUTE = 60_000
/**
 * Longest time for which a request counts after it was sent, ms: up to a minute until its connection is closed, and one
 * minute more.
 */
const LONGEST_HELD_MS = 2 * MINUTE
const REACTION_MS = 2_000
const STRAY_MS = 1_300

interface PlansParts {
  readonly scenario: Scenario
  /** Whether the journal's file contains this attempt. */
  readonly isDurable: (attemptId: string) => boolean
  readonly draws: Draws
  readonly now: () => number
  readonly note: (what: string) => void
  readonly complain: (what: string) => void
}

/**
 * The plan that the service names for the API key, and the number of requests that it allows. This class computes it
 * independently of the request limiter, which it checks.
 */
export class Plans {
  /** Plan that the service will name at the next connection. */
  name = 'premium'
  readonly #parts: PlansParts
  readonly #share: number
  #perMinute = 0
  /** Earlier plans: the time until which each of them applied, and its requests per minute. */
  readonly #past: { readonly until: number; readonly perMinute: number }[] = []
  readonly #starts: number[] = []
  /**
   * For each attempt, the time from which it counts as a request, even if the process ends before it sends the request.
   */
  readonly #takenAt = new Map<string, number>()
  #strayUntil = 0
  #refusals: number[] = []
  #signalAt = Number.NEGATIVE_INFINITY
  #rate = 1
  #pausedUntil = 0

  constructor(parts: PlansParts) {
    this.#parts = parts
    this.#share = parts.scenario.plans?.share ?? 0
  }

  /** Called when a process has started that does not know the earlier plans and refusals. */
  started(): void {
    const { now, isDurable } = this.#parts
    this.#starts.push(now())
    for (const id of this.#takenAt.keys()) if (!isDurable(id)) this.#takenAt.delete(id)
    this.#follow(KNOWN.standard as number)
    this.#refusals = []
    this.#rate = 1
  }

  /** Called when the service tells the process its plan. */
  named(): void {
    const known = KNOWN[this.name.trim().toLowerCase()]
    if (known !== undefined) this.#follow(known)
  }

  tick(): 'reconnect' | undefined {
    const { scenario, draws, now, note } = this.#parts
    if (scenario.plans === undefined) return undefined
    if (draws.chance(scenario.plans.strays)) this.#strayUntil = now() + STRAY_MS
    if (!draws.chance(scenario.plans.changes)) return undefined
    this.name = draws.pick(scenario.plans.names)
    note(`service: changes the plan to ${this.name}`)
    return 'reconnect'
  }

  get isStray(): boolean {
    return this.#parts.now() < this.#strayUntil
  }

  /**
   * Called when the process has written an attempt. The attempt counts as a request from the moment at which it is
   * recorded for sending.
   */
  attempted({ id, state }: Attempt): void {
    if (state === 'armed') this.#takenAt.set(id, this.#parts.now())
  }

  /** Called when the process has received a 429 answer. */
  refused(retryAfterSeconds: number): void {
    const now = this.#parts.now()
    this.#refusals.push(now)
    this.#pausedUntil = Math.max(this.#pausedUntil, now + retryAfterSeconds * 1_000)
    if (now < this.#signalAt + REACTION_MS) return
    this.#signalAt = now
    this.#rate = Math.max(0.1, this.#rate / 2)
  }

  /**
   * Returns the largest number of requests that the server may receive within a minute: the limit of the largest plan
   * that applied within the last `LONGEST_HELD_MS`, and for each start of a process within that time that did not know
   * the earlier plan, the share of the requests that is reserved for exits.
   */
  get most(): number {
    const since = this.#parts.now() - LONGEST_HELD_MS
    const plans = this.#past.filter(({ until }) => until > since).map(({ perMinute }) => perMinute)
    const starts = this.#starts.filter((at) => at > since).length
    return Math.max(this.#perMinute, ...plans) + starts * Math.max(1, Math.floor(this.#perMinute / 5))
  }

  /**
   * Called when an entry ended with LIMIT_WAIT. At that time, all requests that entries may use must be in use, or
   * blocked after refusals.
   */
  gaveUp(orderId: string, rebootedAt: number): void {
    const { now, complain } = this.#parts
    if (this.#share === 0 || now() < this.#pausedUntil + REACTION_MS || now() < rebootedAt + LONGEST_HELD_MS) return
    if (this.#refusals.filter((at) => at > now() - MINUTE).length >= 10) return
    const allowed = Math.max(1, Math.floor(this.#perMinute * this.#rate))
    const held = [...this.#takenAt.values()].filter((takenAt) => takenAt > now() - LONGEST_HELD_MS).length
    const open = allowed - Math.floor(allowed / 5)
    if (held < open)
      complain(`${orderId} was not sent in 2 s, although only ${held} of the ${open} requests for buys were in use`)
  }

  #follow(perMinute: number): void {
    const next = Math.max(1, Math.floor(perMinute * this.#share))
    if (next !== this.#perMinute) this.#past.push({ until: this.#parts.now(), perMinute: this.#perMinute })
    this.#perMinute = next
  }
}

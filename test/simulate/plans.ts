import type { Attempt } from '../../src/orders/attempt.ts'
import type { Draws } from '../../src/sandbox/draws.ts'
import type { Scenario } from './scenario.ts'

const KNOWN: Readonly<Record<string, number>> = { standard: 100, premium: 1_000 }
const MINUTE = 60_000
/**
 * The longest time for which a request counts after it was sent: a minute until the connection is closed, and one more.
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
 * The plan of the key as the service names it, and the number of requests that it allows. It is computed independently
 * of the limiter, to check the limiter.
 */
export class Plans {
  /** Plan that the service names at the next connection. */
  name = 'premium'
  readonly #parts: PlansParts
  readonly #share: number
  #perMinute = 0
  /** Past plans and starts, with the requests that each allows in a window. */
  readonly #past: { readonly until: number; readonly perMinute: number }[] = []
  readonly #starts: number[] = []
  /**
   * The time from which each attempt counts as a request. If a process ends before it sends, the attempt still counts.
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

  /** Called when a process has started without knowledge of earlier plans and refusals. */
  started(): void {
    const { now, isDurable } = this.#parts
    this.#starts.push(now())
    for (const id of this.#takenAt.keys()) if (!isDurable(id)) this.#takenAt.delete(id)
    this.#follow(KNOWN.standard as number)
    this.#refusals = []
    this.#rate = 1
  }

  /** Called when the service names the plan to the process. */
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

  /** Called when an attempt was written. It counts as a request from the moment at which it is recorded for sending. */
  attempted({ id, state }: Attempt): void {
    if (state === 'armed') this.#takenAt.set(id, this.#parts.now())
  }

  /** Called when the process received a 429. */
  refused(retryAfterSeconds: number): void {
    const now = this.#parts.now()
    this.#refusals.push(now)
    this.#pausedUntil = Math.max(this.#pausedUntil, now + retryAfterSeconds * 1_000)
    if (now < this.#signalAt + REACTION_MS) return
    this.#signalAt = now
    this.#rate = Math.max(0.1, this.#rate / 2)
  }

  /**
   * Returns the maximum number of requests in the present minute at the server: those of the largest plan within it,
   * plus the share of exits if a process could not know the earlier plan.
   */
  get most(): number {
    const since = this.#parts.now() - LONGEST_HELD_MS
    const plans = this.#past.filter(({ until }) => until > since).map(({ perMinute }) => perMinute)
    const starts = this.#starts.filter((at) => at > since).length
    return Math.max(this.#perMinute, ...plans) + starts * Math.max(1, Math.floor(this.#perMinute / 5))
  }

  /**
   * Called when an entry ended with LIMIT_WAIT. All requests that buys may use must be in use, or blocked
   * after refusals.
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

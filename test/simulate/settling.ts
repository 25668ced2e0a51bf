import type { Millis } from '../../src/base/units.ts'
import { type Attempt, isUndecided } from '../../src/orders/attempt.ts'
import { LATE_MS } from './configuration.ts'
import type { Truth } from './truth.ts'

/**
 * The maximum time from the end of a request to the proof that it did not execute, with healthy nodes: the wait for a
 * late execution, 200 blocks, the blocks that are not final, and the audit's interval. An RPC without block times or
 * with old ones, and a wrong clock, add to it. Slots have 400 ms, and some are skipped.
 */
const MOST_MS = LATE_MS + 110_000 + 60_000

/** Measures the time until lost requests are proved not to have executed. */
export class Settling {
  /** The time that each proof took, ms. */
  readonly took: number[] = []
  readonly #answered = new Set<string>()
  readonly #lost = new Set<string>()
  readonly #truth: Truth
  readonly #complain: (what: string) => void
  /** The time since which this process has run and the nodes have been healthy. */
  calmSince: Millis = Number.POSITIVE_INFINITY
  startedAt: Millis = 0

  constructor(truth: Truth, complain: (what: string) => void) {
    this.#truth = truth
    this.#complain = complain
  }

  take({ id, state }: Attempt, now: Millis): void {
    if (state === 'acked') this.#answered.add(id)
    if (state === 'unknown' && !this.#answered.has(id)) this.#lost.add(id)
    if (isUndecided(state) || !this.#lost.delete(id) || state !== 'absent') return
    const endedAt = this.#truth.posts.find(({ attemptId }) => attemptId === id)?.endedAt ?? 0
    const since = Math.max(endedAt, this.startedAt)
    const ms = now - since
    this.took.push(ms)
    const calmMs = now - Math.max(since, this.calmSince)
    if (calmMs > MOST_MS) this.#complain(`${id} was proved absent only ${Math.round(calmMs / 1_000)} s later`)
  }
}

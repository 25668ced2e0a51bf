import type { Millis } from '../../src/base/units.ts'
import { type Attempt, isUndecided } from '../../src/orders/attempt.ts'
import { LATE_MS } from './configuration.ts'
import type { Truth } from './truth.ts'

/**
 * Maximum time from the end of a request to the proof that it did not execute, if the nodes are healthy. It is the sum
 * of the wait for a late execution, 200 blocks, the blocks that are not final, and the audit's interval. A margin is
 * added, because block times may be missing or old, and the clock may be wrong. Solana slots have 400 ms, and some have
 * no block.
 */
const MOST_MS = LATE_MS + 110_000 + 60_000

/** Measures how long it takes to prove that lost requests did not execute. */
export class Settling {
  /** The time that each proof took, ms. */
  readonly took: number[] = []
  readonly #answered = new Set<string>()
  readonly #lost = new Set<string>()
  readonly #truth: Truth
  readonly #complain: (what: string) => void
  /** Time since which the same process has run and all nodes have been healthy; infinity if there is no process, or a
   *  node is not healthy. */
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

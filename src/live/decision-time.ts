import { TimeCounts } from '../runtime/view/distribution.ts'
import type { Distribution } from '../runtime/view/view.ts'

const KEPT = 1024
/** Decision times are counted in classes. These are the upper limits of the classes, seconds. */
const BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000].map((us) => us / 1e6)

/** Time that the engine needs per market row. Keeps the last 1024 measurements, and counts all measurements by
 *  duration. One measurement covers all rows that arrived together. */
export class DecisionTime {
  readonly #samples = new Float64Array(KEPT)
  readonly #counts = new TimeCounts(BOUNDS)
  #count = 0

  add(microseconds: number): void {
    this.#samples[this.#count++ % KEPT] = microseconds
    this.#counts.add(microseconds / 1e6)
  }

  /** Decision times since the start. */
  get distribution(): Distribution {
    return this.#counts.distribution
  }

  p50(): number {
    return this.#quantile(0.5)
  }

  p99(): number {
    return this.#quantile(0.99)
  }

  #quantile(share: number): number {
    const kept = Math.min(this.#count, KEPT)
    if (kept === 0) return 0
    const sorted = this.#samples.slice(0, kept).sort()
    return sorted[Math.min(kept - 1, Math.floor(kept * share))] as number
  }
}

import type { Distribution } from './view.ts'

/** Counts measured durations by their size. */
export class TimeCounts {
  readonly #bounds: readonly number[]
  readonly #counts: Float64Array
  #sumSeconds = 0

  /** `bounds`: upper limits of the size classes into which durations are sorted, seconds, ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  add(seconds: number): void {
    let at = 0
    while (at < this.#bounds.length && seconds > (this.#bounds[at] as number)) at++
    this.#counts[at] = (this.#counts[at] as number) + 1
    this.#sumSeconds += seconds
  }

  get distribution(): Distribution {
    return { bounds: this.#bounds, counts: [...this.#counts], sumSeconds: this.#sumSeconds }
  }
}

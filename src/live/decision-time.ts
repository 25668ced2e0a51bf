const KEPT = 1024

/** Decision time of the engine, microseconds per row, over the last thousand runs of rows. */
export class DecisionTime {
  readonly #samples = new Float64Array(KEPT)
  #count = 0

  add(microseconds: number): void {
    this.#samples[this.#count++ % KEPT] = microseconds
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

import type { Stage } from './stage.ts'

/** The subscription keys that somebody wants, counted: bots want what they declare and watch, the engine wants every mint with a position or
 *  an open order, and a strategy cannot take that away. */
export class Wants {
  readonly #stage: Stage
  readonly #counts = new Map<string, number>()
  #changed = false

  constructor(stage: Stage) {
    this.#stage = stage
  }

  add(key: string): void {
    const count = this.#counts.get(key) ?? 0
    this.#counts.set(key, count + 1)
    if (count === 0) this.#changed = true
  }

  drop(key: string): void {
    const count = this.#counts.get(key) ?? 0
    if (count > 1) this.#counts.set(key, count - 1)
    else if (this.#counts.delete(key)) this.#changed = true
  }

  /** Says the whole set when it changed: at the end of a row or input, and before an order leaves. */
  flush(): void {
    if (!this.#changed || this.#stage.warming) return
    this.#changed = false
    this.#stage.emit({ kind: 'keys', want: [...this.#counts.keys()] })
  }
}

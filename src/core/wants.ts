import type { Stage } from './stage.ts'

/** The subscription keys that somebody wants, counted: bots want what they declare and watch, the engine wants every mint with a position or
 *  an open order, and a strategy cannot take that away. */
export class Wants {
  readonly #stage: Stage
  readonly #counts = new Map<string, number>()
  /** Said last, and what is wanted since beside it. */
  #said: readonly string[] = []
  #added: string[] = []
  #dropped = false

  constructor(stage: Stage) {
    this.#stage = stage
  }

  add(key: string): void {
    const count = this.#counts.get(key) ?? 0
    this.#counts.set(key, count + 1)
    if (count === 0) this.#added.push(key)
  }

  drop(key: string): void {
    const count = this.#counts.get(key) ?? 0
    if (count > 1) this.#counts.set(key, count - 1)
    else if (this.#counts.delete(key)) this.#dropped = true
  }

  /** Says the whole set when it changed: at the end of a row or input, and before an order leaves. */
  flush(): void {
    if ((!this.#dropped && this.#added.length === 0) || this.#stage.warming) return
    // The same, and some at its end, is copied several times as fast as the map is gone through.
    this.#said = this.#dropped ? [...this.#counts.keys()] : this.#said.concat(this.#added)
    this.#dropped = false
    this.#added = []
    this.#stage.emit({ kind: 'keys', want: this.#said })
  }
}

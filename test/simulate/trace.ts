import { createHash } from 'node:crypto'

const TAIL = 60

/** The trace of a run. It keeps the last lines, and a hash of all lines. */
export class Trace {
  readonly #hash = createHash('sha256')
  readonly #tail: string[] = []
  readonly #startedAt: number
  readonly #show: ((line: string) => void) | undefined

  /** `show` is called with every line of the trace. */
  constructor(startedAt: number, show?: (line: string) => void) {
    this.#startedAt = startedAt
    this.#show = show
  }

  add(now: number, what: string): void {
    const line = `${((now - this.#startedAt) / 1_000).toFixed(3).padStart(9)} ${what}`
    this.#hash.update(line)
    this.#show?.(line)
    this.#tail.push(line)
    if (this.#tail.length > TAIL) this.#tail.shift()
  }

  get tail(): readonly string[] {
    return this.#tail
  }

  /** Returns the hash of all lines. Call it only once, at the end. */
  digest(): string {
    return this.#hash.digest('hex').slice(0, 16)
  }
}

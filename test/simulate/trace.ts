import { createHash } from 'node:crypto'

const TAIL = 60

/** What happened in a run, in order: a hash of all of it, and its end in words. */
export class Trace {
  readonly #hash = createHash('sha256')
  readonly #tail: string[] = []
  readonly #startedAt: number
  readonly #show: ((line: string) => void) | undefined

  /** `show` is given every line as it comes. */
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

  /** To be asked for once, at the end. */
  digest(): string {
    return this.#hash.digest('hex').slice(0, 16)
  }
}

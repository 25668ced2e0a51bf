const EVERY_MS = 200
/** Sooner an estimate is a guess. */
const FIRST_ESTIMATE_MS = 1_000

/** One line on a terminal that says how far something is and how long it will still take, by its speed so far. Silent elsewhere. */
export class Progress {
  readonly #stream: NodeJS.WriteStream
  readonly #of: number
  readonly #startedAt: number
  #shownAt = Number.NEGATIVE_INFINITY
  #isShown = false

  constructor(stream: NodeJS.WriteStream, of: number, startedAt = performance.now()) {
    this.#stream = stream
    this.#of = of
    this.#startedAt = startedAt
  }

  at(rows: number): void {
    if (this.#stream.isTTY !== true) return
    const now = performance.now()
    if (now - this.#shownAt < EVERY_MS) return
    this.#shownAt = now
    this.#isShown = true
    this.#stream.write(`\r${progressLine(rows, this.#of, now - this.#startedAt)}\u001b[K`)
  }

  /** Takes the line away. */
  end(): void {
    if (this.#isShown) this.#stream.write('\r\u001b[K')
    this.#isShown = false
  }
}

export function progressLine(rows: number, of: number, tookMs: number): string {
  const percent = `${Math.floor((rows / of) * 100)} % of ${of} rows`
  if (tookMs < FIRST_ESTIMATE_MS || rows === 0) return percent
  const leftSeconds = Math.ceil(((of - rows) * tookMs) / rows / 1000)
  return `${percent}, ${((rows / tookMs) * 1e-3).toFixed(1)} M rows/s, ${leftSeconds} s left`
}

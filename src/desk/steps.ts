/** Pause before each step, and before another look whether an order waits, ms. */
const PAUSE_MS = 1
/** Highest number of pauses for which a step waits for orders. */
const MOST_WAITS = 5

/** Does the work that changes of the view cause, in short steps with pauses before them. Without the pauses, Linux
 *  would let this thread use a processor for some milliseconds, even if a trading thread waits for it. While an order
 *  waits for its commit, no step begins, but a step waits for at most 5 ms. The first step also waits for a pause,
 *  because right after a reading of the view, the main thread handles the market rows that arrived meanwhile. */
export class Steps {
  readonly #committing: Int32Array
  /** Steps that have not begun, oldest first. */
  #steps: (() => void)[] = []
  /** Whether a pause has begun and not ended. */
  #isPausing = false
  #timer: NodeJS.Timeout | undefined

  /** `committing`: one number in shared memory, the number of commits of the main thread that are not durable yet. */
  constructor(committing: Int32Array = new Int32Array(1)) {
    this.#committing = committing
  }

  /** Runs a step after all earlier ones. */
  add(step: () => void): void {
    this.#steps.push(step)
    if (!this.#isPausing) this.#pause(0)
  }

  /** Drops all steps that have not begun. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#steps = []
    this.#isPausing = false
  }

  #next(waits: number): void {
    const isWaiting = waits < MOST_WAITS && Atomics.load(this.#committing, 0) > 0
    if (!isWaiting) this.#steps.shift()?.()
    this.#isPausing = false
    if (this.#steps.length > 0) this.#pause(isWaiting ? waits + 1 : 0)
  }

  #pause(waits: number): void {
    this.#isPausing = true
    this.#timer = setTimeout(() => this.#next(waits), PAUSE_MS)
  }
}

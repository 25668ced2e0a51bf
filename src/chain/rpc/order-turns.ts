import type { Cancel, Clock } from '../../base/machine.ts'

/** Maximum length of a turn. A transaction that has not landed by then may take another minute, so the next order does
 *  not wait for it. */
const TURN_MS = 3_000
/** Maximum time that an exit waits for its turn, regardless of the length of the queue. */
const LONGEST_EXIT_WAIT_MS = 3_000

interface Waiting {
  readonly isExit: boolean
  readonly go: () => void
}

/** Lets the orders of a wallet run one at a time, exits first. The turn of an order ends as soon as its transaction has
 *  landed, its attempt has ended, or the turn has lasted TURN_MS. Attempts of one order do not wait for each other. */
export class Turns {
  readonly #clock: Clock
  /** For each order that has a turn now, the number of its attempts that are being executed. */
  readonly #going = new Map<string, number>()
  readonly #waiting = new Set<Waiting>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Waits for a turn and returns a function that ends it. */
  async take(orderId: string, isExit: boolean): Promise<() => void> {
    if (this.#going.size > 0 && !this.#going.has(orderId)) await this.#wait(isExit)
    this.#going.set(orderId, (this.#going.get(orderId) ?? 0) + 1)
    let isOver = false
    const end = (): void => {
      if (isOver) return
      isOver = true
      cancel()
      this.#end(orderId)
    }
    const cancel = this.#clock.after(TURN_MS, end)
    return end
  }

  #wait(isExit: boolean): Promise<void> {
    return new Promise((resolve) => {
      let cancel: Cancel = () => {}
      const waiting: Waiting = {
        isExit,
        go: () => {
          cancel()
          this.#waiting.delete(waiting)
          resolve()
        },
      }
      this.#waiting.add(waiting)
      if (isExit) cancel = this.#clock.after(LONGEST_EXIT_WAIT_MS, waiting.go)
    })
  }

  #end(orderId: string): void {
    const left = (this.#going.get(orderId) ?? 1) - 1
    if (left > 0) this.#going.set(orderId, left)
    else this.#going.delete(orderId)
    if (this.#going.size > 0) return
    const [first] = this.#waiting
    const next = [...this.#waiting].find(({ isExit }) => isExit) ?? first
    next?.go()
  }
}

import type { Cancel, Clock } from '../../base/machine.ts'

/** What has not landed by then may take a minute more: the next order goes on. */
const TURN_MS = 3_000
/** An exit waits no longer than that, however many others are before it. */
const LONGEST_EXIT_WAIT_MS = 3_000

interface Waiting {
  readonly isExit: boolean
  readonly go: () => void
}

/** Orders of a wallet one at a time, exits first: each is checked once the one before it has landed or ended, or its
 *  turn is over. Attempts of one order do not wait for each other. */
export class Turns {
  readonly #clock: Clock
  /** How many attempts of an order have a turn, by order. */
  readonly #going = new Map<string, number>()
  readonly #waiting = new Set<Waiting>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Answers once it has its turn, with what ends that. */
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

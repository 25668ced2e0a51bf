import { orderNumber } from '../core/order.ts'

const GROWTH = 2
const FIRST = 1_024
const OPEN = 1

/** What the sums of a backtest need of each order: whose it is, the price that it was decided on, and whether it has ended. Ten bytes an
 *  order, side by side: what became of an order may be told minutes later, and a table of objects by id has to be searched and collected. */
export class OrderMarks {
  #prices = new Float64Array(FIRST)
  #bots = new Uint16Array(FIRST)
  #flags = new Uint8Array(FIRST)

  /** `bot`: a number of its own. `price`: null where there was none. */
  add(id: string, bot: number, price: number | null): void {
    const at = orderNumber({ id })
    if (at >= this.#prices.length) this.#grow(at)
    this.#prices[at] = price ?? Number.NaN
    this.#bots[at] = bot + 1
    this.#flags[at] = OPEN
  }

  /** The number of its bot; undefined for an order of which nothing is known. */
  botOf(id: string): number | undefined {
    const bot = this.#bots[orderNumber({ id })] ?? 0
    return bot === 0 ? undefined : bot - 1
  }

  priceOf(id: string): number | null {
    const price = this.#prices[orderNumber({ id })] ?? Number.NaN
    return Number.isNaN(price) ? null : price
  }

  /** True for the first time. */
  end(id: string): boolean {
    const at = orderNumber({ id })
    if (this.#flags[at] !== OPEN) return false
    this.#flags[at] = 0
    return true
  }

  #grow(at: number): void {
    const size = Math.max(at + 1, this.#prices.length * GROWTH)
    this.#prices = grown(this.#prices, new Float64Array(size))
    this.#bots = grown(this.#bots, new Uint16Array(size))
    this.#flags = grown(this.#flags, new Uint8Array(size))
  }
}

function grown<T extends Float64Array | Uint16Array | Uint8Array>(from: T, into: T): T {
  into.set(from)
  return into
}

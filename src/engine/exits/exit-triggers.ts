import type { Millis } from '../../base/units.ts'
import { RowKind, type TokenId } from '../../market/block.ts'
import type { PoolPrice } from '../../market/pool-price.ts'
import type { Liquidation } from '../accounting/liquidation.ts'
import { isWrittenOff, type Position } from '../accounting/position.ts'
import { mark } from '../accounting/trip-sums.ts'
import type { EngineState } from '../engine-state.ts'
import type { ConditionalBook } from './conditional-book.ts'
import type { ConditionalOrder } from './conditional-order.ts'
import { dueExit } from './due-exit.ts'
import type { Exits } from './exit-execution.ts'
import type { ExitWatch, Held, Watched } from './exit-watch.ts'
import type { PoolReader } from './pool-polls.ts'
import { stepsReached } from './take-profit-steps.ts'

/** Acts on each new price: sells positions whose exit is due, triggers conditional orders, and cancels an unsent buy if
 *  the price has risen too far above the price of its decision. A price comes from a print or from a reading of the
 *  pool. */
export class ExitTriggers implements PoolReader {
  readonly #state: EngineState
  readonly #watch: ExitWatch
  readonly #liquidation: Liquidation
  readonly #exits: Exits
  readonly #conditionals: ConditionalBook

  constructor(
    state: EngineState,
    watch: ExitWatch,
    liquidation: Liquidation,
    exits: Exits,
    conditionals: ConditionalBook,
  ) {
    this.#state = state
    this.#watch = watch
    this.#liquidation = liquidation
    this.#exits = exits
    this.#conditionals = conditionals
  }

  /** Handles the current row, a print that may have changed the robust price of its token: checks everything that is
   *  watched for the token. */
  printed(token: TokenId, watched: Watched): void {
    const { block, row, now, prices } = this.#state
    const price = prices.at(token)
    if (price !== undefined && watched.waiting.length > 0) this.#watch.cancelChased(watched, price)
    for (const held of watched.held) {
      held.printedAt = now
      if (block?.kind[row] === RowKind.sell && isWrittenOff(held.position)) this.#exits.seenSold(held.position)
      if (price === undefined || block === undefined) continue
      held.pricedAt = held.heardAt = now
      held.pool = undefined
      held.exitPrice.fold((block.amount[row] as number) / (block.size[row] as number), price, now)
      const window = held.position.exits.windowPrints ?? this.#state.exitWindow
      held.price = held.exitPrice.of(window, price, now)
      if (this.#state.hasMarks) this.#mark(held, Math.min(price, held.price))
      this.#checkPosition(held.position, held.price)
    }
    if (price !== undefined && watched.orders.length > 0) this.#checkOrders(watched.orders, watched.held, price)
  }

  /** Applies a reading of the position's pool. The exits use the price of the pool until the next print of the token.
   *  `price`: SOL a token. Returns false if another reading is needed to decide whether an exit is due. */
  poolRead(position: Position, pool: PoolPrice, price: number, slot: number): boolean {
    const held = this.#watch.find(position)
    if (held === undefined) return true
    const isNew = pool.take(price, slot, this.#state.now)
    const { middle } = pool
    if (middle === undefined) return false
    if (isNew) {
      held.price = middle
      held.exitPrice.restart(middle, this.#state.now)
      if (this.#state.hasMarks) this.#mark(held, middle)
      this.#checkPosition(position, middle)
      const { account, mint } = position
      const sells = this.#watch
        .ordersOf(mint)
        .filter((order) => order.action.side === 'sell' && order.account === account)
      this.#checkOrders(sells, [held], middle)
    }
    return position.exiting !== '' || !isDueAt(position, price, this.#state.now)
  }

  /** Checks conditional orders. Buys use the robust price, and sales use the price of the exits. */
  #checkOrders(orders: readonly ConditionalOrder[], held: readonly Held[], price: number): void {
    for (const order of orders) {
      const own =
        order.action.side === 'buy' ? undefined : held.find(({ position }) => position.account === order.account)
      this.#conditionals.priced(order, own === undefined || Number.isNaN(own.price) ? price : own.price)
    }
  }

  /** Compares the profit of a position at this price with its best and its worst profit so far, and updates them. */
  #mark({ position, marked }: Held, price: number): void {
    if (position.tokens === 0n || marked.covers(position, price)) return
    const value = this.#liquidation.at(position, price)
    if (value !== undefined && mark(position, value)) this.#watch.mark(position)
  }

  #checkPosition(position: Position, price: number): void {
    if (position.tokens === 0n) return
    if (price > position.highPrice) {
      position.highPrice = price
      this.#watch.mark(position)
    }
    if (position.exiting !== '') return
    const { exits, averagePrice, steps } = position
    const reason = dueExit(exits, averagePrice, position.highPrice, price, this.#state.now - position.openedAt)
    if (reason !== undefined) {
      this.#exits.sell(position, reason)
      return
    }
    if (exits.takeProfitSteps === undefined) return
    const taken = steps?.taken ?? 0
    const reached = stepsReached(exits, taken, averagePrice, price)
    if (reached > taken) this.#exits.step(position, reached, price)
  }
}

/** Whether an exit would be due at the price of a single reading, which no second reading has confirmed yet. */
function isDueAt(position: Position, price: number, now: Millis): boolean {
  const { exits, averagePrice, highPrice, openedAt, steps } = position
  const taken = steps?.taken ?? 0
  return (
    dueExit(exits, averagePrice, Math.max(highPrice, price), price, now - openedAt) !== undefined ||
    stepsReached(exits, taken, averagePrice, price) > taken
  )
}

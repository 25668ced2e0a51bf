import type { ErrorCode } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import type { BuyOptions, OrderView, SellOptions } from '../strategy.ts'

/** A request of a strategy that waits for a price or a time, and then becomes an order. Until then only the engine
 *  stores it, and the service does not receive it. */
export interface ConditionalOrder {
  /** `c1`, `c2`, ...: conditional orders are numbered throughout a journal. */
  readonly id: string
  readonly time: Millis
  readonly account: string
  readonly bot: string
  readonly mint: string
  when: Condition
  readonly action: Consequence
  readonly reason: string
  /** Time at which the order expires if it still waits; null if it does not expire. */
  readonly expiresAt: Millis | null
  /** Name of a group of orders of the bot; '' for no group. When an order of the group executes, the others are
   *  cancelled. */
  readonly oneCancelsOther: string
  state: ConditionalState
  /** Code that explains the state; '' if none is needed. */
  code: ErrorCode | ''
  /** Id of the latest order that this conditional order placed; '' before the first. */
  orderId: string
  /** Ids of the orders that this conditional order placed before the latest one. They ended without a fill, but a late
   *  fill is still possible. */
  earlierOrders?: readonly string[]
  /** Number of orders that this conditional order placed. */
  tries: number
  /** Earliest time of the next order after a failed one. */
  notBefore: Millis
}

/** Condition that triggers the order. below: the market price falls to `price` (SOL per token) or lower. above: it
 *  rises to `price` or higher. every: a schedule that buys an installment each `everyMs`, `left` more times; an
 *  installment is skipped while the price is above `maxPrice` (null: no maximum). */
export type Condition =
  | { readonly kind: 'below' | 'above'; readonly price: number }
  | { readonly kind: 'every'; readonly everyMs: number; readonly left: number; readonly maxPrice: number | null }

/** The buy or the sale that is placed when the condition is met, in the units of the strategy. */
export type Consequence =
  | { readonly side: 'buy'; readonly options: BuyOptions }
  | { readonly side: 'sell'; readonly options: SellOptions }

/** State of a conditional order. working: the order that the conditional order placed is open. done: the buy has
 *  filled, or the sale is recorded as an exit of the position. */
export type ConditionalState = 'waiting' | 'working' | 'done' | 'cancelled' | 'expired' | 'failed'

export function isOver(state: ConditionalState): boolean {
  return state !== 'waiting' && state !== 'working'
}

/** Returns the number of a conditional order: 12 for `c12`. */
export function conditionalNumber({ id }: Pick<ConditionalOrder, 'id'>): number {
  return Number(id.slice(1))
}

/** Returns the ids of the orders whose fill ends the conditional order. Returns no ids for a schedule (DCA), because
 *  the fill of an installment does not end it. */
export function ordersOf({ when, orderId, earlierOrders = [] }: ConditionalOrder): readonly string[] {
  return when.kind === 'every' || orderId === '' ? [] : [...earlierOrders, orderId]
}

export function conditionalView({ id, mint, action, state, code, reason }: ConditionalOrder): OrderView {
  return { id, mint, side: action.side, state, code, reason, tag: action.options.tag ?? '' }
}

import type { ErrorCode } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import type { BuyOptions, OrderView, SellOptions } from '../strategy.ts'

/** Waits for a price or a time, then becomes an order. The engine holds it; the service does not know it. */
export interface ConditionalOrder {
  /** `c1`, `c2`, ...: counted within a journal. */
  readonly id: string
  readonly time: Millis
  readonly account: string
  readonly bot: string
  readonly mint: string
  when: Condition
  readonly action: Consequence
  readonly reason: string
  /** null: no expiry. */
  readonly expiresAt: Millis | null
  /** Name of a group of the bot's orders: the first that executes cancels the others. '' for no group. */
  readonly oneCancelsOther: string
  state: ConditionalState
  /** Reason of the state; '' if none is needed. */
  code: ErrorCode | ''
  /** Latest order that it became; '' before the first. */
  orderId: string
  /** Orders that it became earlier. They ended without a fill, but a late fill is still possible. */
  earlierOrders?: readonly string[]
  /** Number of orders that it became. */
  tries: number
  /** Earliest time of the next order after a failed one. */
  notBefore: Millis
}

/** below, above: the price has reached this price, SOL per token. every: `left` more times. */
export type Condition =
  | { readonly kind: 'below' | 'above'; readonly price: number }
  | { readonly kind: 'every'; readonly everyMs: number; readonly left: number; readonly maxPrice: number | null }

/** The request of the strategy, in its units. */
export type Consequence =
  | { readonly side: 'buy'; readonly options: BuyOptions }
  | { readonly side: 'sell'; readonly options: SellOptions }

/** working: its order is open. done: its buy has filled, or its sale is recorded as an exit of the position. */
export type ConditionalState = 'waiting' | 'working' | 'done' | 'cancelled' | 'expired' | 'failed'

export function isOver(state: ConditionalState): boolean {
  return state !== 'waiting' && state !== 'working'
}

/** Sequence number: 12 for `c12`. */
export function conditionalNumber({ id }: Pick<ConditionalOrder, 'id'>): number {
  return Number(id.slice(1))
}

/** Orders whose fill ends the conditional order. The installments of a schedule do not. */
export function ordersOf({ when, orderId, earlierOrders = [] }: ConditionalOrder): readonly string[] {
  return when.kind === 'every' || orderId === '' ? [] : [...earlierOrders, orderId]
}

export function conditionalView({ id, mint, action, state, code, reason }: ConditionalOrder): OrderView {
  return { id, mint, side: action.side, state, code, reason }
}

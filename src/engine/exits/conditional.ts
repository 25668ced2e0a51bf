import type { ErrorCode } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import type { BuyOptions, OrderView, SellOptions } from '../strategy.ts'

/** What waits for a price or a time, and becomes an order then. Held by the engine, not by the service. */
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
  /** It ends then; null: it waits for ever. */
  readonly expiresAt: Millis | null
  /** Of the orders of a bot with this name one executes and ends the others; '' for none. */
  readonly oneCancelsOther: string
  state: ConditionalState
  /** Why it is in its state; '' while there is nothing to say. */
  code: ErrorCode | ''
  /** The last order that it became; '' before. */
  orderId: string
  /** Those before it, which ended without a fill: one may still come. */
  earlierOrders?: readonly string[]
  /** Orders that it became. */
  tries: number
  /** Not before this time, after one that failed. */
  notBefore: Millis
}

/** below, above: the price is there or beyond, SOL a token. every: `left` more times. */
export type Condition =
  | { readonly kind: 'below' | 'above'; readonly price: number }
  | { readonly kind: 'every'; readonly everyMs: number; readonly left: number; readonly maxPrice: number | null }

/** As the strategy asked for it, in its units. */
export type Consequence =
  | { readonly side: 'buy'; readonly options: BuyOptions }
  | { readonly side: 'sell'; readonly options: SellOptions }

/** working: its order is out. done: it was bought, or what is to be sold is on record as an exit, which sees it
 *  through. */
export type ConditionalState = 'waiting' | 'working' | 'done' | 'cancelled' | 'expired' | 'failed'

export function isOver(state: ConditionalState): boolean {
  return state !== 'waiting' && state !== 'working'
}

/** Conditional orders are counted: `c12` is the twelfth. */
export function conditionalNumber({ id }: Pick<ConditionalOrder, 'id'>): number {
  return Number(id.slice(1))
}

/** All that one became whose fill ends it: an instalment of a schedule is none. */
export function ordersOf({ when, orderId, earlierOrders = [] }: ConditionalOrder): readonly string[] {
  return when.kind === 'every' || orderId === '' ? [] : [...earlierOrders, orderId]
}

export function conditionalView({ id, mint, action, state, code, reason }: ConditionalOrder): OrderView {
  return { id, mint, side: action.side, state, code, reason }
}

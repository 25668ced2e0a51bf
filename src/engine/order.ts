import type { ErrorCode } from '../base/errors.ts'
import type { Lamports, Millis, Seq, TokenAmount } from '../base/units.ts'
import type { TradeSide } from '../market/block.ts'
import type { FillCosts } from './accounting/fill-costs.ts'

/** Exits have priority over entries everywhere, and they wait without a time limit. */
export type OrderClass = 'exit' | 'entry'

/** Size of an order. A buy is in SOL. A sale is everything that the wallet holds, a share of it, or an amount of base
 *  units. */
export type Size =
  | { readonly kind: 'sol'; readonly lamports: Lamports }
  | { readonly kind: 'all' }
  | { readonly kind: 'percent'; readonly percent: number }
  | { readonly kind: 'tokens'; readonly tokens: TokenAmount; readonly decimals: number }

/** A request of a strategy, or an exit, that the engine has approved. Immutable. */
export interface Order {
  /** `o1`, `o2`, ...: orders are numbered throughout a journal. */
  readonly id: string
  readonly seq: Seq
  readonly time: Millis
  readonly account: string
  readonly bot: string
  readonly mint: string
  readonly side: TradeSide
  readonly class: OrderClass
  readonly size: Size
  /** Slippage of the first attempt, followed by the slippage of each retry after a refusal for slippage. Percent, 0.1
   *  to 100. */
  readonly slippagePercents: readonly number[]
  /** Priority fee; null if the service chooses it. */
  readonly priorityFeeLamports: Lamports | null
  /** Priority fees of the first, second, ... attempt, which replace `priorityFeeLamports`. The last one also applies to
   *  all later attempts. Empty if all attempts have the same fee. */
  readonly priorityFeeLadder: readonly Lamports[]
  /** Time in ms after which a full exit is sent again with the next slippage and priority fee, unless there is evidence
   *  that an attempt executed. null if the order is not sent again. */
  readonly repeatMs: number | null
  /** Worst-case cost: the amount with slippage, plus priority fee, base fee, rent and service fee. */
  readonly reserveLamports: Lamports
  /** Time after which the order is not sent any more; null for exits, which do not expire. */
  readonly notAfter: Millis | null
  /** Robust price at the time of the decision, SOL a token; null for an exit that was decided without a price. */
  readonly price: number | null
  /** Age of the row on which the order was decided, ms: its lag (time of arrival minus the service's timestamp) minus
   *  the usual lag of rows. 0 without a row. Absent in older journals. */
  readonly eventAgeMs?: number
  readonly reason: string
  /** Tag that the strategy gave; absent if there is none. */
  readonly tag?: string
}

/** Adds the tag to an order, an attempt or a fill, if there is one, and returns it. Assigning the field is several
 *  times as fast as spreading. */
export function withTag<T extends { readonly tag?: string }>(made: T, tag: string | undefined): T {
  if (tag !== undefined) (made as { tag?: string }).tag = tag
  return made
}

/** Returns the number of an order: 12 for `o12`. */
export function orderNumber({ id }: Pick<Order, 'id'>): number {
  return Number(id.slice(1))
}

/** Returns the key of a lane: account, mint and side. A lane holds one open order, from `accepted` on. */
export function laneOf(order: Pick<Order, 'account' | 'mint' | 'side'>): string {
  return `${order.account}|${order.mint}|${order.side}`
}

/** Whether an order sells the whole balance. The chain refuses to execute such a sale twice, so only such an order may
 *  be repeated without proof about its earlier attempts. */
export function isFullExit(order: Pick<Order, 'side' | 'size'>): boolean {
  return order.side === 'sell' && order.size.kind === 'all'
}

/** Largest number of slippage steps of one buy: the first attempt, and two retries after a refusal for its slippage. */
export const MOST_BUY_STEPS = 3

/** Largest number of attempts of one full exit that may be undecided at the same time. */
export const MOST_OPEN_EXITS = 5

/** Whether an order may be open at the same time as `held`, an open order of the same lane. Only a full exit may be
 *  open at the same time as a partial sale: the result of the partial sale may take long to prove, and the full exit is
 *  safe, because the chain refuses to sell tokens that the wallet does not hold. */
export function sharesLane(order: Pick<Order, 'side' | 'size'>, held: Pick<Order, 'side' | 'size'>): boolean {
  return isFullExit(order) && held.side === 'sell' && !isFullExit(held)
}

/** State of an order. docs/errors.md explains each state. */
export type OrderState =
  | 'accepted'
  | 'working'
  | 'filled'
  | 'failed'
  | 'not_executed'
  | 'held'
  | 'refused'
  | 'expired'
  | 'cancelled'

/** Allowed changes of an order's state. `filled -> working` means that a fork removed the fill. A late fill may turn
 *  every state into `filled`. */
export const ORDER_MOVES: Readonly<Record<OrderState, readonly OrderState[]>> = {
  accepted: ['working', 'filled', 'failed', 'refused', 'expired', 'cancelled', 'held'],
  working: ['accepted', 'filled', 'failed', 'not_executed', 'held', 'expired', 'refused', 'cancelled'],
  held: ['filled', 'not_executed', 'failed'],
  filled: ['working', 'filled'],
  failed: ['filled'],
  not_executed: ['filled'],
  refused: ['filled'],
  expired: ['filled'],
  cancelled: ['filled'],
}

/** Whether an order is open: it blocks other orders of its lane (account, mint and side), and its worst-case cost is
 *  reserved. */
export function isOpen(state: OrderState): boolean {
  return state === 'accepted' || state === 'working' || state === 'held'
}

export type ExecutorKind = 'cloud' | 'local' | 'paper'

/** An execution of one of our orders, read from the landed transaction. */
export interface Fill {
  readonly signature: string
  readonly orderId: string
  readonly attemptId: string
  readonly account: string
  readonly bot: string
  readonly mint: string
  readonly side: TradeSide
  readonly slot: number
  readonly time: Millis
  /** Base units received (buy) or sold (sell); positive. */
  readonly tokens: TokenAmount
  readonly decimals: number
  /** Lamports paid or received for the tokens, including the fees of venue and service; positive. */
  readonly tradeLamports: Lamports
  /** Base and priority fee of the transaction, and tips. */
  readonly feeLamports: Lamports
  /** Rent paid for new accounts (positive) or returned by closed ones (negative). */
  readonly rentLamports: Lamports
  /** Change of the wallet's balance by the whole transaction: -(trade + fee + rent) for a buy, trade - fee - rent for a
   *  sale, each minus the SOL that the transaction wrapped. */
  readonly walletLamports: Lamports
  /** Costs of the transaction by kind. The sums above are computed from these costs. */
  readonly costs: FillCosts
  /** Whether the transaction was seen at commitment `finalized`. Before that, a fork may remove it. */
  readonly final: boolean
  /** Tag of the order; absent if it has none. */
  readonly tag?: string
}

/** State of an order, as the gateway or the audit reports it to the engine. A report is durable before it is sent. */
export interface ExecutionReport {
  readonly orderId: string
  /** Id of the attempt; '' before the first attempt. */
  readonly attemptId: string
  /** Current state of the order. */
  readonly state: OrderState
  readonly code: ErrorCode | ''
  readonly reason: string
  readonly fill?: Fill
  /** Signature of a fill that a fork removed. */
  readonly reversed?: string
  /** Fee of a transaction that failed on the chain. */
  readonly feeLamports?: Lamports
  /** Number of attempts of a full exit that may still execute or be removed by a fork; absent for other orders. */
  readonly unproved?: number
}

import type { ErrorCode } from '../base/errors.ts'
import type { Lamports, Millis, Seq, TokenAmount } from '../base/units.ts'
import type { TradeSide } from '../market/block.ts'
import type { FillCosts } from './accounting/fill-costs.ts'

/** Exits go before entries everywhere and wait without bound. */
export type OrderClass = 'exit' | 'entry'

/** How much. A buy names SOL; a sell names everything that the wallet holds, a share of it, or an amount of base
 *  units. */
export type Size =
  | { readonly kind: 'sol'; readonly lamports: Lamports }
  | { readonly kind: 'all' }
  | { readonly kind: 'percent'; readonly percent: number }
  | { readonly kind: 'tokens'; readonly tokens: TokenAmount; readonly decimals: number }

/** An approved request: what a strategy or an exit wants and the engine has let pass. Never changed afterwards. */
export interface Order {
  /** `o1`, `o2`, ...: counted within a journal. */
  readonly id: string
  readonly seq: Seq
  readonly time: Millis
  readonly account: string
  readonly bot: string
  readonly mint: string
  readonly side: TradeSide
  readonly class: OrderClass
  readonly size: Size
  /** First what is sent first; what follows is the ladder that a refusal for slippage climbs. Percent, 0.1 to 100. */
  readonly slippagePercents: readonly number[]
  /** null: the service chooses. */
  readonly priorityFeeLamports: Lamports | null
  /** The fee of each step instead, the last one for all after it; empty: always the one above. */
  readonly priorityFeeLadder: readonly Lamports[]
  /** A full exit goes again so long after its last attempt was sent, a step further, while there is no evidence that
   *  one has executed; null: it waits for proof, as every other order does. */
  readonly repeatMs: number | null
  /** The most that this order can take out of the wallet: amount with slippage, priority fee, base fee, rent, service
   *  fee. */
  readonly reserveLamports: Lamports
  /** Not to be sent after this time; null for exits, which always are. */
  readonly notAfter: Millis | null
  /** The robust price it was decided on, SOL a token; null where there was none (an exit may go without). */
  readonly price: number | null
  /** How much older than usual the row was that it was decided on, ms; 0 where it was none. Absent where an older
   *  Sluice decided. */
  readonly eventAgeMs?: number
  readonly reason: string
}

/** Orders are counted: `o12` is the twelfth. */
export function orderNumber({ id }: Pick<Order, 'id'>): number {
  return Number(id.slice(1))
}

/** (account, mint, side): holds one open order, from accepted on. */
export function laneOf(order: Pick<Order, 'account' | 'mint' | 'side'>): string {
  return `${order.account}|${order.mint}|${order.side}`
}

/** A sale of everything: the chain refuses to execute it twice, so it is the one order that never waits for proof. */
export function isFullExit(order: Pick<Order, 'side' | 'size'>): boolean {
  return order.side === 'sell' && order.size.kind === 'all'
}

/** Tries of one buy: the first, and two that follow on a refusal for its slippage. */
export const MOST_BUY_STEPS = 3

/** Attempts of one full exit that may still execute, at once. */
export const MOST_OPEN_EXITS = 5

/** A lane holds one open order. The one exception: a full exit goes in beside a partial sale, because nobody can say
 *  how long the proof of that one takes, and the chain refuses to sell what is not held. */
export function sharesLane(order: Pick<Order, 'side' | 'size'>, held: Pick<Order, 'side' | 'size'>): boolean {
  return isFullExit(order) && held.side === 'sell' && !isFullExit(held)
}

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

/** The moves an order may make. `filled -> working` is a fill that a fork took back; anything may become filled by a
 *  late fill. */
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

/** Open: the lane is held, the reservation counts. */
export function isOpen(state: OrderState): boolean {
  return state === 'accepted' || state === 'working' || state === 'held'
}

export type ExecutorKind = 'cloud' | 'local' | 'paper'

/** Our own execution, read from the landed transaction. */
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
  /** Base units that came in (buy) or went out (sell); positive. */
  readonly tokens: TokenAmount
  readonly decimals: number
  /** SOL that changed hands for them, the venue's and the service's fee inside; positive. */
  readonly tradeLamports: Lamports
  /** Base and priority fee of the transaction, and tips. */
  readonly feeLamports: Lamports
  /** Rent put into (positive) or got back from (negative) accounts. */
  readonly rentLamports: Lamports
  /** Change of the wallet by the whole transaction: -(trade + fee + rent) for a buy, trade - fee - rent for a sell,
   *  less what was wrapped. */
  readonly walletLamports: Lamports
  /** The same, each apart. */
  readonly costs: FillCosts
  /** Seen at finalized; until then a fork may take it back. */
  readonly final: boolean
}

/** What became of an order, said by the gateway or the audit to the engine. Durable before it is said. */
export interface ExecutionReport {
  readonly orderId: string
  /** '' while there is no attempt. */
  readonly attemptId: string
  /** Where the order is now. */
  readonly state: OrderState
  readonly code: ErrorCode | ''
  readonly reason: string
  readonly fill?: Fill
  /** This signature's fill was taken back by a fork. */
  readonly reversed?: string
  /** Paid for a transaction that reverted. */
  readonly feeLamports?: Lamports
  /** How many attempts of a full exit may still execute, or be taken back by a fork; absent for every other order. */
  readonly unproved?: number
}

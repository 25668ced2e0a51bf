import type { ErrorCode } from './errors.ts'
import type { FillCosts } from './fill-costs.ts'
import type { Lamports, Millis, Seq, TokenAmount } from './units.ts'

export type TradeSide = 'buy' | 'sell'

/** Exits go before entries everywhere and wait without bound. */
export type OrderClass = 'exit' | 'entry'

/** How much. A buy names SOL; a sell names everything that the wallet holds, a share of it, or an amount of base units. */
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
  /** A full exit goes again so long after its last attempt was sent, a step further, while there is no evidence that one has executed;
   *  null: it waits for proof, as every other order does. */
  readonly repeatMs: number | null
  /** The most that this order can take out of the wallet: amount with slippage, priority fee, base fee, rent, service fee. */
  readonly reserveLamports: Lamports
  /** Not to be sent after this time; null for exits, which always are. */
  readonly notAfter: Millis | null
  /** The robust price it was decided on, SOL a token; null where there was none (an exit may go without). */
  readonly price: number | null
  /** How much older than usual the row was that it was decided on, ms; 0 where it was none. Absent where an older Sluice decided. */
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

/** A lane holds one open order. The one exception: a full exit goes in beside a partial sale, because nobody can say how long the proof of
 *  that one takes, and the chain refuses to sell what is not held. */
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

/** The moves an order may make. `filled -> working` is a fill that a fork took back; anything may become filled by a late fill. */
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

/** One possible execution of an order; durable before it can execute. */
export interface Attempt {
  /** `o1.1`, `o1.2`, ... */
  readonly id: string
  readonly orderId: string
  readonly account: string
  readonly bot: string
  readonly executor: ExecutorKind
  readonly mint: string
  readonly side: TradeSide
  readonly class: OrderClass
  readonly size: Size
  readonly slippagePercent: number
  readonly priorityFeeLamports: Lamports | null
  /** The order's price, for executors that simulate; null where there was none. */
  readonly price: number | null
  readonly armedAt: Millis
  /** Where the chain's evidence about it begins; null where the chain was not read before, and for what is simulated. */
  readonly baseline: Baseline | null
  state: AttemptState
  /** Once it is known; '' before. */
  signature: string
  /** Why it is where it is; '' while there is nothing to say. */
  code: ErrorCode | ''
  /** How long its order had stood in the line for a request of the plan, ms. Absent where an older Sluice made it, as the next one is. */
  readonly waitedMs?: number
  /** What was heard of it since it was armed, the first steps. */
  trail?: readonly AttemptStep[]
}

/** A move of an attempt, for people: when, whereto, and what was said. */
export interface AttemptStep {
  readonly at: Millis
  readonly state: AttemptState
  readonly code: ErrorCode | ''
  /** In the words of whoever told; '' where the state says it all. */
  readonly reason: string
}

/** A finalized reading of a wallet from before an attempt: nothing of it can have landed up to there. */
export interface Baseline {
  readonly slot: number
  /** Blocks up to that slot. */
  readonly height: number
}

export type ExecutorKind = 'cloud' | 'local' | 'paper'

export type AttemptState =
  | 'armed'
  | 'unsent'
  | 'acked'
  | 'refused'
  | 'unknown'
  | 'landed'
  | 'filled'
  | 'reverted'
  | 'absent'
  | 'undecided'
  | 'built'
  | 'verified'
  | 'signed'
  | 'sent'
  | 'expired'

/** The moves an attempt may make: cloud and paper start at `armed`, local at `built`. Any end may turn out to have executed. */
export const ATTEMPT_MOVES: Readonly<Record<AttemptState, readonly AttemptState[]>> = {
  armed: ['unsent', 'acked', 'refused', 'unknown', 'landed', 'filled', 'reverted', 'absent'],
  acked: ['landed', 'filled', 'reverted', 'absent', 'unknown', 'undecided'],
  unknown: ['acked', 'landed', 'filled', 'reverted', 'absent', 'undecided', 'refused', 'unknown', 'expired'],
  landed: ['filled', 'reverted', 'unknown', 'landed'],
  undecided: ['landed', 'filled', 'reverted', 'absent', 'expired'],
  built: ['verified', 'refused', 'unsent'],
  verified: ['signed', 'refused', 'unsent'],
  signed: ['sent', 'landed', 'filled', 'reverted', 'expired', 'unknown', 'undecided'],
  sent: ['landed', 'filled', 'reverted', 'expired', 'unknown', 'undecided'],
  unsent: [],
  refused: ['landed', 'filled'],
  filled: ['unknown'],
  reverted: ['landed', 'filled', 'unknown'],
  absent: ['landed', 'filled'],
  expired: ['landed', 'filled'],
}

/** Where an attempt ends that is proved not to execute any more: what we signed ourselves expires. */
export function deadState(executor: ExecutorKind): 'absent' | 'expired' {
  return executor === 'local' ? 'expired' : 'absent'
}

/** Attempts that may still execute: their lane stays closed and they are resumed after a restart. */
export function isUndecided(state: AttemptState): boolean {
  return (
    state === 'armed' ||
    state === 'acked' ||
    state === 'unknown' ||
    state === 'landed' ||
    state === 'signed' ||
    state === 'sent' ||
    state === 'undecided'
  )
}

/** Built for us, and not signed: it cannot execute. */
export function isUnsigned(state: AttemptState): boolean {
  return state === 'built' || state === 'verified'
}

/** Sent, and not only about to be; where the service sends it, with its answer. Or over before that. */
export function isAnswered(state: AttemptState): boolean {
  return state !== 'armed' && state !== 'signed' && !isUnsigned(state)
}

/** Why a buy is not signed, sent, or sent again: a full exit of its mint went past it, an operator has stopped entries, or the disk that
 *  holds the journal is nearly full. */
export type CalledOff = 'EXIT_UNPROVED' | 'HALTED' | 'DISK_LOW'

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
  /** Change of the wallet by the whole transaction: -(trade + fee + rent) for a buy, trade - fee - rent for a sell, less what was wrapped. */
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

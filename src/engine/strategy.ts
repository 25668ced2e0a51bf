import type { z } from 'zod'
import type { ErrorCode } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { Millis } from '../base/units.ts'
import type { NewToken, PriceUpdate, Trade, TradeSide } from '../market/block.ts'
import type { PositionState } from './accounting/position.ts'
import type { ExitRules } from './exits/exit-rules.ts'
import type { OrderState } from './order.ts'

/** What a strategy file exports. `P` are its parameters, `S` what it keeps for each token. */
export interface Strategy<P = unknown, S = unknown> {
  readonly name: string
  readonly about: string
  /** A zod object: types, defaults, the check of the YAML and the sweep's space in one. */
  readonly params: z.ZodType<P>
  /** What it wants to see: `trades`, `newTokens`, `priceUpdates`, or mints. */
  readonly keys: readonly string[]
  /** How much of the tape it is shown before it may act, in seconds. Default 600. */
  readonly warmup?: number
  /** Exits for its positions that neither the order, the bot nor the file's defaults set; `exits: strategy` puts them
   *  before the defaults. */
  readonly exits?: ExitRules
  /** The state of a token that it sees for the first time, or again after two days. */
  readonly token?: () => S
  start(params: P, bot: Bot<S>): Handlers<S>
}

/** Handlers are called one at a time, in the order of the stream, and finish before the next one starts. */
export interface Handlers<S> {
  onTrade?(trade: Trade, token: Token<S>): void
  onNewToken?(event: NewToken, token: Token<S>): void
  onPriceUpdate?(update: PriceUpdate, token: Token<S>): void
  /** Once for each landed transaction of this bot, as soon as it is confirmed; finality and reversal come as
   *  `onOrder`. */
  onFill?(fill: FillView, token: Token<S>): void
  onOrder?(order: OrderView, token: Token<S>): void
  onTimer?(name: string): void
  /** The feed was not live for a while: what happened then was not seen. */
  onGap?(gap: { readonly from: Millis; readonly to: Millis; readonly keys: readonly string[] }): void
  onSignal?(name: string, data: Json): void
  onStop?(): void
}

/** A token as one bot sees it: one record until two UTC days have passed without a row of it. One that is held is
 *  kept. */
export interface Token<S = unknown> {
  readonly mint: string
  /** The robust price, SOL a token; undefined before there were enough prints of a sensible size. */
  readonly price: number | undefined
  /** Exists from the moment a buy is accepted until the last token is sold. */
  readonly position: PositionView | undefined
  state: S
}

export interface PositionView {
  readonly mint: string
  readonly state: PositionState
  /** Whole tokens; 0 while opening. */
  readonly tokens: number
  readonly costSol: number
  /** What was paid, SOL a token: the fees of venue and service are inside, network fees and rent are not. */
  readonly averagePrice: number
  readonly openedAt: Millis
  readonly highPrice: number
  /** What selling all now would bring, impact and venue fee taken off; undefined without a robust price. */
  readonly valueSol: number | undefined
  readonly realizedSol: number
  readonly exits: ExitRules
}

export interface FillView {
  readonly orderId: string
  readonly mint: string
  readonly side: TradeSide
  readonly sol: number
  /** Whole tokens. */
  readonly tokens: number
  /** SOL a token. */
  readonly price: number
  /** Base and priority fee, and tips. */
  readonly feeSol: number
  readonly signature: string
  readonly time: Millis
  readonly final: boolean
}

export interface OrderView {
  /** `o1`, ..., or `c1`, ... for a conditional order. */
  readonly id: string
  readonly mint: string
  readonly side: TradeSide
  /** waiting, done: of a conditional order. */
  readonly state: OrderState | 'waiting' | 'done'
  readonly code: ErrorCode | ''
  readonly reason: string
}

/** The answer to a request, at once. What happens later comes as `onOrder` and `onFill`. */
export type Placed =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly code: ErrorCode; readonly reason: string }

/** What came of a request that has no id. */
export type Answer = { readonly ok: true } | { readonly ok: false; readonly code: ErrorCode; readonly reason: string }

export interface BuyOptions {
  readonly sol: number
  /** Why: shown beside the order for ever. */
  readonly reason: string
  readonly slippagePercent?: number
  /** In place of it: up to three rising steps. A buy that the service refuses for its slippage goes again with the next
   *  one, within 3 s of the decision and its time to live, unless the price has run away or a limit has been reached.
   *  The reservation is that of the last step. */
  readonly slippageLadder?: readonly number[]
  readonly priorityFeeSol?: number
  readonly ttlSeconds?: number
  /** Add to a position that is already held. */
  readonly scaleIn?: boolean
  /** Beside the bot's own, those of the position that this buy opens. One that is held keeps its exits: see
   *  `setExits`. */
  readonly exits?: ExitRules
}

export type SellOptions = ({ readonly percent: number } | { readonly tokens: number } | { readonly all: true }) & {
  readonly reason: string
}

/** Of every conditional order. */
interface Conditional {
  /** It ends by itself after so long. */
  readonly forSeconds?: number
  /** A name: once one of the bot's orders of this name executes, the others end. */
  readonly oneCancelsOther?: string
}

/** Buys once the robust price is at `atPrice` or below, SOL a token. */
export type LimitBuyOptions = BuyOptions & Conditional & { readonly atPrice: number }

/** Of what is held: sells once the price of the exits is at `atPrice` or beyond. */
export type LimitSellOptions = SellOptions & Conditional & { readonly atPrice: number }

/** A position with both of its ends; from `atPrice` on where it is given, else at once. */
export interface BracketOptions extends Omit<BuyOptions, 'scaleIn'>, Conditional {
  readonly atPrice?: number
  readonly stopPrice: number
  readonly takeProfitPrice: number
}

/** Buys the same again and again, the first time at once. One that is refused, or above `maxPrice`, is left out. */
export interface DcaOptions extends Omit<BuyOptions, 'scaleIn'>, Pick<Conditional, 'oneCancelsOther'> {
  /** At least 1. */
  readonly everySeconds: number
  /** Up to 10,000. */
  readonly times: number
  readonly maxPrice?: number
}

export interface Quote {
  readonly sol: number
  /** Whole tokens. */
  readonly tokens: number
  readonly impactPercent: number
  /** Venue fee, base fee and, for a buy, rent. */
  readonly feesSol: number
  /** `estimate`: the depth is inferred from the price, the feed names no reserves. */
  readonly confidence: 'estimate'
}

/** What a strategy may do. Every method answers at once. */
export interface Bot<S = unknown> {
  readonly name: string
  /** Plain JSON; assign a new value to save it: `bot.state = { ... }`. What is saved is a frozen copy. */
  state: Json
  /** The time of the row or input being handled. */
  now(): Millis
  /** Seeded, in [0, 1). */
  random(): number
  /** undefined for what is no mint. */
  token(mint: string): Token<S> | undefined
  position(mint: string): PositionView | undefined
  positions(): PositionView[]
  /** Open orders, then conditional ones that wait or whose order is out. */
  orders(): OrderView[]
  /** This run's last fills, newest last, at most 100. */
  fills(): readonly FillView[]
  wallet(): { readonly sol: number | undefined; readonly reservedSol: number }
  budget(): { readonly solThisHour: number; readonly profitTodaySol: number; readonly halted: boolean }
  /** Refused in `start` and while it is shown the past (WARMING). */
  buy(token: Token<S> | string, options: BuyOptions): Placed
  sell(token: Token<S> | string, options: SellOptions): Placed
  // Held by the engine, over restarts too, until they execute, expire or are cancelled. They act on the next price, not
  // on the one there is.
  limitBuy(token: Token<S> | string, options: LimitBuyOptions): Placed
  /** At `atPrice` or above. */
  limitSell(token: Token<S> | string, options: LimitSellOptions): Placed
  /** At `atPrice` or below. */
  stopSell(token: Token<S> | string, options: LimitSellOptions): Placed
  bracket(token: Token<S> | string, options: BracketOptions): Placed
  dca(token: Token<S> | string, options: DcaOptions): Placed
  /** False when the order is not open any more, already being sent, or an exit that is due. */
  cancel(orderId: string): boolean
  /** All exits of its position in the mint, from now on; shares of steps are then of what is held. */
  setExits(token: Token<S> | string, exits: ExitRules): Answer
  quoteBuy(token: Token<S> | string, sol: number): Quote | undefined
  quoteSell(token: Token<S> | string, tokens: number | 'all'): Quote | undefined
  /** At least 0.1 s (TIMER_TOO_SHORT) and at most 1,000 timers at a time (TIMERS_FULL). A name is used once at a time;
   *  setting it again replaces it. Timers survive a restart, unless `start` set it before and does not set it again, or
   *  the bot has another strategy. */
  every(name: string, seconds: number): Answer
  after(name: string, seconds: number): Answer
  clear(name: string): void
  /** False for what is no mint, and where 5,000 are watched already. */
  watch(mint: string): boolean
  unwatch(mint: string): void
  /** A decision not to trade, for `sluice why`. */
  note(mint: string, why: string): void
}

/** Checks nothing and costs nothing: it gives the types. */
export function defineStrategy<P, S = undefined>(strategy: Strategy<P, S>): Strategy<P, S> {
  return strategy
}

import type { z } from 'zod'
import type { ErrorCode } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { Millis } from '../base/units.ts'
import type { Bar } from '../market/bar.ts'
import type { Width } from '../market/bar-width.ts'
import type { NewToken, PriceUpdate, Trade, TradeSide } from '../market/block.ts'
import type { PositionState } from './accounting/position.ts'
import type { BarPlan } from './bars/bar-plan.ts'
import type { ConditionName, Conditions, Operands } from './conditions/condition.ts'
import type { ExitRules } from './exits/exit-settings.ts'
import type { Indicators, IndicatorValues, NoIndicators } from './indicators/indicator.ts'
import type { OrderState } from './order.ts'
import type { NoSources, SourceEvent, Sources } from './sources.ts'

// The contract of strategies. Prices are in SOL for a whole token, amounts in SOL or whole tokens, percentages from 0
// to 100, and times in milliseconds since the Unix epoch. A request returns its result immediately, as a value. A wrong
// use of the API (for example a call outside of a handler, or a timer without a name) throws, and the bot then only
// closes positions.

/** The default export of a strategy file. `P`: its parameters. `S`: its state for a token. `I`: its indicators. `X`:
 *  its data sources. `C`: its conditions. */
export interface Strategy<
  P = unknown,
  S = unknown,
  I extends Indicators = NoIndicators,
  X extends Sources = Sources,
  C extends Conditions = Conditions,
> {
  /** Name of the strategy, as the YAML gives it. */
  readonly name: string
  /** Description of the strategy in one line, for lists and reports. */
  readonly about: string
  /** A zod object. It gives the types, the defaults, the check of the YAML and the search space of a sweep. */
  readonly params: z.ZodType<P>
  /** Subscription keys: `trades`, `newTokens`, `priceUpdates`, or mints. They decide which events the bot receives. */
  readonly keys: readonly string[]
  /** Seconds of the recorded market that the strategy is shown before it may trade. Default 600. */
  readonly warmup?: number
  /** Exits of the strategy's positions. They have the lowest priority, after the exits of the order, the exits of the
   *  bot in the YAML, and the defaults of the configuration. With `exits: strategy` in the YAML, they have priority
   *  over the defaults. */
  readonly exits?: ExitRules
  /** Widths of the bars, each with the number of closed bars that are kept for a token: `{ '1m': 200 }`. A width is a
   *  time (`15s`, `1m`, `4h`), a number of trades (`500 trades`) or a volume (`20 SOL`). Time bars end at multiples of
   *  their width since the Unix epoch. */
  readonly bars?: BarPlan | PlanOf<P>
  /** Indicators over declared bars, by name: `{ fast: ema('1m', params.fast) }`. They are read as
   *  `token.indicators.fast`. */
  indicators?(params: P): I
  /** Returns one condition over the indicators, or an object of several conditions by name: `({ fast, slow }) =>
   *  crosses(fast, slow)`. Called once at each start. The conditions are tested at each bar; `onCondition` is called
   *  for each condition that is true. */
  when?(indicators: Operands<I>, params: P): C
  /** External data that the strategy receives as `onSource`, by name: `{ fear: { schema: z.object({ ... }) } }`. The
   *  bot's `sources` in the YAML give the address of each. The journal records the checked values. */
  readonly sources?: X
  /** Creates the state of a token that the bot sees for the first time, or again after the token was freed (see
   *  `Token.durable`). `params` are those that `start` receives. */
  token?(params: P): S
  /** Called once at each start of the process. Returns the handlers synchronously. Timers and watches may be set here;
   *  orders are refused (WARMING). */
  start(params: P, bot: Bot<S, I>): Handlers<S, I, X, C>
}

/** A function of the params. It is typed as a method, so that a strategy with any params can be assigned to
 *  `Strategy`. */
type PlanOf<P> = { of(params: P): BarPlan }['of']

/** Handlers are synchronous. They run one at a time, in the order of the events. If a handler throws, the strategy ends
 *  (STRATEGY_THREW): its bot then only closes positions, and the other bots continue. */
export interface Handlers<
  S,
  I extends Indicators = NoIndicators,
  X extends Sources = Sources,
  C extends Conditions = Conditions,
> {
  /** Called for each trade of a subscribed token. */
  onTrade?(trade: Trade, token: Token<S, I>): void
  /** Called when a new token is announced. Requires the key `newTokens`. */
  onNewToken?(event: NewToken, token: Token<S, I>): void
  /** Called for a price update of the service. Requires the key `priceUpdates`, or a watched mint. */
  onPriceUpdate?(update: PriceUpdate, token: Token<S, I>): void
  /** Called when a bar with prints closes, for each declared width (`bar.width`) and each token that the bot's keys
   *  cover. A time bar closes before the first row or input at or after its end. A bar of trades or of a volume closes
   *  with its last print, before `onTrade` receives that print. */
  onBar?(bar: Bar, token: Token<S, I>): void
  /** Called after `onBar` when a bar closes, for each condition of `when` that is true, in the order of their
   *  declaration. `name` is the name of the condition; a single condition has the name `when`. If a condition reads
   *  several widths, it is tested at the bars of the width that `bars` declares first. */
  onCondition?(bar: Bar, token: Token<S, I>, name: ConditionName<C>): void
  /** Called once for each fill of this bot, when the transaction is confirmed. `onOrder` reports when the transaction
   *  becomes final, or when a fork removes it. */
  onFill?(fill: FillView, token: Token<S, I>): void
  /** Called when a bar of a held token closes, after `onBar`. Returns the exits that replace those of the position, or
   *  undefined to keep them. If the rules are unchanged, the journal gets no row. Unchanged take-profit steps continue;
   *  others restart, as with `setExits`. Invalid rules are refused (REQUEST_INVALID), and the position keeps its
   *  exits. */
  exitsFor?(position: PositionView, bar: Bar, token: Token<S, I>): ExitRules | undefined
  /** Called before a limit order, a bracket with a price or a step of a DCA places its buy. Returns true, or the reason
   *  why the buy must not be placed (VETOED). After a veto, a limit order keeps waiting and asks again after a second
   *  at the earliest, and a step of a DCA is skipped. */
  confirmBuy?(trigger: BuyTrigger, token: Token<S, I>): true | string
  /** Called once when a position of this bot closes, because its last token was sold or left the wallet and no buy is
   *  open. `onFill` and `onOrder` of the last sale are called before. If a fork removes the sale, the position opens
   *  again; when it closes again, this handler is called again (`revises`). */
  onPositionClosed?(trip: RoundTripView, token: Token<S, I>): void
  /** Called when an order or a conditional order of this bot changes its state. */
  onOrder?(order: OrderView, token: Token<S, I>): void
  /** Called when a timer set by `every` or `after` fires. */
  onTimer?(name: string): void
  /** Called after an interruption of the feed. Events of these `keys` between `from` and `to`, ms since the Unix epoch,
   *  were not received. */
  onGap?(gap: { readonly from: Millis; readonly to: Millis; readonly keys: readonly string[] }): void
  /** Called for `sluice signal NAME [JSON]`. `data` is null if the command has no JSON. */
  onSignal?(name: string, data: Json): void
  /** Called for each valid answer of a declared source, even if the data has not changed. `data` is frozen, `time` is
   *  the time of the answer, ms since the Unix epoch. During the warm-up after a start, the handler receives the last
   *  value from before the start. */
  onSource?(...event: SourceEvent<X>): void
  /** Called before the process ends, unless it crashes or is killed. */
  onStop?(): void
}

/** A token as one bot sees it. All events of the token pass the same object, until the token is freed (see `durable`).
 *  A token is not freed while the bot holds a position in it. */
export interface Token<S = unknown, I extends Indicators = NoIndicators> {
  /** Mint of the token, base58. */
  readonly mint: string
  /** Robust price, SOL a token: the median of the last prints above a minimum size. undefined until there are enough
   *  such prints. */
  readonly price: number | undefined
  /** The bot's position. It exists from the acceptance of a buy until the last token is sold, and is undefined
   *  otherwise. */
  readonly position: PositionView | undefined
  /** State of the strategy for this token, created by `Strategy.token`. It is in memory only, so a restart creates it
   *  again. */
  state: S
  /** Closed bars of a declared width, oldest first; the newest is `.at(-1)`. Empty before the first bar. The list and
   *  its bars never change. Throws TypeError for a width that the strategy does not declare. */
  bars(width: Width): readonly Bar[]
  /** Values of the strategy's indicators after the last closed bar; undefined before there are enough bars. */
  readonly indicators: IndicatorValues<I>
  /** State of the strategy for this token that survives restarts; null at first. It is plain JSON of at most 10,000
   *  characters; for all tokens of the bot together at most 4,000,000, where each token counts for at least 100. To
   *  save the state, assign a new value: `token.durable = { ... }`; null deletes it. The saved value is a frozen copy.
   *  Throws TypeError for a value that is not JSON, and RangeError for one that is too long. An assignment during the
   *  warm-up has no effect. The state is deleted when the token is freed: at the second 00:00 UTC after its last event,
   *  unless the bot then holds the token. */
  durable: Json
}

/** A live view of a position: the properties always have the current values. */
export interface PositionView {
  /** Mint of the token, base58. */
  readonly mint: string
  /** `opening` until the first fill, `closing` while a sale is open. */
  readonly state: PositionState
  /** Whole tokens held; 0 while `opening`. */
  readonly tokens: number
  /** Cost of the tokens held, SOL. It includes the fees of venue and service, but neither network fees nor rent. */
  readonly costSol: number
  /** Average price paid, SOL a token: `costSol` divided by `tokens`; 0 while `opening`. */
  readonly averagePrice: number
  /** Time of the first fill, ms since the Unix epoch; the time of the order while `opening`. */
  readonly openedAt: Millis
  /** Highest price since the position opened, SOL a token. */
  readonly highPrice: number
  /** Proceeds of selling everything now, SOL, after price impact and the fees of venue and service, at the lower of the
   *  robust price and the price of the exits. undefined without a robust price. */
  readonly valueSol: number | undefined
  /** Profit of the sales so far, SOL, before network fees and rent. */
  readonly realizedSol: number
  /** Exits of the position. `bot.setExits` replaces them. */
  readonly exits: ExitRules
  /** Tag of the buy that opened the position; '' if it has none. */
  readonly tag: string
}

/** A conditional order that is about to place its buy. */
export interface BuyTrigger {
  /** Id of the conditional order: `c1`, `c2`, ... */
  readonly id: string
  /** Mint of the token. */
  readonly mint: string
  /** `limit`: a limit order or a bracket whose price was reached. `dca`: a step of a DCA that is due. */
  readonly kind: 'limit' | 'dca'
  /** SOL to spend. */
  readonly sol: number
  /** Reason that the strategy gave for the conditional order. */
  readonly reason: string
  /** Tag of the conditional order; '' if it has none. */
  readonly tag: string
}

/** A closed position: the time from its first buy to its last sale. */
export interface RoundTripView {
  /** Mint of the token. */
  readonly mint: string
  /** Time of the first buy, ms since the Unix epoch. */
  readonly openedAt: Millis
  /** Time of the last sale, ms since the Unix epoch. */
  readonly closedAt: Millis
  /** Seconds from `openedAt` to `closedAt`. */
  readonly heldSeconds: number
  /** Profit of the round trip, SOL, after all fees and rent. Fees that are reported after the position has closed are
   *  not included. */
  readonly profitSol: number
  /** `profitSol` as a percentage of `costSol`. */
  readonly profitPercent: number
  /** SOL paid for tokens, including the fees of venue and service. */
  readonly costSol: number
  /** SOL received for tokens, after the fees of venue and service. */
  readonly proceedsSol: number
  /** Fees of all transactions, by kind. */
  readonly feesSol: RoundTripFees
  /** Number of buys that were filled. */
  readonly buys: number
  /** Number of sales that were filled. */
  readonly sells: number
  /** Reason of the first buy; `adopted` for tokens that the bot took over. */
  readonly entryReason: string
  /** Tag of the first buy; '' if it has none. */
  readonly entryTag: string
  /** Reason of the last sale: that of the exit or of the strategy, or `left the wallet without an order`. */
  readonly exitReason: string
  /** Tag of the last sale; '' if it has none. */
  readonly exitTag: string
  /** Highest profit that a sale of the whole position would have made at any time while the position was held. */
  readonly best: RoundTripMark
  /** Lowest profit that a sale of the whole position would have made at any time while the position was held. */
  readonly worst: RoundTripMark
  /** Whether the handler received this round trip before, and a fork has since removed its last sale. */
  readonly revises: boolean
}

/** Fees of a round trip, SOL. `costSol` and `proceedsSol` already contain the fees of venue and service. */
export interface RoundTripFees {
  /** Sum of all parts, SOL. */
  readonly total: number
  /** Fees of the venue, SOL. */
  readonly venue: number
  /** Fees of the trading service, SOL. */
  readonly service: number
  /** Base fees of the network, SOL. */
  readonly base: number
  /** Priority fees, SOL. */
  readonly priority: number
  /** Tips to block builders, SOL. */
  readonly tip: number
  /** Rent paid minus rent returned, SOL; negative if more was returned. */
  readonly rent: number
  /** Fees of transactions that landed and failed, SOL. */
  readonly failed: number
  /** Fees that are not itemized, SOL: those of positions that an earlier version of Sluice opened. */
  readonly other: number
}

/** Profit that a sale of the whole position would have made at one moment before it closed: the proceeds of the sales
 *  so far, plus the value of the tokens held (see `PositionView.valueSol`), minus all costs. */
export interface RoundTripMark {
  /** The profit in SOL, after all costs. */
  readonly sol: number
  /** The profit as a percentage of the SOL that the buys had cost by this moment. */
  readonly percent: number
}

/** Value of a wallet at a moment. */
export interface EquityView {
  /** SOL of the wallet plus the value of its positions. undefined before the first reading of the wallet. */
  readonly sol: number | undefined
  /** SOL of the wallet. undefined before its first reading. */
  readonly walletSol: number | undefined
  /** SOL that selling all positions of the wallet now would bring; see `PositionView.valueSol`. Other live bots of the
   *  same wallet may hold some of them. */
  readonly positionsSol: number
  /** The part of `positionsSol` that belongs to this bot's positions, SOL. */
  readonly ownPositionsSol: number
  /** Number of positions without a price. They count as worthless. */
  readonly unpriced: number
}

/** An execution of one of the bot's orders. */
export interface FillView {
  /** Id of the order, as `bot.buy` returned it. */
  readonly orderId: string
  /** Mint of the token, base58. */
  readonly mint: string
  /** Whether the order bought or sold. */
  readonly side: TradeSide
  /** SOL paid or received, including the fees of venue and service. */
  readonly sol: number
  /** Whole tokens. */
  readonly tokens: number
  /** Price of the execution, SOL a token: `sol` divided by `tokens`. */
  readonly price: number
  /** Base fee, priority fee and tips, SOL. */
  readonly feeSol: number
  /** Signature of the transaction, base58. */
  readonly signature: string
  /** Time at which the fill was seen, ms since the Unix epoch. */
  readonly time: Millis
  /** false while a fork could still remove the transaction. */
  readonly final: boolean
  /** Tag of the order; '' if it has none. */
  readonly tag: string
}

/** An order, or a conditional order, in its present state. */
export interface OrderView {
  /** `o1`, `o2`, ... for orders; `c1`, `c2`, ... for conditional orders. */
  readonly id: string
  /** Mint of the token, base58. */
  readonly mint: string
  /** Whether the order buys or sells. */
  readonly side: TradeSide
  /** `waiting` and `done` are states of conditional orders only. */
  readonly state: OrderState | 'waiting' | 'done'
  /** Error code that explains the state, or ''. */
  readonly code: ErrorCode | ''
  /** Reason of the order. After a failure: the reason of the failure. */
  readonly reason: string
  /** Tag that the strategy gave to the order; '' if there is none. */
  readonly tag: string
}

/** Synchronous result of placing an order. If `ok`, `id` is the id of the order, and later changes arrive as `onOrder`
 *  and `onFill`. Otherwise `code` and `reason` explain the refusal. */
export type Placed =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly code: ErrorCode; readonly reason: string }

/** Synchronous result of a request that creates nothing with an id. If not `ok`, `code` and `reason` explain the
 *  refusal. */
export type Answer = { readonly ok: true } | { readonly ok: false; readonly code: ErrorCode; readonly reason: string }

/** Options of a buy. */
export interface BuyOptions {
  /** SOL to spend: at least 0.001, at most the maximum of the plan (AMOUNT_RANGE). */
  readonly sol: number
  /** Reason why the strategy buys. It is recorded with the order, and cut after 500 characters. */
  readonly reason: string
  /** Percent, 0.1 to 50 (SLIPPAGE_RANGE). Default: `orders.slippagePercent`. */
  readonly slippagePercent?: number
  /** One to three rising slippages that replace `slippagePercent`. If the buy fails for its slippage, it is retried
   *  with the next slippage, within 3 s of the decision and within its time to live. It is not retried if the price has
   *  risen too far or if a limit has been reached. The reservation covers the last slippage. */
  readonly slippageLadder?: readonly number[]
  /** SOL, 0.00001 to 0.01 (FEE_RANGE). Default: `orders.priorityFeeSol`. */
  readonly priorityFeeSol?: number
  /** Seconds, up to 86,400. If the order cannot be sent within this time, it expires (TTL). Default:
   *  `orders.ttlSeconds`. */
  readonly ttlSeconds?: number
  /** Allows the buy to add to a position that the bot holds. Otherwise such a buy is refused (POSITION_OPEN). */
  readonly scaleIn?: boolean
  /** Exits of the position that this buy opens; they override those of the bot. A position that is already held keeps
   *  its exits; see `setExits`. */
  readonly exits?: ExitRules
  /** Tag of at most 50 characters, for example the name of a signal. Fills, round trips and reports show the tag, and
   *  reports group their results by it. A longer tag is refused (REQUEST_INVALID). */
  readonly tag?: string
}

/** The size of a sale: `percent` of the tokens held (rounded down to two decimals; 100 or more sells everything), a
 *  number of whole `tokens`, or `all`. */
export type SellOptions = ({ readonly percent: number } | { readonly tokens: number } | { readonly all: true }) & {
  /** Reason why the strategy sells. It is recorded with the order, and cut after 500 characters. */
  readonly reason: string
  /** Tag of at most 50 characters; see `BuyOptions.tag`. */
  readonly tag?: string
}

/** Options of every conditional order. */
export interface Conditional {
  /** Seconds after which the order expires. Default: it does not expire. */
  readonly forSeconds?: number
  /** Name of a group, at most 100 characters. When an order of a group executes, the bot's other orders of the same
   *  group are cancelled. */
  readonly oneCancelsOther?: string
}

/** A buy at the price `atPrice` (above 0) or at a lower price. The price is the robust price, SOL a token. */
export type LimitBuyOptions = BuyOptions & Conditional & { readonly atPrice: number }

/** A sale of a held token at the price `atPrice` (above 0). `atPrice` is compared with the price of the exits, SOL a
 *  token. */
export type LimitSellOptions = SellOptions & Conditional & { readonly atPrice: number }

/** A buy together with its stop-loss and take-profit prices, SOL a token. They must be ordered: stopPrice < atPrice <
 *  takeProfitPrice. */
export interface BracketOptions extends Omit<BuyOptions, 'scaleIn'>, Conditional {
  /** Price at or below which the order buys, SOL a token, above 0. Default: the order buys immediately, and its stop
   *  and take-profit prices are checked against the robust price. */
  readonly atPrice?: number
  /** Sells all at or below this price, SOL a token, above 0. */
  readonly stopPrice: number
  /** Sells all at or above this price, SOL a token, above `stopPrice`. */
  readonly takeProfitPrice: number
}

/** A series of equal buys. The first buy is made immediately. A buy is skipped if it is refused, or if the price is
 *  above `maxPrice` when it is due. */
export interface DcaOptions extends Omit<BuyOptions, 'scaleIn'>, Pick<Conditional, 'oneCancelsOther'> {
  /** Interval in seconds; at least 1. */
  readonly everySeconds: number
  /** Number of buys; 1 to 10,000. */
  readonly times: number
  /** Highest price at which a buy is made, SOL a token, above 0. Default: any price. */
  readonly maxPrice?: number
}

/** Options of `bot.tokens`. */
export interface TokenQuery<S = unknown, I extends Indicators = NoIndicators> {
  /** Selects tokens. Default: all. */
  readonly where?: (token: Token<S, I>) => boolean
  /** Value by which the tokens are sorted, largest first. Tokens without a number come last. Tokens of the same value,
   *  and all tokens without `by`, are sorted by the time at which the bot first saw them, newest first. */
  readonly by?: (token: Token<S, I>) => number | undefined
  /** Largest number of tokens that is returned, 1 to 1,000. Default 100. */
  readonly limit?: number
}

/** An estimate of a trade at the current robust price. */
export interface Quote {
  /** SOL paid, including the fees of venue and service, or SOL received after these fees. */
  readonly sol: number
  /** Whole tokens. */
  readonly tokens: number
  /** Price impact of the trade itself, percent. */
  readonly impactPercent: number
  /** All fees, SOL: venue fee, service fee, base fee, priority fee and, for a buy, the rent of a token account. The
   *  fees of venue and service are also part of `sol`. Fees that are not known in advance are those of the paper fill
   *  model. */
  readonly feesSol: number
  /** `estimate`: the depth of the pool is estimated from the price, because the feed has no reserves. */
  readonly confidence: 'estimate'
}

/** The wallet of a bot's account. */
export interface WalletView {
  /** Balance of the wallet, SOL; undefined before the first reading. */
  readonly sol: number | undefined
  /** Worst-case cost of the open orders, SOL. */
  readonly reservedSol: number
}

/** What a bot has used of its limits. */
export interface BudgetView {
  /** SOL of this bot's buys in the last 60 minutes. */
  readonly solThisHour: number
  /** Realized and unrealized result since 00:00 UTC, SOL. */
  readonly profitTodaySol: number
  /** Whether the entries of the account are halted. */
  readonly halted: boolean
}

/** Values that a log line shows after its text: at most 20. Names are cut after 50 characters, texts after 200. */
export type LogFields = Readonly<Record<string, string | number | bigint | boolean | null | undefined>>

/** Writes lines to the log of the process. A text is cut after 500 characters. A bot may write a burst of 200 lines of
 *  `debug` and `info`, and then 2 a second. It may write a burst of 20 warnings, and then one in 10 s. Further lines
 *  are dropped, and the next line states their number. Lines are also dropped during the warm-up. */
export interface StrategyLog {
  /** Writes a line. A running process shows it with `--log-level debug`, a backtest with `--log debug`. */
  debug(text: string, fields?: LogFields): void
  /** Writes a line. A running process shows it, a backtest only with `--log`. */
  info(text: string, fields?: LogFields): void
  /** Writes a line as `info` does, and records the line in the journal. If `fields.mint` is a mint, `sluice why MINT`
   *  shows the line. */
  warn(text: string, fields?: LogFields): void
}

/** The handle through which a strategy reads and acts. Every method is synchronous. A bot may make a burst of 10,000
 *  requests, and then 500 a second. A request beyond this limit throws RangeError. */
export interface Bot<S = unknown, I extends Indicators = NoIndicators> {
  /** Name of the bot in the YAML. */
  readonly name: string
  /** State of the bot, durable over restarts. Plain JSON of at most 1,000,000 characters. To save it, assign a new
   *  value: `bot.state = { ... }`. The saved value is a frozen copy. Throws TypeError for a value that is not JSON. */
  state: Json
  /** Time of the current row or input, ms since the Unix epoch. */
  now(): Millis
  /** Returns a seeded random number in [0, 1). A replay gets the same sequence. @unitless */
  random(): number
  /** Returns tokens that the bot has seen and that are not freed (see `Token.durable`), including those that only an
   *  earlier process saw, if they have durable state or a position. A call costs one request, plus one for each 100 of
   *  these tokens. Throws TypeError or RangeError for invalid options. */
  tokens(query?: TokenQuery<S, I>): Token<S, I>[]
  /** Returns the bot's view of a token; undefined if `mint` is not a base58 public key. */
  token(mint: string): Token<S, I> | undefined
  /** Returns the bot's position in a mint; undefined if it has none. */
  position(mint: string): PositionView | undefined
  /** Returns the positions of the bot. */
  positions(): PositionView[]
  /** Open orders, followed by the conditional orders that are waiting or whose order is open. */
  orders(): OrderView[]
  /** Last fills of this run, at most 100, oldest first. */
  fills(): readonly FillView[]
  /** Returns the wallet of the bot's account. */
  wallet(): WalletView
  /** Returns the value of the wallet with its positions, computed as limits and `sluice status` compute it. */
  equity(): EquityView
  /** Returns how much of its limits the bot has used. */
  budget(): BudgetView
  /** Places a buy. Refused in `start` and during the warm-up (WARMING), without a price (PRICE_UNKNOWN), while another
   *  buy of the mint is open (LANE_BUSY), for a held token without `scaleIn` (POSITION_OPEN), for a wrong option
   *  (REQUEST_INVALID, AMOUNT_RANGE, SLIPPAGE_RANGE, FEE_RANGE), and if a limit, a filter or a token check refuses
   *  it. */
  buy(token: Token<S, I> | string, options: BuyOptions): Placed
  /** Places a sale; limits do not apply. Refused without a position (NO_POSITION) or while another sale is open
   *  (LANE_BUSY). */
  sell(token: Token<S, I> | string, options: SellOptions): Placed
  // The engine keeps conditional orders until they execute, expire or are cancelled, also across restarts. A bot may
  // have 2,000 of them at a time. Only prices that arrive after the call can trigger them.
  /** Buys at `atPrice` or below. Refused for a wrong option (REQUEST_INVALID) or if 2,000 conditional orders
   *  wait. Limits and filters decide when the price is reached. */
  limitBuy(token: Token<S, I> | string, options: LimitBuyOptions): Placed
  /** Sells at `atPrice` or above. Refused without a position (NO_POSITION) or for a wrong option (REQUEST_INVALID). */
  limitSell(token: Token<S, I> | string, options: LimitSellOptions): Placed
  /** Sells at `atPrice` or below. Refused without a position (NO_POSITION) or for a wrong option (REQUEST_INVALID). */
  stopSell(token: Token<S, I> | string, options: LimitSellOptions): Placed
  /** Buys with a stop-loss price and a take-profit price. Refused for the same reasons as a buy or a limit buy, and for
   *  prices in the wrong order (REQUEST_INVALID). */
  bracket(token: Token<S, I> | string, options: BracketOptions): Placed
  /** Buys the same amount repeatedly. Refused for a wrong option (REQUEST_INVALID); a refused installment is
   *  skipped. */
  dca(token: Token<S, I> | string, options: DcaOptions): Placed
  /** Cancels an order or a conditional order of this bot. Returns false if the order has ended or is being sent, or if
   *  it is an exit that is due. */
  cancel(orderId: string): boolean
  /** Replaces all exits of the bot's position in a mint. The shares of take-profit steps then refer to the tokens held
   *  now. Refused without a position (NO_POSITION) and for invalid rules (REQUEST_INVALID). */
  setExits(token: Token<S, I> | string, exits: ExitRules): Answer
  /** Estimates a buy of `sol`. Returns undefined without a robust price, or if `sol` is not positive and finite. */
  quoteBuy(token: Token<S, I> | string, sol: number): Quote | undefined
  /** Estimates a sale of whole tokens, above 0, or of `all`. Returns undefined without a robust price, or if there are
   *  no tokens to sell. */
  quoteSell(token: Token<S, I> | string, tokens: number | 'all'): Quote | undefined
  /** Sets a repeating timer with an interval of at least 0.1 s (TIMER_TOO_SHORT). A bot has at most 1,000 timers
   *  (TIMERS_FULL). A timer replaces another one with the same name. Timers survive a restart, with two exceptions: a
   *  timer that `start` set is removed if `start` does not set it again, and all timers of a bot are removed if it now
   *  runs another strategy. */
  every(name: string, seconds: number): Answer
  /** Sets a timer that fires once, after at least 0.1 s (TIMER_TOO_SHORT). The rules of `every` apply. */
  after(name: string, seconds: number): Answer
  /** Clears a timer. Does nothing if there is no timer of this name. */
  clear(name: string): void
  /** Subscribes to the rows of a mint. Returns false if `mint` is not a base58 public key, or if the bot already
   *  watches 5,000 mints (WATCHES_FULL). */
  watch(mint: string): boolean
  /** Ends the subscription that `watch` made. Does nothing if there is none. */
  unwatch(mint: string): void
  /** Writes lines to the log of the process; see `StrategyLog`. */
  readonly log: StrategyLog
  /** Sends a text to the operator's alerts (`alerts` of the YAML), and records it in the journal. The text is cut after
   *  500 characters. A bot may send a burst of 5 messages, and then 5 a minute. Returns false for a message beyond this
   *  limit, and during the warm-up. A backtest sends no messages. Throws TypeError if `text` is not a string. */
  message(text: string): boolean
  /** Records a decision not to trade, which `sluice why` shows. `why` is cut after 500 characters. */
  note(mint: string, why: string): void
}

/** Returns its argument. It exists to infer the types of a strategy. */
export function defineStrategy<
  P,
  S = undefined,
  I extends Indicators = NoIndicators,
  X extends Sources = NoSources,
  C extends Conditions = never,
>(strategy: Strategy<P, S, I, X, C>): Strategy<P, S, I, X, C> {
  return strategy
}

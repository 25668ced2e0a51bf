import type { ErrorCode } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { lamportsToSol, type Millis, wholeTokens } from '../../base/units.ts'
import type { Bar } from '../../market/bar.ts'
import type { Width } from '../../market/bar-width.ts'
import type { Liquidation } from '../accounting/liquidation.ts'
import type { Position, PositionState } from '../accounting/position.ts'
import { mark, profitOf, type TripFees, type TripMark } from '../accounting/trip-sums.ts'
import type { BotBars } from '../bars/bot-bars.ts'
import type { EngineState } from '../engine-state.ts'
import { copyExits, type ExitRules } from '../exits/exit-settings.ts'
import type { Fill, Order, OrderState } from '../order.ts'
import type { FillView, OrderView, PositionView, RoundTripView, Token } from '../strategy.ts'

/** The part of a bot that its views of tokens call. */
export interface ViewSource {
  readonly state: EngineState
  /** The bars of the bot; undefined if the strategy declares none. */
  readonly bars: BotBars | undefined
  durableOf(mint: string): Json
  saveDurable(mint: string, value: Json): void
}

const NO_INDICATORS: object = Object.freeze({})

/** A token as one bot sees it. A sweep has many views, and each access may miss the cache, so the object is small and
 *  begins with the fields that every row reads. The object is sealed and its prototype is frozen, because the engine
 *  reads the views of tokens ahead of their prints. Otherwise a strategy could define an accessor on a view, and learn
 *  from its calls which tokens will print next. */
export class TokenView implements Token<unknown> {
  readonly #source: ViewSource
  /** Number of the token; -1 after `forget`, because the number may then belong to another token. */
  #token: number
  #state: unknown
  /** The bot's position in this token; undefined if the bot has none. */
  held: HeldView | undefined
  readonly mint: string
  /** Time at which the bot first saw the token. */
  readonly seenAt: Millis
  /** The last recorded refusal of a request for this token. It is kept so that a strategy that repeats a refused
   *  request on every print does not fill the journal. */
  refused: { readonly code: ErrorCode; readonly at: Millis } | undefined

  constructor(source: ViewSource, token: number, state: unknown, seenAt: Millis) {
    const engine = source.state
    this.#source = source
    this.#token = token
    this.#state = state
    this.mint = engine.mints.list[token] as string
    this.seenAt = seenAt
    this.held = undefined
    this.refused = undefined
    Object.seal(this)
  }

  /** Whether the strategy keeps an object for the token. Runs no code of the strategy. */
  static keepsObject(view: TokenView | undefined): boolean {
    return view !== undefined && typeof view.#state === 'object'
  }

  get state(): unknown {
    return this.#state
  }

  set state(state: unknown) {
    this.#state = state
  }

  get durable(): Json {
    return this.#source.durableOf(this.mint)
  }

  set durable(value: Json) {
    this.#source.saveDurable(this.mint, value)
  }

  /** Detaches the view from its token number, which may be given to another token. */
  forget(): void {
    this.#token = -1
  }

  get price(): number | undefined {
    const { state } = this.#source
    return this.#token >= 0 ? state.prices.at(this.#token) : state.price(this.mint)
  }

  get position(): PositionView | undefined {
    return this.held
  }

  bars(width: Width): readonly Bar[] {
    const { bars } = this.#source
    if (bars === undefined) throw new TypeError('the strategy declares no bars; declare `bars`, next to `keys`')
    return bars.list(this.#token, width)
  }

  get indicators(): object {
    return this.#source.bars?.values(this.#token) ?? NO_INDICATORS
  }
}

Object.freeze(TokenView.prototype)

/** A position in SOL and whole tokens. Each getter reads the current position, so a strategy may keep the view. */
export class HeldView implements PositionView {
  readonly #position: Position
  readonly #liquidation: Liquidation

  constructor(liquidation: Liquidation, position: Position) {
    this.#liquidation = liquidation
    this.#position = position
  }

  shows(position: Position): boolean {
    return this.#position === position
  }

  get mint(): string {
    return this.#position.mint
  }
  get state(): PositionState {
    return this.#position.state
  }
  get tokens(): number {
    return wholeTokens(this.#position.tokens, this.#position.decimals)
  }
  get costSol(): number {
    return lamportsToSol(this.#position.costLamports)
  }
  get averagePrice(): number {
    return this.#position.averagePrice
  }
  get openedAt(): Millis {
    return this.#position.openedAt
  }
  get highPrice(): number {
    return this.#position.highPrice
  }
  get valueSol(): number | undefined {
    return this.#liquidation.shownSol(this.#position)
  }
  get realizedSol(): number {
    return lamportsToSol(this.#position.realizedLamports)
  }
  get tag(): string {
    return this.#position.tag ?? ''
  }
  get exits(): ExitRules {
    return copyExits(this.#position.exits)
  }
}

export function fillView(fill: Fill): FillView {
  const tokens = wholeTokens(fill.tokens, fill.decimals)
  const sol = lamportsToSol(fill.tradeLamports)
  const { orderId, mint, side, signature, time, final, tag = '' } = fill
  return {
    orderId,
    mint,
    side,
    sol,
    tokens,
    price: sol / tokens,
    feeSol: lamportsToSol(fill.feeLamports),
    signature,
    time,
    final,
    tag,
  }
}

export function orderView(
  { id, mint, side, tag = '' }: Pick<Order, 'id' | 'mint' | 'side'> & { readonly tag?: string | undefined },
  state: OrderState,
  code: ErrorCode | '',
  reason: string,
): OrderView {
  return { id, mint, side, state, code, reason, tag }
}

/** Ends the round trip of a position that has just closed, and returns the round trip. Returns undefined if the
 *  position never held tokens, or if it comes from an older journal, which has no sums of round trips. Must be called
 *  before the closed position is emitted. */
export function endTrip(position: Position): RoundTripView | undefined {
  const { mint, openedAt, trip, tag = '', reported = false } = position
  if (trip === undefined || trip.boughtLamports === 0) return undefined
  mark(position, 0)
  position.reported = true
  const { best, worst } = position
  const { buys, sells, entryReason, exitReason, exitTag, soldAt } = trip
  const closedAt = Math.max(openedAt, soldAt ?? openedAt)
  const profit = profitOf(trip, 0)
  return Object.freeze({
    mint,
    openedAt,
    closedAt,
    heldSeconds: (closedAt - openedAt) / 1000,
    profitSol: lamportsToSol(profit.lamports),
    profitPercent: profit.percent,
    costSol: lamportsToSol(trip.boughtLamports),
    proceedsSol: lamportsToSol(trip.soldLamports),
    feesSol: feesView(trip.fees),
    buys,
    sells,
    entryReason,
    entryTag: tag,
    exitReason,
    exitTag,
    best: markView(best ?? profit),
    worst: markView(worst ?? profit),
    revises: reported,
  })
}

function markView({ lamports, percent }: TripMark): RoundTripView['best'] {
  return { sol: lamportsToSol(lamports), percent }
}

function feesView({ venue, service, base, priority, tip, rent, failed, other }: TripFees): RoundTripView['feesSol'] {
  return {
    total: lamportsToSol(venue + service + base + priority + tip + rent + failed + other),
    venue: lamportsToSol(venue),
    service: lamportsToSol(service),
    base: lamportsToSol(base),
    priority: lamportsToSol(priority),
    tip: lamportsToSol(tip),
    rent: lamportsToSol(rent),
    failed: lamportsToSol(failed),
    other: lamportsToSol(other),
  }
}

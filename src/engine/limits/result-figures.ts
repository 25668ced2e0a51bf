import { dayOf, formatInstant, type Lamports, lamports, ZERO } from '../../base/units.ts'
import { type Liquidation, MOST_VALUE } from '../accounting/liquidation.ts'
import type { Position } from '../accounting/position.ts'
import type { EngineState } from '../engine-state.ts'
import type { ResultSums } from '../recovered-money.ts'
import type { LimitScope } from './limit-scope.ts'

/** Computes the results of bots and wallets: the result of the UTC day, the total result, and the number of losses in a
 *  row. The result of a day is the realized profit plus the change in the liquidation value of open positions since the
 *  day began. If the value of a position is unknown, the position counts as worthless in the current result, but at its
 *  cost in the values from which later losses are measured: the value at the start of the day, and the one after
 *  `forgive`. Both choices are pessimistic. */
export class BotResults {
  readonly #state: EngineState
  readonly #liquidation: Liquidation

  constructor(state: EngineState, liquidation: Liquidation) {
    this.#state = state
    this.#liquidation = liquidation
  }

  /** Returns the liquidation value of a position minus its cost, lamports. */
  profitOf(position: Position): number {
    return this.#now(position) - position.costLamports
  }

  /** Returns the liquidation value of the open positions minus their cost, lamports. */
  unrealized(scope: LimitScope): number {
    return this.#unrealized(scope, this.#now)
  }

  today(scope: LimitScope, unrealized = this.unrealized(scope)): number {
    const { sums } = scope
    return sums.dayRealizedLamports + unrealized - sums.dayStartUnrealizedLamports
  }

  /** Returns how far the result is below its highest realized value, lamports; at least 0. */
  drawdown(scope: LimitScope, unrealized: number): number {
    const { sums } = scope
    const before = sums.peakLamports
    const marked = sums.realizedLamports + unrealized
    raisePeak(sums, sums.peakLamports < sums.realizedLamports ? marked : sums.realizedLamports)
    if (sums.peakLamports !== before) scope.emit()
    return Math.max(0, sums.peakLamports - marked)
  }

  /** Returns the number of positions whose value is unknown. */
  unknown(scope: LimitScope): number {
    return this.#positionsOf(scope).filter((position) => this.#liquidation.of(position) === undefined).length
  }

  /** Returns the number of positions that count as worthless because their token is not traded. The loss of such a
   *  position is part of the result of every day, because each day's result begins with the last known value of the
   *  position. */
  dead(scope: LimitScope): number {
    const isDead = (position: Position): boolean =>
      this.#liquidation.of(position) === ZERO && this.#dayStart(position) > 0
    return this.#positionsOf(scope).filter(isDead).length
  }

  /** Starts a new UTC day, if one has begun. Must be called before any result of the day is booked. */
  roll(scope: LimitScope): void {
    const { sums } = scope
    const day = dayOf(this.#state.now)
    if (sums.day === day) return
    const dayStartUnrealizedLamports = this.#unrealized(scope, this.#dayStart)
    Object.assign(sums, { day, dayRealizedLamports: ZERO, dayStartUnrealizedLamports })
    scope.emit()
  }

  book(scope: LimitScope, resultLamports: number): void {
    const { sums } = scope
    sums.dayRealizedLamports = lamports(sums.dayRealizedLamports + resultLamports)
    const isForgiven = sums.peakLamports < sums.realizedLamports
    sums.realizedLamports = lamports(sums.realizedLamports + resultLamports)
    raisePeak(sums, sums.realizedLamports + (isForgiven ? this.#unrealized(scope, this.#now) : 0))
    scope.emit()
  }

  /** Counts a closed position by its result after fees and rent: a loss extends the losing streak, a profit ends it. */
  closed(scope: LimitScope, position: Position): void {
    const { sums, limits } = scope
    if (position.averagePrice === 0) return // the position never held bought tokens
    if (position.counted === true) return
    const lost = position.realizedLamports < position.feeLamports
    if (!lost && sums.losses === 0) return
    sums.losses = lost ? sums.losses + 1 : 0
    if (limits.maxLosingStreak !== null && sums.losses >= limits.maxLosingStreak) this.#pause(scope)
    scope.emit()
  }

  /** Ends a pause, and lets the drawdown begin again at the current result (`sluice resume`). A position of unknown
   *  value counts at its cost. If it counted as worthless, the drawdown would begin too low: once the price is known
   *  again, the limit would also allow a loss of this cost. */
  forgive(scope: LimitScope): void {
    const { sums } = scope
    const here = sums.realizedLamports + Math.min(0, this.#unrealized(scope, this.#forgiven))
    const peakLamports = lamports(Math.min(sums.peakLamports, here))
    if (sums.pausedUntil === 0 && sums.losses === 0 && sums.peakLamports === peakLamports) return
    Object.assign(sums, { pausedUntil: 0, losses: 0, peakLamports })
    scope.emit()
  }

  #pause({ sums, limits, section, bot }: LimitScope): void {
    const { now } = this.#state
    const { losses } = sums
    Object.assign(sums, { losses: 0, pausedUntil: now + limits.streakPauseMs })
    const until = formatInstant(sums.pausedUntil, now)
    const reason = `${losses} positions in a row were closed at a loss (${section}.maxLosingStreak); entries resume at ${until}`
    this.#state.emit({ kind: 'alarm', bot: bot ?? '', code: 'LOSING_STREAK', reason })
  }

  readonly #now = (position: Position): Lamports => this.#liquidation.of(position) ?? ZERO
  readonly #forgiven = (position: Position): Lamports => this.#liquidation.of(position) ?? position.costLamports
  readonly #dayStart = (position: Position): Lamports =>
    this.#liquidation.atLastPrice(position) ?? position.costLamports

  #unrealized(scope: LimitScope, worth: (position: Position) => Lamports): Lamports {
    let sum = 0
    const { bot } = scope
    for (const position of this.#state.book.positions.of(scope.account).values())
      if (bot === null || position.bot === bot) sum += worth(position) - position.costLamports
    return capped(sum)
  }

  #positionsOf({ bot, account }: LimitScope): Position[] {
    const all = [...this.#state.book.positions.of(account).values()]
    return bot === null ? all : all.filter((position) => position.bot === bot)
  }
}

/** Returns a sum of profits, capped at `MOST_VALUE`, because broken prints could make the sum arbitrarily large. */
export function capped(sum: number): Lamports {
  return lamports(Math.min(sum, MOST_VALUE))
}

/** Raises the peak, which is the result from which the drawdown is measured. `forgive` may have lowered the peak below
 *  the realized result, by the losses of open positions. When these positions recover, the peak rises again, so that
 *  the same loss is not forgiven twice. */
function raisePeak(sums: ResultSums, result: number): void {
  const peak = Math.min(result, sums.realizedLamports)
  if (peak > sums.peakLamports) sums.peakLamports = lamports(peak)
}

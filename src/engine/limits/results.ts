import { dayOf, formatInstant, type Lamports, lamports, ZERO } from '../../base/units.ts'
import { type Liquidation, MOST_VALUE } from '../accounting/liquidation.ts'
import type { Position } from '../accounting/position.ts'
import type { EngineState } from '../engine-state.ts'
import type { ResultSums } from '../recovered-money.ts'
import type { LimitScope } from './limit-scope.ts'

/** What bots and wallets have made: of the UTC day, since ever, and how often in a row they lost. The result of a day:
 *  realised, and what open positions would bring now less what they would have brought when it began. A position of
 *  which nobody knows what it is worth counts for the worse: as worth nothing now, as worth its cost where later losses
 *  are measured from. */
export class Results {
  readonly #session: EngineState
  readonly #liquidation: Liquidation

  constructor(session: EngineState, liquidation: Liquidation) {
    this.#session = session
    this.#liquidation = liquidation
  }

  today(scope: LimitScope): number {
    const { dayRealizedLamports, dayStartUnrealizedLamports } = scope.sums
    return dayRealizedLamports + this.#unrealized(scope, this.#now) - dayStartUnrealizedLamports
  }

  /** How far below its highest realised result it stands, what is held marked at what selling it would bring; 0 where
   *  it is not. */
  drawdown(scope: LimitScope): number {
    const { sums } = scope
    const before = sums.peakLamports
    const marked = sums.realizedLamports + this.#unrealized(scope, this.#now)
    raisePeak(sums, sums.peakLamports < sums.realizedLamports ? marked : sums.realizedLamports)
    if (sums.peakLamports !== before) scope.emit()
    return Math.max(0, sums.peakLamports - marked)
  }

  /** Positions of which nobody knows what they are worth. */
  unknown(scope: LimitScope): number {
    return this.#positionsOf(scope).filter((position) => this.#liquidation.of(position) === undefined).length
  }

  /** Positions that count as nothing because nobody trades them: each day begins with more than that. */
  dead(scope: LimitScope): number {
    const isDead = (position: Position): boolean =>
      this.#liquidation.of(position) === ZERO && this.#dayStart(position) > 0
    return this.#positionsOf(scope).filter(isDead).length
  }

  /** Begins the day where it is a new one, before anything of it counts. */
  roll(scope: LimitScope): void {
    const { sums } = scope
    const day = dayOf(this.#session.now)
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

  /** A position is sold: what it made, its fees and rent off, goes on with a losing streak, or ends it. */
  closed(scope: LimitScope, position: Position): void {
    const { sums, limits } = scope
    if (position.averagePrice === 0) return // nothing of it was ever bought
    if (position.counted === true) return
    const lost = position.realizedLamports < position.feeLamports
    if (!lost && sums.losses === 0) return
    sums.losses = lost ? sums.losses + 1 : 0
    if (limits.maxLosingStreak !== null && sums.losses >= limits.maxLosingStreak) this.#pause(scope)
    scope.emit()
  }

  /** A person lets entries go on: no pause any more, and a drawdown is measured from here. What nobody can see the loss
   *  of is not forgiven: were it taken for lost, its price would come back as room for another loss. */
  forgive(scope: LimitScope): void {
    const { sums } = scope
    const here = sums.realizedLamports + Math.min(0, this.#unrealized(scope, this.#forgiven))
    const peakLamports = lamports(Math.min(sums.peakLamports, here))
    if (sums.pausedUntil === 0 && sums.losses === 0 && sums.peakLamports === peakLamports) return
    Object.assign(sums, { pausedUntil: 0, losses: 0, peakLamports })
    scope.emit()
  }

  #pause({ sums, limits, section, bot }: LimitScope): void {
    const { now } = this.#session
    const { losses } = sums
    Object.assign(sums, { losses: 0, pausedUntil: now + limits.streakPauseMs })
    const until = formatInstant(sums.pausedUntil, now)
    const reason = `${losses} positions in a row were closed at a loss (${section}.maxLosingStreak); entries resume at ${until}`
    this.#session.emit({ kind: 'alarm', bot: bot ?? '', code: 'LOSING_STREAK', reason })
  }

  readonly #now = (position: Position): Lamports => this.#liquidation.of(position) ?? ZERO
  readonly #forgiven = (position: Position): Lamports => this.#liquidation.of(position) ?? position.costLamports
  readonly #dayStart = (position: Position): Lamports =>
    this.#liquidation.atLastPrice(position) ?? position.costLamports

  #unrealized(scope: LimitScope, worth: (position: Position) => Lamports): Lamports {
    let sum = 0
    for (const position of this.#positionsOf(scope)) sum += worth(position) - position.costLamports
    return lamports(Math.min(sum, MOST_VALUE))
  }

  #positionsOf({ bot, account }: LimitScope): Position[] {
    const all = [...this.#session.book.positions.of(account).values()]
    return bot === null ? all : all.filter((position) => position.bot === bot)
  }
}

/** A peak below what is realised is one from which a person had what was held lost left out: it rises as that comes
 *  back, so that nothing of it can be lost twice. */
function raisePeak(sums: ResultSums, result: number): void {
  const peak = Math.min(result, sums.realizedLamports)
  if (peak > sums.peakLamports) sums.peakLamports = lamports(peak)
}

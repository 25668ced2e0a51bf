import type { Millis } from '../../base/units.ts'
import { BAR_DOUBLES } from '../../market/bar.ts'
import type { BarFollower } from '../../market/bars.ts'
import type { TokenId } from '../../market/block.ts'
import type { Estimates } from '../conditions/condition-numbers.ts'
import { IndicatorMemory } from '../indicators/indicator-memory.ts'
import type { NumberIndicator } from '../indicators/number-indicator.ts'
import { BarPasser, type CursorOptions } from './bar-cursor.ts'

/** Largest number of consecutive silent bars (bars of intervals without a print) that an indicator counts. More of them
 *  would hardly change its value, but would take time. */
export const MOST_SILENT = 1_000

/** Bars of one width, with or without silent bars. */
export type BarSource = Omit<CursorOptions, 'mostSilent'>

/** The indicators of all bots over the bars of one width, for all tokens, if their state consists of numbers. Bots that
 *  declare the same indicator share its state, so the 64 param sets of a sweep over 8 fast and 8 slow averages need 16
 *  averages. The value of an indicator does not depend on which bots use it, or on how often they read it. */
export class SharedIndicators implements BarFollower, Estimates {
  /** The bars that the indicators count. */
  readonly source: BarSource
  readonly #passer: BarPasser
  readonly #indicators: NumberIndicator<unknown>[] = []
  /** The bots that use the indicators. */
  readonly #users = new Set<object>()
  /** Whether each bar updates the indicators as soon as it closes, because a condition may read them. Otherwise, bars
   *  are counted when a strategy reads an indicator. */
  #isEager = false
  #memory: IndicatorMemory | undefined

  constructor(source: BarSource) {
    this.source = source
    this.#passer = new BarPasser({ ...source, mostSilent: MOST_SILENT })
  }

  /** Identifies these bars among all bars: their width, and whether silent bars are among them. */
  get name(): string {
    return `${this.source.bars.width.name} ${this.source.isFilled ? 'filled' : 'as printed'}`
  }

  /** Adds an indicator for a bot. All bots must do so before the first bar closes. Returns the indicator's index. */
  add(user: object, indicator: NumberIndicator<unknown>, isEager: boolean): number {
    if (this.#memory !== undefined) throw new Error('invariant broken: an indicator was declared after the first bar')
    if (this.#users.size === 0) this.source.bars.addFollower(this)
    this.#users.add(user)
    this.#isEager ||= isEager
    const known = this.#indicators.findIndex(({ name }) => name === indicator.name)
    return known < 0 ? this.#indicators.push(indicator) - 1 : known
  }

  /** Current value of an indicator of a token, by the index of the indicator. */
  valueOf(index: number, token: TokenId): unknown {
    this.count(token)
    return this.#states().valueOf(token, index)
  }

  /** Writes one number of an indicator's current value to `to[at]`; NaN before there are enough bars. `count` must have
   *  been called for the token. */
  load(index: number, field: number, token: TokenId, to: Float64Array, at: number): void {
    this.#states().load(token, index, field, to, at)
  }

  /** Estimates the values of the indicators with these indexes. `count` must have been called for the token. */
  estimateAll(token: TokenId, indexes: readonly number[], to: Float64Array, at: number): void {
    this.#states().estimateAll(token, indexes, to, at)
  }

  /** Updates the indicators with the closed bars of a token. Counts the silent bars up to `until`; by default, up to
   *  the present. */
  count(token: TokenId, until?: Millis): void {
    const memory = this.#states()
    const line = memory.lineOf(token)
    if (this.#passer.isAtEnd(token, memory.lines, line)) return
    this.#passer.pass(token, memory.lines, line, memory, Number.NEGATIVE_INFINITY, until)
  }

  /** Whether it is possible that an indicator has not counted all closed bars yet. */
  get mayLack(): boolean {
    return this.#indicators.length > 0 && !this.#isEager
  }

  /** Updates the indicators with the stored bars of a token before its oldest bars are dropped. Counts no silent bars
   *  after the last stored bar: bars are dropped only when the next bar with prints is stored. */
  dropping(token: TokenId): void {
    const memory = this.#states()
    if (!this.#passer.hasAll(token, memory.lines, memory.lineOf(token))) this.count(token, Number.NEGATIVE_INFINITY)
  }

  closing(token: TokenId, doubles: Float64Array, at: number): void {
    const memory = this.#states()
    if (this.#isNext(memory, token, doubles, at)) memory.add(token, doubles, at)
  }

  closingAll(tokens: Uint32Array, count: number, doubles: Float64Array): void {
    const memory = this.#states()
    for (let index = 0; index < count; index++) {
      const token = tokens[index] as TokenId
      if (this.#isNext(memory, token, doubles, token * BAR_DOUBLES)) memory.stage(token, doubles, token * BAR_DOUBLES)
    }
    memory.addStaged()
  }

  /** Returns whether the indicators have counted all earlier bars of the token, so that they can count the bar that is
   *  about to close. If so, adds the silent bars before this bar. The numbers of the bar begin at `doubles[at]`. */
  #isNext(memory: IndicatorMemory, token: TokenId, doubles: Float64Array, at: number): boolean {
    const line = memory.lineOf(token)
    if (!this.#passer.skip(token, memory.lines, line, this.#isEager)) return false
    if (this.source.isFilled) this.#passer.fillBefore(token, memory.lines, line, memory, doubles, at)
    return true
  }

  /** Stops updating the indicators for a bot, because its strategy has ended. Frees their states after the last bot. */
  release(user: object): void {
    if (!this.#users.delete(user) || this.#users.size > 0) return
    this.source.bars.removeFollower(this)
    // A bot whose strategy ends in `start` may be the only user; the bots after it may then still add indicators.
    this.#memory = undefined
  }

  /** Frees the states of a token. */
  forget(token: TokenId): void {
    this.#memory?.forget(token)
  }

  #states(): IndicatorMemory {
    return this.#memory ?? this.#newMemory()
  }

  #newMemory(): IndicatorMemory {
    this.#memory = new IndicatorMemory(this.#indicators)
    return this.#memory
  }
}

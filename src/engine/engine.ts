import type { Millis, Seq } from '../base/units.ts'
import type { Bar } from '../market/bar.ts'
import type { Width } from '../market/bar-width.ts'
import type { Block, TokenId } from '../market/block.ts'
import type { Mints, TokenHolder } from '../market/mints.ts'
import type { Owner } from './accounting/by-mint.ts'
import type { Mark } from './accounting/position.ts'
import type { ThrownAtOf } from './bots/thrown-value.ts'
import { createParts } from './engine-parts.ts'
import { EngineRun } from './engine-run.ts'
import { Activity, EngineState } from './engine-state.ts'
import type { OwnedReading, PositionReading } from './exits/exit-levels.ts'
import type { Input, Output } from './messages.ts'
import type { EnginePort } from './ports.ts'
import type { Strategy } from './strategy.ts'

export interface EngineOptions {
  /** Shared memory that a watchdog in another thread reads; see `Activity`. */
  readonly cells?: Int32Array
  /** Finds the place in the strategy's code that threw. If absent, alarms do not name the place. */
  readonly thrownAt?: ThrownAtOf
}

/** Runs all bots and accounts of one process. The first input is `start`; the rows of the warm-up (`warm`) and then the
 *  stream of rows and inputs follow. Live trading, paper trading, backtest and replay use the same engine and differ in
 *  the source of that stream. */
export class Engine implements EnginePort, TokenHolder {
  readonly outputs: Output[] = []
  readonly #mints: Mints
  readonly #strategies: ReadonlyMap<string, Strategy>
  readonly #activity: Activity
  readonly #thrownAt: ThrownAtOf | undefined
  /** The engine of the last `start`; undefined before the first `start`. Each further `start` replaces it. */
  #run: EngineRun | undefined

  /** `strategies`: the strategies by the name that the settings of the bots use. */
  constructor(mints: Mints, strategies: ReadonlyMap<string, Strategy>, { cells, thrownAt }: EngineOptions = {}) {
    this.#mints = mints
    this.#strategies = strategies
    this.#activity = new Activity(cells)
    this.#thrownAt = thrownAt
  }

  rows(firstSeq: Seq, block: Block, from: number, to: number): number {
    return this.#started().rows(firstSeq, block, from, to)
  }

  warm(block: Block, row: number): void {
    this.#started().warm(block, row)
  }

  input(seq: Seq, time: Millis, input: Input): void {
    if (input.kind === 'start') {
      const state = new EngineState(this.outputs, this.#mints, input, this.#activity, this.#thrownAt)
      this.#run = new EngineRun(createParts(state, input, this.#strategies))
    }
    this.#started().input(seq, time, input)
  }

  holds(token: TokenId): boolean {
    return this.#run?.holds(token) ?? false
  }

  /** Returns the highest prices and the best and worst profits that have changed since the last call. */
  takeMarks(): Mark[] {
    return this.#started().takeMarks()
  }

  /** Returns the price that the exits of an account's position use, SOL a token; undefined without a position or a
   *  price. */
  exitPriceOf(owner: Owner): number | undefined {
    return this.#started().exitPriceOf(owner)
  }

  /** Returns the prices and times that the engine has seen for the token of a position; undefined without a
   *  position. */
  readingOf(owner: Owner): PositionReading | undefined {
    return this.#started().readingOf(owner)
  }

  /** Returns the robust price of a token, SOL a token; undefined if there is none. */
  price(mint: string): number | undefined {
    return this.#started().price(mint)
  }

  /** Returns the closed bars of a token as the strategy of a bot reads them, oldest first. Throws TypeError for a width
   *  that the strategy does not declare. */
  bars(bot: string, mint: string, width: Width): readonly Bar[] {
    return this.#started().bars(bot, mint, width)
  }

  /** Returns the prices and times of all positions that are not closed. */
  readings(): OwnedReading[] {
    return this.#started().readings()
  }

  #started(): EngineRun {
    if (this.#run === undefined) throw new Error('invariant broken: the first input of an engine is not `start`')
    return this.#run
  }
}

import { BacktestResults } from '../../backtest/results.ts'
import { withWatched } from '../../backtest/tape-pauses.ts'
import { lamportsToSol, type Millis } from '../../base/units.ts'
import type { Config } from '../../config/config.ts'
import { alarmText } from '../../engine/bots/thrown-value.ts'
import type { Mints } from '../../market/mints.ts'
import { playItem, type TapeItem } from '../../simulation/tape-source.ts'
import { SimulatedProcess } from '../simulated-process.ts'
import { EventLog } from './event-log.ts'
import type { VersionReport } from './version-report.ts'

/** Runs one version of a strategy on a part of the tape. The part may grow during the run. */
export class VersionRun {
  readonly #log = new EventLog()
  readonly #results: BacktestResults
  readonly #process: SimulatedProcess
  #rows = 0
  #ended = ''

  constructor(config: Config, mints: Mints, startsAt: Millis) {
    const names = config.bots.map(({ name }) => name)
    this.#results = new BacktestResults(names, { logged: false, journal: this.#log })
    this.#process = new SimulatedProcess({
      ...{ config, mints, startsAt, journal: this.#results },
      ended: (alarm) => {
        this.#ended ||= alarmText(alarm)
      },
    })
  }

  play(item: TapeItem): void {
    const { clock, sink } = this.#process
    if (item.kind === 'rows' || item.input.kind !== 'gap') {
      this.#rows += playItem(item, clock, sink)
      return
    }
    // The clock advances before the row is handled, because earlier orders and timers can still change which tokens the
    // bots watch.
    clock.advanceTo(item.time)
    sink.post(withWatched(item.input, this.#process.wanted))
  }

  /** Advances the clock without rows, so that orders land and timers fire. */
  advanceTo(time: Millis): void {
    const { clock } = this.#process
    if (time > clock.now()) clock.advanceTo(time)
  }

  /** Results so far. `from`: index of the first event to include. */
  report(from = 0): VersionReport {
    const { bots } = this.#results
    const sum = (of: (bot: (typeof bots)[number]) => number): number => bots.reduce((all, bot) => all + of(bot), 0)
    const worth = sum(({ positions }) =>
      [...positions.values()].reduce((all, position) => all + this.#process.valueOf(position), 0),
    )
    return {
      rows: this.#rows,
      orders: sum(({ orders }) => orders),
      fills: sum(({ buys, sells }) => buys + sells),
      refused: sum(({ refused }) => [...refused.values()].reduce((all, count) => all + count, 0)),
      positions: sum(({ positions }) => positions.size),
      netSol: lamportsToSol(sum(({ walletLamports }) => walletLamports) + worth),
      events: this.#log.events.slice(from),
      ended: this.#ended,
    }
  }
}

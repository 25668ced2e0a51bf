import type { Millis } from '../../base/units.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import { sampled } from './samples.ts'

/** Number of points that are kept of a curve when some are dropped. Up to twice as many are collected before. */
const KEPT_POINTS = 1_000
/** Number of records that one query reads. */
const ROWS_AT_ONCE = 5_000

/** Profit at ascending times, lamports. */
export interface Curve {
  readonly times: Millis[]
  readonly profits: number[]
}

/** The results of the bots over time that running processes have recorded, open positions included. Each refresh reads
 *  only the new records. */
export class ResultCurves {
  readonly #reader: JournalReader
  readonly #curves = new Map<string, Curve>()
  #row = 0

  constructor(reader: JournalReader) {
    this.#reader = reader
  }

  /** Returns the curve of a bot in an account; undefined if nothing was recorded. */
  of({ account, bot }: { readonly account: string; readonly bot: string }): Curve | undefined {
    return this.#curves.get(keyOf(account, bot))
  }

  refresh(): void {
    while (!this.refreshMore());
  }

  /** Reads the next records, which takes a few milliseconds. Returns whether it has read all. */
  refreshMore(): boolean {
    const results = this.#reader.netResultsAfter(this.#row, ROWS_AT_ONCE)
    for (const { row, time, account, bot, netLamports } of results) {
      const { times, profits } = this.#curveOf(keyOf(account, bot))
      // The clock may have been set back before a start.
      times.push(Math.max(time, times.at(-1) ?? 0))
      profits.push(netLamports)
      this.#row = row
    }
    return results.length < ROWS_AT_ONCE
  }

  #curveOf(key: string): Curve {
    const known = this.#curves.get(key) ?? { times: [], profits: [] }
    const curve = known.times.length < 2 * KEPT_POINTS ? known : thinned(known)
    this.#curves.set(key, curve)
    return curve
  }
}

function keyOf(account: string, bot: string): string {
  return `${account}\n${bot}`
}

function thinned({ times, profits }: Curve): Curve {
  const kept = sampled(times, profits, KEPT_POINTS)
  return { times: kept.map((at) => times[at] as Millis), profits: kept.map((at) => profits[at] as number) }
}

import type { Millis } from '../../base/units.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import { sampled } from './samples.ts'

/** Maximum number of points that are kept of a curve. Twice as many are collected before some are dropped. */
const MOST_POINTS = 5_000

/** Profit at ascending times, lamports. */
export interface Curve {
  readonly times: Millis[]
  readonly profits: number[]
}

/** The results of the bots over time that a running process has recorded, open positions included. Each refresh reads
 *  only the new records. */
export class ResultCurves {
  readonly #reader: JournalReader
  readonly #curves = new Map<string, Curve>()
  #upTo: Millis = 0

  constructor(reader: JournalReader) {
    this.#reader = reader
  }

  /** Returns the curve of a bot in an account; undefined if nothing was recorded. */
  of({ account, bot }: { readonly account: string; readonly bot: string }): Curve | undefined {
    return this.#curves.get(keyOf(account, bot))
  }

  refresh(): void {
    for (const { time, account, bot, netLamports } of this.#reader.netResultsAfter(this.#upTo)) {
      const { times, profits } = this.#curveOf(keyOf(account, bot))
      times.push(time)
      profits.push(netLamports)
      this.#upTo = time
    }
  }

  #curveOf(key: string): Curve {
    const known = this.#curves.get(key) ?? { times: [], profits: [] }
    const curve = known.times.length < 2 * MOST_POINTS ? known : thinned(known)
    this.#curves.set(key, curve)
    return curve
  }
}

function keyOf(account: string, bot: string): string {
  return `${account}\n${bot}`
}

function thinned({ times, profits }: Curve): Curve {
  const kept = sampled(times, profits, MOST_POINTS)
  return { times: kept.map((at) => times[at] as Millis), profits: kept.map((at) => profits[at] as number) }
}

import { seededRandom } from '../../base/random.ts'
import type { Config } from '../../config/config.ts'
import { freshInstances } from '../../config/strategies.ts'
import { type Market, type MarketItem, withItems } from '../../journal/tape/market-tape.ts'
import { RowsRead, type RowsReport } from '../rows-read.ts'
import { runBacktest } from '../run.ts'
import { DecisionRecord, type Departure, type Entry } from './decision-record.ts'
import { OutsideWatch } from './outside-watch.ts'
import { upTo, type Veil, veiled } from './veiled-block.ts'

/** Number of check runs with a cut tape. In each of these runs, the tape ends after a different row. */
const CUTS = 100
/** At most `LATE_CUTS` of the check runs with a cut tape end after this number of rows, because a run that ends late
 *  takes long. */
const CUT_ROWS = 80_000
const LATE_CUTS = 4
/** Number of rows after which the progress is reported again. */
const REPORT_ROWS = 1_000
/** What the strategies read in place of the rows after the current row. The check makes one run with each value. */
const VEILS: readonly Veil[] = ['nothing', 0.37, 0.71]

/** Result of the check that decisions do not depend on later rows. */
export interface Causality {
  /** Numbers of rows after which the tape was cut. */
  readonly cuts: readonly number[]
  /** Number of decisions and reports that were compared, over all runs. */
  readonly compared: number
  /** First difference between the run over the whole tape and a check run; null if all runs agree. */
  readonly divergence: Divergence | null
  /** What the strategies read from outside of the tape, with the place in the code. */
  readonly outside: readonly string[]
}

export interface Divergence {
  /** `memory`: a second run with the same modules decided differently. `future`: a run without the later rows decided
   *  differently. */
  readonly cause: 'memory' | 'future'
  /** If a run with a cut tape revealed the difference: number of rows of the cut tape. Otherwise: number of rows before
   *  the difference. */
  readonly cut: number
  /** The record entry at this index in the run over the whole tape; null if that run has no such entry. */
  readonly whole: Entry | null
  readonly cutOff: Entry | null
}

/** Plays a tape in new instances of the strategies, and compares all decisions and fills with those of check runs. The
 *  first check run uses the same modules as the first run: a difference reveals data that a strategy kept from the
 *  first run. In some check runs, the strategies cannot see any row after the current one. In the others, the tape ends
 *  right after a row that caused a decision. Also reports what the strategies can read from outside of the tape,
 *  because a comparison of runs cannot reveal that. */
export async function verifyCausality(
  config: Config,
  market: Market,
  seed: number,
  progress?: RowsReport,
): Promise<Causality> {
  const watch = new OutsideWatch()
  try {
    const proof = new Proof(await freshInstances(config), market, seed, progress)
    const divergence = proof.run()
    const whole = divergence && (await proof.wholeEntry(await freshInstances(config), divergence))
    const { cuts, compared } = proof
    return {
      ...{ cuts, compared, outside: await watch.end(config) },
      divergence: divergence && {
        ...{ cause: divergence.cause, cut: divergence.cut },
        ...{ whole: whole ?? null, cutOff: divergence.entry ?? null },
      },
    }
  } finally {
    watch.release()
  }
}

interface Found extends Departure {
  readonly cause: Divergence['cause']
  readonly cut: number
}

class Proof {
  cuts: readonly number[] = []
  compared = 0
  readonly #config: Config
  readonly #market: Market
  readonly #seed: number
  readonly #whole = new DecisionRecord()
  readonly #read: RowsRead

  constructor(config: Config, market: Market, seed: number, progress: RowsReport | undefined) {
    this.#config = config
    this.#read = new RowsRead(progress)
    this.#market = market
    this.#seed = seed
  }

  /** Returns the first difference between the run over the whole tape and a check run; null if all runs agree. */
  run(): Found | null {
    const { rows } = this.#market
    const { items } = itemsOf(this.#market)
    const others = (1 + VEILS.length) * rows
    this.#read.expect(rows + others + usualCutRows(rows))
    this.#play(this.#config, items, this.#whole)
    this.cuts = this.#drawCuts()
    this.#read.expect(others + this.cuts.reduce((sum, cut) => sum + cut, 0))
    return (
      this.#compare('memory', items) ??
      first(VEILS, (veil) => this.#compare('future', (mints) => veiled(items(mints), veil))) ??
      first(this.cuts, (cut) => this.#compare('future', (mints) => upTo(items(mints), cut), cut))
    )
  }

  /** Repeats the first run in new instances, to get the text of the record entry that differs. */
  wholeEntry(config: Config, { index }: Found): Entry | undefined {
    const record = new DecisionRecord({ wanted: index })
    this.#read.expect(this.#market.rows)
    this.#play(config, itemsOf(this.#market).items, record)
    return record.entry
  }

  #play(config: Config, items: Market['items'], record: DecisionRecord): void {
    const market = withItems(this.#market, (mints) => rowByRow(items(mints), record, this.#read))
    runBacktest(config, market, { partial: true, tolerant: true, journal: record })
  }

  #compare(cause: Divergence['cause'], items: Market['items'], cut?: number): Found | null {
    const record = new DecisionRecord({ expected: this.#whole })
    this.#play(this.#config, items, record)
    const departure = record.departure(cut)
    if (departure !== undefined)
      return {
        ...departure,
        cause,
        cut: cut ?? Math.min(record.rowsAt(departure.index), this.#whole.rowsAt(departure.index)),
      }
    this.compared += cut === undefined ? record.length : record.lengthAt(cut)
    return null
  }

  /** Draws the rows after which the tape is cut, one row for each check run with a cut tape. Draws rows that caused a
   *  decision; if there are too few of them, draws other rows as well. */
  #drawCuts(): number[] {
    const random = seededRandom(this.#seed)
    const { rows } = this.#market
    const deciding = this.#whole.decidingRows
    const drawn = new Set<number>()
    const draw = (from: readonly number[], count: number): void => {
      const left = [...from]
      for (let taken = 0; taken < count && left.length > 0; taken++) {
        const index = random.integer(left.length)
        drawn.add(left[index] as number)
        left[index] = left.at(-1) as number
        left.pop()
      }
    }
    draw(
      deciding.filter((row) => row > CUT_ROWS),
      LATE_CUTS,
    )
    draw(
      deciding.filter((row) => row <= CUT_ROWS),
      CUTS - drawn.size,
    )
    const last = Math.min(rows, CUT_ROWS) - 1
    while (drawn.size < Math.min(CUTS, last)) drawn.add(1 + random.integer(last))
    return [...drawn].sort((a, b) => a - b)
  }
}

function itemsOf(market: Market): Pick<Market, 'items'> {
  return { items: (mints) => market.items(mints) }
}

function first<T>(from: readonly T[], find: (one: T) => Found | null): Found | null {
  for (const one of from) {
    const found = find(one)
    if (found !== null) return found
  }
  return null
}

/** Estimates the total number of rows of all cut tapes, for the progress of the check, before their random lengths are
 *  drawn. `rows`: number of rows of the whole tape. */
function usualCutRows(rows: number): number {
  const early = Math.min(rows, CUT_ROWS) / 2
  return rows <= CUT_ROWS ? CUTS * early : (CUTS - LATE_CUTS) * early + (LATE_CUTS * (rows + CUT_ROWS)) / 2
}

function* rowByRow(
  items: Iterable<MarketItem>,
  record: DecisionRecord,
  read: RowsRead,
): Generator<MarketItem, void, undefined> {
  let rows = 0
  for (const item of items) {
    if (item.kind !== 'rows') {
      yield item
      continue
    }
    for (let from = item.from; from < item.to; from++) {
      yield { ...item, from, to: from + 1 }
      record.passed(++rows)
      if (rows % REPORT_ROWS === 0) read.read(REPORT_ROWS)
    }
  }
  read.read(rows % REPORT_ROWS)
}

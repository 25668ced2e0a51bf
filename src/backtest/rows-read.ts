import type { Entry } from '../engine/replay/compare-decisions.ts'
import { type Market, type MarketItem, withItems } from '../journal/tape/market-tape.ts'

/** Receives the number of rows that a command has read, and the total number. */
export type RowsReport = (rows: number, of: number) => void

/** Returns the same market. Its rows are reported while `passes` passes over it read them. */
export function reporting(market: Market, passes: number, report?: RowsReport): Market {
  const read = new RowsRead(report)
  read.expect(passes * market.rows)
  return read.market(market)
}

/** Counts the rows that the passes of a command read, so that the command can show how much of its work is done. */
export class RowsRead {
  readonly #report: RowsReport
  #rows = 0
  #of = 0

  constructor(report: RowsReport = () => {}) {
    this.#report = report
  }

  /** Sets the number of rows that are still to be read. */
  expect(rows: number): void {
    this.#of = this.#rows + rows
  }

  /** Adds rows that were read. */
  read(rows: number): void {
    this.#rows += rows
    this.#report(this.#rows, this.#of)
  }

  /** Yields the same items and adds their rows. */
  *items<Item extends MarketItem | Entry>(items: Iterable<Item>): Generator<Item, void, undefined> {
    for (const item of items) {
      yield item
      if (item.kind === 'rows') this.read(item.to - item.from)
    }
  }

  /** Returns the same market. The rows of each pass over it are added. */
  market(market: Market): Market {
    return withItems(market, (mints) => this.items(market.items(mints)))
  }
}

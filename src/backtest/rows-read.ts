import type { Entry } from '../engine/replay/compare-decisions.ts'
import { type Market, type MarketItem, withItems } from '../journal/tape/market-tape.ts'

/** Receives the number of market rows that a command has read so far, and the total number. */
export type RowsReport = (rows: number, of: number) => void

/** Wraps a market, so that `report` receives the number of rows that were read from it. `passes`: expected number of
 *  passes. */
export function reporting(market: Market, passes: number, report?: RowsReport): Market {
  const read = new RowsRead(report)
  read.expect(passes * market.rows)
  return read.market(market)
}

/** Counts the rows that a command has read in all its passes over the tape, to show how much of the work is done. */
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

  /** Yields all items unchanged, and counts the rows in them as read. */
  *items<Item extends MarketItem | Entry>(items: Iterable<Item>): Generator<Item, void, undefined> {
    for (const item of items) {
      yield item
      if (item.kind === 'rows') this.read(item.to - item.from)
    }
  }

  /** Wraps a market, so that the rows that are read from it are counted, in every pass. */
  market(market: Market): Market {
    return withItems(market, (mints) => this.items(market.items(mints)))
  }
}

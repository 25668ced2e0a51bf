import { reportedNames } from '../../backtest/results-folder.ts'
import type { Worth } from '../../engine/accounting/money.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import type { TapeIndex, TokenName } from '../../journal/tape/tape-index.ts'
import { MoneyBooks } from './money-books.ts'
import { ResultCurves } from './result-curves.ts'
import { TokenPrints } from './token-prints.ts'
import type { Named } from './types.ts'

/** Maximum that one step of `warmUp` reads: `seqs` rows of the journal, and `postings` postings of the ledger. A step
 *  takes about 50 ms. */
const STEPS = { seqs: 50_000, postings: 1_000 }

/** A journal that another process may be writing, with the indexes that the API keeps in memory. Each request reads
 *  only the rows that were written since the last request. */
export class DeskJournal {
  readonly reader: JournalReader
  readonly #tape: TapeIndex
  readonly #money: MoneyBooks
  readonly #prints: TokenPrints
  readonly #results: ResultCurves
  readonly #worth: () => Worth
  /**
   * Names of tokens by mint, from the report of a backtest. They are needed because the journal of a backtest has no
   * tape, on which the names would be recorded.
   */
  readonly #reported: ReadonlyMap<string, TokenName>

  /** `worth`: returns the present values of the open positions. */
  constructor(reader: JournalReader, worth: () => Worth) {
    this.reader = reader
    this.#worth = worth
    this.#reported = reportedNames(reader.path)
    reader.indexDecisions()
    this.#tape = reader.tapeIndex()
    this.#money = new MoneyBooks(reader)
    this.#prints = new TokenPrints(reader, this.#tape)
    this.#results = new ResultCurves(reader)
  }

  /** Index of the tape's tokens, including the rows that were written since the last request. */
  get tape(): TapeIndex {
    this.#tape.refresh()
    return this.#tape
  }

  /** Symbol and name of a token; '' if they are unknown. */
  nameOf(mint: string): TokenName {
    const { tape } = this
    return this.#reported.get(mint) ?? tape.nameOf(mint)
  }

  /** Present values of the open positions. */
  get worth(): Worth {
    return this.#worth()
  }

  /** Results of the bots, including the fills that were written since the last request. */
  get money(): MoneyBooks {
    this.#money.refresh()
    return this.#money
  }

  /** Recorded results of the bots over time, including those that were written since the last request. */
  get results(): ResultCurves {
    this.#results.refresh()
    return this.#results
  }

  /** Prints of the tape's tokens, including those that were written since the last request. */
  get prints(): TokenPrints {
    this.#tape.refresh()
    return this.#prints
  }

  /** Reads in advance, step by step, the data that the first requests of a client need. A step is so short that the
   *  stream of changes is not delayed noticeably. */
  *warmUp({ seqs, postings } = STEPS): Generator<void, void, undefined> {
    while (!this.reader.indexMoreDecisions(seqs)) yield
    yield
    this.#tape.refresh()
    yield
    while (!this.#money.refresh(postings)) yield
    yield
    this.#money.closedTrips()
    yield
    while (!this.#results.refreshMore()) yield
  }

  /** Adds the symbol of its token to each row. */
  named<Row extends { readonly mint: string }>(rows: readonly Row[]): Named<Row>[] {
    const { tape } = this
    const reported = this.#reported
    return rows.map((row) => ({ ...row, symbol: (reported.get(row.mint) ?? tape.nameOf(row.mint)).symbol }))
  }
}

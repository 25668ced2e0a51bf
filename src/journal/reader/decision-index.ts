import type { Database } from 'better-sqlite3'
import type { Seq } from '../../base/units.ts'

/** Maximum number of outputs in the index: the newest ones. */
const MOST_OUTPUTS = 500_000

/** Key under which the index lists outputs whose text may contain any order or mint: log lines and messages of
 *  strategies, and conditional orders. */
export const UNNAMED = ''

/** Value of column `n` in the index for a report. For an output, the column contains the number of the output within
 *  its seq. */
export const REPORT_N = -1

const ORDER_ID = `substr(json, instr(json, '"orderId":"') + 11,
  instr(substr(json, instr(json, '"orderId":"') + 11, 40), '"') - 1)`

/** An index of the outputs and reports about a token or an order. It is a temporary table of the reader. The journal
 *  itself has no such index, because an index would add a page to the commit of every order. Each use first adds the
 *  rows that were written since the last use. Only the newest half million outputs are indexed. */
export class DecisionIndex {
  readonly #db: Database
  #upTo: Seq | undefined

  constructor(db: Database) {
    this.#db = db
    db.pragma('temp_store = MEMORY')
    db.exec('CREATE TEMP TABLE place (key TEXT, seq INTEGER, n INTEGER, PRIMARY KEY (key, seq, n)) WITHOUT ROWID')
  }

  /** Adds new rows. Call it on the snapshot on which the index is used. `most`: number of seqs that this call may add.
   *  Returns whether the index contains all rows now. */
  refresh(most = Number.POSITIVE_INFINITY): boolean {
    const last =
      this.#db
        .prepare<[], Seq>(
          'SELECT max(seq) FROM (SELECT max(seq) AS seq FROM output UNION ALL SELECT max(seq) FROM input)',
        )
        .pluck()
        .get() ?? 0
    const from = this.#upTo ?? this.#begin()
    if (last <= from) return true
    const upTo = Math.min(last, from + most)
    const add = (rows: string): void => {
      this.#db.prepare<[Seq, Seq]>(`INSERT OR IGNORE INTO temp.place (key, seq, n) ${rows}`).run(from, upTo)
    }
    add(`SELECT mint, seq, n FROM output WHERE seq > ? AND seq <= ? AND mint <> ''
      AND kind IN ('refused', 'note', 'position', 'conditional')`)
    add(
      `SELECT '${UNNAMED}', seq, n FROM output WHERE seq > ? AND seq <= ? AND kind IN ('log', 'message', 'conditional')`,
    )
    add(`SELECT reason, seq, n FROM output WHERE seq > ? AND seq <= ? AND kind = 'cancel'`)
    add(`SELECT ${ORDER_ID}, seq, ${REPORT_N} FROM input WHERE seq > ? AND seq <= ? AND kind = 'report'`)
    this.#upTo = upTo
    return upTo === last
  }

  /** Returns the seq after which the index begins. */
  #begin(): Seq {
    const sql = `SELECT seq FROM output ORDER BY seq DESC, n DESC LIMIT 1 OFFSET ${MOST_OUTPUTS}`
    return this.#db.prepare<[], Seq>(sql).pluck().get() ?? 0
  }
}

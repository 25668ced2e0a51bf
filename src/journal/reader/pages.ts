import type { Database } from 'better-sqlite3'
import type { Millis, Seq } from '../../base/units.ts'

/** Kinds of outputs that are lines of the log. */
export type LogKind = 'alarm' | 'log' | 'message' | 'refused' | 'note'

export interface LogRow {
  readonly seq: Seq
  readonly n: number
  readonly time: Millis
  readonly kind: LogKind
  readonly bot: string
  readonly mint: string
  readonly code: string
  readonly reason: string
}

/** Rows of a log page that are wanted; undefined: all. */
export interface LogFilter {
  readonly kinds: readonly LogKind[]
  readonly bot: string | undefined
  readonly mint: string | undefined
}

/** Most outputs that one page of the log reads. */
const MOST_READ = 20_000

/** Reads the journal's lists in pages, newest first. Each page reads a bounded number of rows. */
export class Pages {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  /** Lines of the log before an output. `end`: the oldest output that was read if the page ends before the journal
   *  does; undefined if there are no older lines. */
  log(
    { kinds, bot, mint }: LogFilter,
    before: readonly [Seq, number],
    limit: number,
  ): { readonly rows: LogRow[]; readonly end: readonly [Seq, number] | undefined } {
    const wanted = [`kind IN (${kinds.map((kind) => `'${kind}'`).join(', ')})`]
    if (bot !== undefined) wanted.push('bot = @bot')
    if (mint !== undefined) wanted.push('mint = @mint')
    const read = `FROM output WHERE (seq, n) < (@seq, @n) ORDER BY seq DESC, n DESC LIMIT ${MOST_READ}`
    const given = { seq: before[0], n: before[1], bot, mint, limit }
    const rows = this.#db
      .prepare<[object], LogRow>(
        `SELECT * FROM (SELECT seq, n, time, kind, bot, mint, code, reason ${read})
         WHERE ${wanted.join(' AND ')} LIMIT @limit`,
      )
      .all(given)
    const last = rows.at(-1)
    if (rows.length === limit && last !== undefined) return { rows, end: [last.seq, last.n] }
    const oldest = this.#db
      .prepare<[object], { seq: Seq; n: number }>(
        `SELECT seq, n ${read.replace(/LIMIT \d+/, 'LIMIT 1 OFFSET')} ${MOST_READ - 1}`,
      )
      .get({ seq: before[0], n: before[1] })
    return { rows, end: oldest && [oldest.seq, oldest.n] }
  }
}

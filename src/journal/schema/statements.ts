import type { Database, Statement } from 'better-sqlite3'
import { FILL_STATEMENT, type SqlValue } from './fills.ts'
import { AUDIT, PAPER_FAILED } from './ledger.ts'
import { ORDER_COLUMNS, PAST_POSITION_COLUMNS, pack } from './packed-records.ts'
import { checksumSql, rowChecksum, sealedInsert } from './seals.ts'
import { LAST_SEQ } from './stretches.ts'

/** Marks a segment as ended. Parameters: time, number of the segment. */
const SEGMENT_ENDED = `WITH ending (at, ends, last) AS (SELECT ?, ?, (${LAST_SEQ}))
  UPDATE segment SET ended = at, last_seq = last, checksum = ${checksumSql('segment', { ended: 'at', last_seq: 'last' })}
  FROM ending WHERE number = ends`

/** Inserts of rows with a checksum. `Statements.run` adds the checksum to the values. */
const SEALED_INSERTS = {
  segment: sealedInsert('segment'),
  input: sealedInsert('input'),
  output: sealedInsert('output'),
  attempt: sealedInsert('attempt'),
  report: sealedInsert('report'),
  mark: sealedInsert('mark', 'INSERT OR REPLACE'),
  tripMark: sealedInsert('trip_mark', 'INSERT OR REPLACE'),
  netResult: sealedInsert('net_result'),
  slot: sealedInsert('slot', 'INSERT OR REPLACE'),
  wallet: `${sealedInsert('wallet')} ON CONFLICT DO UPDATE SET json = excluded.json, checksum = excluded.checksum`,
  walletTransaction: sealedInsert('wallet_transaction', 'INSERT OR REPLACE'),
  learned: sealedInsert('learned', 'INSERT OR REPLACE'),
  watch: sealedInsert('watch', 'INSERT OR REPLACE'),
  frame: sealedInsert('frame'),
  missing: sealedInsert('missing', 'INSERT OR REPLACE'),
  tapeDay: sealedInsert('tape_day', 'INSERT OR REPLACE'),
} as const

/** Every statement that writes, by name, except those for tape blocks. The writes for a record are names of statements
 *  with plain values. They can be sent to the writer's thread, and repeated after a failed commit. */
const STATEMENTS = {
  ...SEALED_INSERTS,
  segmentEnded: SEGMENT_ENDED,
  order: `INSERT INTO main."order" (open, state, code, outcome, ${ORDER_COLUMNS.join(', ')})
    VALUES (1, 'accepted', '', '', ${ORDER_COLUMNS.map(() => '?').join(', ')})`,
  orderState: 'UPDATE main."order" SET open = ?, state = ?, code = ?, outcome = ? WHERE open IN (0, 1) AND number = ?',
  attemptBefore: 'DELETE FROM main.attempt WHERE undecided IN (0, 1) AND id = ?',
  fill: FILL_STATEMENT,
  fillReversed: 'UPDATE fill SET reversed = 1, final = 0, taken = NULL WHERE signature = ? AND order_id = ?',
  reportTaken: 'DELETE FROM report WHERE taken = 0 AND id = ?',
  position: `INSERT OR REPLACE INTO position (account, bot, mint, state, opened_at, tokens, decimals, cost_lamports,
      realized_lamports, fee_lamports, json)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  pastPosition: `INSERT INTO main.past_position (${PAST_POSITION_COLUMNS.join(', ')})
    VALUES (${PAST_POSITION_COLUMNS.map(() => '?').join(', ')})`,
  positionClosed: 'DELETE FROM position WHERE account = ? AND mint = ?',
  conditionalBefore: 'DELETE FROM conditional_order WHERE open IN (0, 1) AND number = ?',
  conditional: `INSERT INTO conditional_order (open, number, time, account, bot, mint, side, state, code, reason, json)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  account: 'INSERT INTO account (account, json) VALUES (?, ?) ON CONFLICT DO UPDATE SET json = excluded.json',
  bot: 'INSERT INTO bot (account, bot, json) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET json = excluded.json',
  tokenState: 'INSERT OR REPLACE INTO token_state (account, bot, mint, day, json) VALUES (?, ?, ?, ?, ?)',
  tokenFreed: 'DELETE FROM token_state WHERE account = ? AND bot = ? AND mint = ?',
  timer: 'INSERT INTO timer (id, json) VALUES (?, ?) ON CONFLICT DO UPDATE SET json = excluded.json',
  timerFired: "UPDATE timer SET json = json_set(json, '$.fired', ?) WHERE id = ?",
  timerCleared: 'DELETE FROM timer WHERE id = ?',
  counter: `INSERT INTO counter (name, value) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET value = max(value, excluded.value)`,
  markCleared: 'DELETE FROM mark WHERE account = ? AND mint = ?',
  tripMarkCleared: 'DELETE FROM trip_mark WHERE account = ? AND mint = ?',
  slotsOver: 'DELETE FROM slot WHERE key = ? AND (boot <> ? OR done_at < ?)',
  audit: AUDIT,
  paperFailed: PAPER_FAILED,
  watchOver: 'DELETE FROM watch WHERE attempt_id = ?',
  framesOver: 'DELETE FROM frame WHERE id <= (SELECT max(id) FROM frame) - ?',
} as const

export type StatementName = keyof typeof STATEMENTS
/** The name of a statement and its values. */
export type Write = readonly [StatementName, ...SqlValue[]]

/** The statements of one connection. Each is prepared when it is first used. */
export class Statements {
  readonly #db: Database
  readonly #packs: boolean
  readonly #prepared = new Map<StatementName, Statement>()

  /** `packs`: whether records are compressed, see packed-records.ts. */
  constructor(db: Database, { packs = false } = {}) {
    this.#db = db
    this.#packs = packs
  }

  run(write: Write): void {
    const [name] = write
    let statement = this.#prepared.get(name)
    if (statement === undefined) {
      statement = this.#db.prepare(STATEMENTS[name])
      this.#prepared.set(name, statement)
    }
    // The values are passed as one array, because passing them as separate arguments would copy them.
    const values = write.slice(1)
    if (name in SEALED_INSERTS) values.push(rowChecksum(values))
    if (this.#packs) pack(name, values)
    statement.run(values)
  }
}

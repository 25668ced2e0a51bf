import type { Database, Statement } from 'better-sqlite3'
import { FILL_STATEMENT, type SqlValue } from './fills.ts'
import { AUDIT, PAPER_FAILED } from './ledger.ts'

/** Every write but blocks of the tape, by name. A record becomes statements with plain values, so that it can cross to
 *  the writer's thread and be repeated when a commit fails. */
const STATEMENTS = {
  segment: 'INSERT INTO segment (number, seq, time, config, code, seed, json) VALUES (?, ?, ?, ?, ?, ?, ?)',
  segmentEnded: 'UPDATE segment SET ended = ? WHERE number = ?',
  input: 'INSERT INTO input (seq, segment, time, kind, json) VALUES (?, ?, ?, ?, ?)',
  output: 'INSERT INTO output (seq, n, time, kind, bot, mint, code, reason, json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  order: `INSERT INTO "order" (open, number, seq, time, account, bot, mint, side, class, reason, json, state, code, outcome)
    VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'accepted', '', '')`,
  orderState: 'UPDATE "order" SET open = ?, state = ?, code = ?, outcome = ? WHERE open IN (0, 1) AND number = ?',
  attemptBefore: 'DELETE FROM attempt WHERE undecided IN (0, 1) AND id = ?',
  attempt: `INSERT INTO attempt (undecided, id, account, executor, state, signature, code, armed_at, json)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  fill: FILL_STATEMENT,
  fillReversed: 'UPDATE fill SET reversed = 1, final = 0, taken = NULL WHERE signature = ? AND order_id = ?',
  report: 'INSERT INTO report (taken, id, json) VALUES (0, ?, ?)',
  reportBefore: 'DELETE FROM report WHERE taken = 0 AND id = ?',
  reportTaken: 'INSERT OR REPLACE INTO report (taken, id, json) VALUES (1, ?, ?)',
  position: `INSERT OR REPLACE INTO position (account, bot, mint, state, opened_at, tokens, decimals, cost_lamports,
      realized_lamports, fee_lamports, json)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  pastPosition: `INSERT INTO past_position (account, bot, mint, state, opened_at, tokens, decimals, cost_lamports,
      realized_lamports, fee_lamports, json, closed_seq)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  positionClosed: 'DELETE FROM position WHERE account = ? AND mint = ?',
  conditionalBefore: 'DELETE FROM conditional_order WHERE open IN (0, 1) AND number = ?',
  conditional: `INSERT INTO conditional_order (open, number, time, account, bot, mint, side, state, code, reason, json)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  account: 'INSERT INTO account (account, json) VALUES (?, ?) ON CONFLICT DO UPDATE SET json = excluded.json',
  bot: 'INSERT INTO bot (account, bot, json) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET json = excluded.json',
  timer: 'INSERT INTO timer (id, json) VALUES (?, ?) ON CONFLICT DO UPDATE SET json = excluded.json',
  timerFired: "UPDATE timer SET json = json_set(json, '$.fired', ?) WHERE id = ?",
  timerCleared: 'DELETE FROM timer WHERE id = ?',
  counter: `INSERT INTO counter (name, value) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET value = max(value, excluded.value)`,
  mark: `INSERT INTO mark (account, mint, high_price) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET high_price = excluded.high_price`,
  markCleared: 'DELETE FROM mark WHERE account = ? AND mint = ?',
  slot: `INSERT INTO slot (key, id, boot, taken_at, done_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET boot = excluded.boot, taken_at = excluded.taken_at, done_at = excluded.done_at`,
  slotsOver: 'DELETE FROM slot WHERE key = ? AND (boot <> ? OR done_at < ?)',
  wallet: 'INSERT INTO wallet (account, json) VALUES (?, ?) ON CONFLICT DO UPDATE SET json = excluded.json',
  walletTransaction: `INSERT OR REPLACE INTO wallet_transaction (account, slot, signature, class, attempt_id, lamports, time, json)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  audit: AUDIT,
  paperFailed: PAPER_FAILED,
  learned: 'INSERT OR REPLACE INTO learned (about, name, time, json) VALUES (?, ?, ?, ?)',
  watch: 'INSERT OR REPLACE INTO watch (attempt_id, order_id, progress, json) VALUES (?, ?, ?, ?)',
  watchOver: 'DELETE FROM watch WHERE attempt_id = ?',
  frame: 'INSERT INTO frame (time, why, text) VALUES (?, ?, ?)',
  framesOver: 'DELETE FROM frame WHERE id <= (SELECT max(id) FROM frame) - ?',
  missing: `INSERT INTO missing (first_seq, last_seq, segment, first_time, last_time, rows) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET last_seq = excluded.last_seq, last_time = excluded.last_time, rows = excluded.rows`,
} as const

export type StatementName = keyof typeof STATEMENTS
/** A statement with its values. */
export type Write = readonly [StatementName, ...SqlValue[]]

/** Statements of one connection, prepared on first use. */
export class Statements {
  readonly #db: Database
  readonly #prepared = new Map<StatementName, Statement>()

  constructor(db: Database) {
    this.#db = db
  }

  run([name, ...values]: Write): void {
    let statement = this.#prepared.get(name)
    if (statement === undefined) {
      statement = this.#db.prepare(STATEMENTS[name])
      this.#prepared.set(name, statement)
    }
    statement.run(...values)
  }
}

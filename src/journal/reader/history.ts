import type { Database } from 'better-sqlite3'
import { decodeJson } from '../../base/json.ts'
import type { Millis, Seq } from '../../base/units.ts'
import type { Position } from '../../engine/accounting/position.ts'
import type { ConditionalOrder } from '../../engine/exits/conditional-order.ts'
import type { Input } from '../../engine/messages.ts'
import type { ExecutionReport, Fill, Order, OrderState } from '../../engine/order.ts'
import type { Attempt } from '../../orders/attempt.ts'
import { type FillTableRow, fillOf } from '../schema/fills.ts'
import { type DecisionIndex, REPORT_N, UNNAMED } from './decision-index.ts'
import { attemptsOf } from './recovery.ts'

/** An order and its state. */
export interface RecordedOrder {
  readonly order: Order
  readonly state: OrderState
  readonly code: string
  /** Reason why the order has its present state. */
  readonly outcome: string
}

/** A report about an order. The engine has processed the report. */
export interface RecordedReport {
  readonly seq: Seq
  readonly time: Millis
  readonly report: ExecutionReport
}

export interface RecordedFill {
  readonly fill: Fill
  /** Whether a fork of the chain has reversed the fill. */
  readonly reversed: boolean
}

/** A position in its last state: the state at its closing or, if it is open, its present state. */
export interface RecordedPosition {
  readonly position: Position
  /** Seq and time of the closing; null while the position is held. */
  readonly closed: { readonly seq: Seq; readonly time: Millis } | null
}

/** A refusal of a buy or sale, or another message of the engine about a mint (output `note`). */
export interface Word {
  readonly seq: Seq
  /** Place of the output among the outputs of `seq`. */
  readonly n: number
  readonly time: Millis
  readonly kind: 'refused' | 'note'
  readonly bot: string
  readonly code: string
  readonly reason: string
}

/** A `Word` with its mint. */
export interface PlacedWord extends Word {
  readonly mint: string
}

/** A warning (`bot.log.warn`) or a message (`bot.message`) of a strategy. */
export interface Warning {
  readonly time: Millis
  readonly bot: string
  readonly kind: 'warning' | 'message'
  readonly text: string
}

/** A recorded state of a conditional order. */
export interface RecordedConditional {
  readonly seq: Seq
  readonly time: Millis
  readonly order: ConditionalOrder
}

export interface RecordedInput {
  readonly seq: Seq
  readonly time: Millis
  readonly input: Input
}

interface OrderTableRow {
  readonly json: string
  readonly state: OrderState
  readonly code: string
  readonly outcome: string
}

interface InputTableRow {
  readonly seq: Seq
  readonly time: Millis
  readonly json: string
}

const ORDER = 'SELECT json, state, code, outcome FROM "order"'
const INPUT = 'SELECT seq, time, json FROM input'

/** Looks up orders and mints in the tables of the journal. The journal has no index for these queries, because an index
 *  would add a page to the commit of every order. A query may therefore scan a whole table, unless the reader keeps a
 *  `DecisionIndex`. */
export class History {
  readonly #db: Database
  /** SQL that selects the outputs about a token or an order (`#outputs`), and the reports of an order (`#reports`).
   *  Both have the key as their parameter. They may also select other rows, which the caller removes. */
  readonly #outputs: string
  readonly #reports: string

  constructor(db: Database, index?: DecisionIndex) {
    this.#db = db
    index?.refresh()
    const placed = (table: string, at: string): string =>
      `(SELECT t.* FROM temp.place p CROSS JOIN ${table} t ON ${at} WHERE p.key = ?)`
    this.#outputs = index
      ? placed('output', 't.seq = p.seq AND t.n = p.n')
      : '(SELECT * FROM output WHERE ? IS NOT NULL)'
    this.#reports = index
      ? placed('input', `t.seq = p.seq AND p.n = ${REPORT_N}`)
      : '(SELECT * FROM input WHERE ? IS NOT NULL)'
  }

  get #words(): string {
    return `SELECT seq, n, time, kind, bot, code, reason FROM ${this.#outputs}
      WHERE kind IN ('refused', 'note') AND mint = ? AND time >= ? AND time <= ?`
  }

  order(id: string): RecordedOrder | undefined {
    const row = this.#db
      .prepare<[number], OrderTableRow>(`${ORDER} WHERE open IN (0, 1) AND number = ?`)
      .get(Number(id.slice(1)))
    return row && recordedOrder(row)
  }

  /** Returns the orders of a mint, oldest first. */
  ordersOf(mint: string): RecordedOrder[] {
    const rows = this.#db.prepare<[string], OrderTableRow>(`${ORDER} WHERE mint = ? ORDER BY number`).all(mint)
    return rows.map(recordedOrder)
  }

  /** Returns all recorded states of conditional orders. `of` selects the conditional orders of a mint, the one with
   *  this id, or the one that became the order `orderId`. */
  conditionals(of: { mint: string } | { id: string } | { orderId: string }): RecordedConditional[] {
    const [[name, value] = ['', '']] = Object.entries(of)
    const [where, key] = name === 'mint' ? ['mint = ?', value] : ['instr(json, ?) > 0', UNNAMED]
    const rows = this.#db
      .prepare<[string, string], InputTableRow>(
        `SELECT seq, time, json FROM ${this.#outputs} WHERE kind = 'conditional' AND ${where} ORDER BY seq, n`,
      )
      .all(key, name === 'mint' ? value : `"${name}":"${value}"`)
    return rows.map(({ seq, time, json }) => ({
      seq,
      time,
      order: decodeJson<{ order: ConditionalOrder }>(json).order,
    }))
  }

  /** Returns the attempts of an order, oldest first. */
  attemptsOf(orderId: string): Attempt[] {
    return attemptsOf(this.#db, orderId)
  }

  reportsOf({ id, seq }: Pick<Order, 'id' | 'seq'>): RecordedReport[] {
    const rows = this.#db
      .prepare<[string, Seq, string], InputTableRow>(
        `SELECT seq, time, json FROM ${this.#reports}
         WHERE seq > ? AND kind = 'report' AND instr(json, ?) > 0 ORDER BY seq`,
      )
      .all(id, seq, `"orderId":"${id}"`)
    return rows.flatMap(({ seq: at, time, json }) => {
      const input = decodeJson<Input>(json)
      return input.kind === 'report' && input.report.orderId === id ? [{ seq: at, time, report: input.report }] : []
    })
  }

  /** Returns the fills of an order, oldest first, including fills that a fork reversed. */
  fillsOf(orderId: string): RecordedFill[] {
    const rows = this.#db
      .prepare<[string], FillTableRow & { reversed: number }>('SELECT * FROM fill WHERE order_id = ? ORDER BY time')
      .all(orderId)
    return rows.map((row) => ({ fill: fillOf(row), reversed: row.reversed === 1 }))
  }

  /** While Sluice proves whether an order executed, returns a text about the progress of this proof; otherwise ''. */
  progressOf(orderId: string): string {
    const sql = `SELECT progress FROM watch WHERE order_id = ? AND progress <> '' ORDER BY attempt_id DESC LIMIT 1`
    return this.#db.prepare<[string], string>(sql).pluck().get(orderId) ?? ''
  }

  /** Returns the time and code with which the engine cancelled an order; undefined if it did not. */
  cancelOf({ id, seq }: Pick<Order, 'id' | 'seq'>): { time: Millis; code: string } | undefined {
    const sql = `SELECT time, code FROM ${this.#outputs}
      WHERE seq >= ? AND kind = 'cancel' AND reason = ? ORDER BY seq LIMIT 1`
    return this.#db.prepare<[string, Seq, string], { time: Millis; code: string }>(sql).get(id, seq, id)
  }

  /** Returns the positions of a mint: the closed ones, oldest first, then the open ones. */
  positionsOf(mint: string): RecordedPosition[] {
    const past = this.#db
      .prepare<[string], { json: string; seq: Seq; time: Millis | null }>(
        `SELECT json, closed_seq AS seq, (SELECT time FROM output WHERE output.seq = closed_seq LIMIT 1) AS time
         FROM past_position WHERE mint = ? ORDER BY closed_seq`,
      )
      .all(mint)
    const held = this.#db.prepare<[string], string>('SELECT json FROM position WHERE mint = ?').pluck().all(mint)
    return [
      ...past.map(({ json, seq, time }) => {
        const position = decodeJson<Position>(json)
        return { position, closed: { seq, time: time ?? position.openedAt } }
      }),
      ...held.map((json) => ({ position: decodeJson<Position>(json), closed: null })),
    ]
  }

  /** Returns the last recorded state of an account's position in a mint, up to a seq or a time; undefined if there is
   *  none. */
  positionAt(mint: string, account: string, upTo: { seq: Seq } | { time: Millis }): Position | undefined {
    const [column, bound] = 'seq' in upTo ? ['seq', upTo.seq] : ['time', upTo.time]
    const rows = this.#db
      .prepare<[string, number, string], string>(
        `SELECT json FROM ${this.#outputs} WHERE ${column} <= ? AND kind = 'position' AND mint = ?
         ORDER BY seq DESC, n DESC`,
      )
      .pluck()
      .iterate(mint, bound, mint)
    for (const json of rows) {
      const { position } = decodeJson<{ position: Position }>(json)
      if (position.account === account) return position
    }
    return undefined
  }

  /** Returns the refusals and the `note` outputs about a mint between two times, inclusive, oldest first. */
  words(mint: string, from: Millis, to: Millis): Word[] {
    return this.#db
      .prepare<[string, string, Millis, Millis], Word>(`${this.#words} ORDER BY seq, n`)
      .all(mint, mint, from, to)
  }

  /** Returns the refusal or the `note` output at a place; undefined if the journal has none there. This needs no index,
   *  so it also finds decisions that are too old for the `DecisionIndex`. */
  wordAt(seq: Seq, n: number): PlacedWord | undefined {
    const sql = `SELECT seq, n, time, kind, bot, mint, code, reason FROM output
      WHERE seq = ? AND n = ? AND kind IN ('refused', 'note')`
    return this.#db.prepare<[Seq, number], PlacedWord>(sql).get(seq, n)
  }

  /** Returns the last refusal or `note` output of a bot about a mint before a place, or the first one after it;
   *  undefined if there is none. */
  wordBeside(
    mint: string,
    bot: string,
    { seq, n }: { readonly seq: Seq; readonly n: number },
    side: 'before' | 'after',
  ): PlacedWord | undefined {
    const [sign, order] = side === 'before' ? ['<', 'DESC'] : ['>', 'ASC']
    const sql = `SELECT seq, n, time, kind, bot, mint, code, reason FROM ${this.#outputs}
      WHERE kind IN ('refused', 'note') AND mint = ? AND bot = ? AND (seq, n) ${sign} (?, ?)
      ORDER BY seq ${order}, n ${order} LIMIT 1`
    return this.#db.prepare<[string, string, string, Seq, number], PlacedWord>(sql).get(mint, mint, bot, seq, n)
  }

  /** Returns the warnings and messages of strategies that name a mint, oldest first. */
  warnings(mint: string): Warning[] {
    return this.#db
      .prepare<[string, string, string], Warning>(
        `SELECT time, bot, CASE kind WHEN 'log' THEN 'warning' ELSE 'message' END AS kind, reason AS text
         FROM ${this.#outputs} WHERE kind IN ('log', 'message') AND (mint = ? OR instr(reason, ?) > 0) ORDER BY seq, n`,
      )
      .all(UNNAMED, mint, mint)
  }

  /** Returns the last refusal or `note` output of a bot about a mint, up to a time; undefined if there is none. */
  lastWord(mint: string, bot: string, to: Millis): Word | undefined {
    return this.#db
      .prepare<[string, string, number, Millis, string], Word>(
        `${this.#words} AND bot = ? ORDER BY seq DESC, n DESC LIMIT 1`,
      )
      .get(mint, mint, 0, to, bot)
  }

  /** Returns the first alarm that reports that the bot's strategy threw or was stopped, from a seq on and up to a time;
   *  undefined if there is none. */
  breakOf(bot: string, from: Seq, to: Millis): { time: Millis; reason: string } | undefined {
    return this.#db
      .prepare<[Seq, Millis, string], { time: Millis; reason: string }>(
        `SELECT time, reason FROM output WHERE seq >= ? AND time <= ? AND kind = 'alarm' AND bot = ?
           AND code IN ('STRATEGY_THREW', 'STRATEGY_STOPPED', 'STRATEGY_STORM') ORDER BY seq LIMIT 1`,
      )
      .get(from, to, bot)
  }

  /** Returns the time of the last market row or input up to a seq; 0 if the journal has no row or input up to it. */
  timeUpTo(seq: Seq): Millis {
    const sql = `SELECT max(time) FROM (SELECT * FROM (SELECT last_time AS time FROM blocks WHERE first_seq <= ?
      ORDER BY last_seq DESC LIMIT 1) UNION ALL SELECT * FROM (SELECT time FROM input WHERE seq <= ? ORDER BY seq DESC LIMIT 1))`
    return this.#db.prepare<[Seq, Seq], Millis | null>(sql).pluck().get(seq, seq) ?? 0
  }

  inputAt(seq: Seq): RecordedInput | undefined {
    const row = this.#db.prepare<[Seq], InputTableRow>(`${INPUT} WHERE seq = ?`).get(seq)
    return row && recordedInput(row)
  }
}

function recordedOrder({ json, state, code, outcome }: OrderTableRow): RecordedOrder {
  return { order: decodeJson(json), state, code, outcome }
}

function recordedInput({ seq, time, json }: InputTableRow): RecordedInput {
  return { seq, time, input: decodeJson(json) }
}

import type { Database } from 'better-sqlite3'
import { decodeJson } from '../../base/json.ts'
import type { Millis, Seq } from '../../base/units.ts'
import type { Input, Output } from '../../engine/messages.ts'
import type { Fill } from '../../engine/order.ts'
import { type FillTableRow, fillOf } from '../schema/fills.ts'

/** A message that a segment wrote to the journal. */
export type SegmentMessage =
  | { readonly kind: 'input'; readonly seq: Seq; readonly time: Millis; readonly input: Input }
  | {
      readonly kind: 'output'
      readonly seq: Seq
      readonly time: Millis
      readonly n: number
      readonly output: Output
    }

interface MessageRow {
  readonly seq: Seq
  /** Number of the output in its seq; -1 for an input. */
  readonly n: number
  readonly time: Millis
  readonly kind: string
  /** null for a message that is not decoded. */
  readonly json: string | null
  readonly bot: string
  readonly mint: string
  readonly code: string
  readonly reason: string
}

/** SQL of the JSON of an input. It gives NULL for a report without a fee, because most reports have none and need not
 *  be decoded. */
const IN_USE = `CASE WHEN kind = 'report' AND json_extract(json, '$.report.feeLamports') IS NULL THEN NULL ELSE json END`
const NO_FEE = { kind: 'report', id: 0, report: {} } as unknown as Input

/** Yields the inputs and outputs from a seq on, in order. Most of the time is spent on decoding. Outputs whose kind is
 *  in `bare`, and reports without a fee, are therefore not decoded. */
export function* messagesFrom(
  db: Database,
  seq: Seq,
  bare: ReadonlySet<Output['kind']>,
): Generator<SegmentMessage, void, undefined> {
  const columns = ['refused', ...bare].map((kind) => `'${kind}'`).join()
  const rows = db
    .prepare<[Seq, Seq], MessageRow>(
      `SELECT seq, -1 AS n, time, kind, ${IN_USE} AS json, '' AS bot, '' AS mint, '' AS code, '' AS reason
       FROM input WHERE seq >= ?
       UNION ALL SELECT seq, n, time, kind, CASE WHEN kind IN (${columns}) THEN NULL ELSE json END, bot, mint, code, reason
       FROM output WHERE seq >= ? ORDER BY seq, n`,
    )
    .iterate(seq, seq)
  for (const { seq, n, time, kind, json, bot, mint, code, reason } of rows) {
    if (n < 0) yield { kind: 'input', seq, time, input: json === null ? NO_FEE : decodeJson<Input>(json) }
    else {
      const output = json === null ? { kind, bot, mint, code, reason } : decodeJson(json)
      yield { kind: 'output', seq, time, n, output: output as Output }
    }
  }
}

/** Returns the fills that the engine processed from a seq on, in order, without those that a fork reversed. */
export function fillsFrom(db: Database, seq: Seq): Fill[] {
  return db
    .prepare<[Seq], FillTableRow>('SELECT * FROM fill WHERE taken >= ? AND reversed = 0 ORDER BY taken')
    .all(seq)
    .map(fillOf)
}

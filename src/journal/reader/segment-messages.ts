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
  /** -1 for an input. */
  readonly n: number
  readonly time: Millis
  readonly kind: string
  readonly json: string
}

/** Yields the inputs and outputs from a seq on, in order. */
export function* messagesFrom(db: Database, seq: Seq): Generator<SegmentMessage, void, undefined> {
  const rows = db
    .prepare<[Seq, Seq], MessageRow>(
      `SELECT seq, -1 AS n, time, kind, json FROM input WHERE seq >= ?
       UNION ALL SELECT seq, n, time, kind, json FROM output WHERE seq >= ? ORDER BY seq, n`,
    )
    .iterate(seq, seq)
  for (const { seq, n, time, json } of rows)
    if (n < 0) yield { kind: 'input', seq, time, input: decodeJson<Input>(json) }
    else yield { kind: 'output', seq, time, n, output: decodeJson<Output>(json) }
}

/** Fills that the engine processed from a seq on, in order, without those that a fork reversed. */
export function fillsFrom(db: Database, seq: Seq): Fill[] {
  return db
    .prepare<[Seq], FillTableRow>('SELECT * FROM fill WHERE taken >= ? AND reversed = 0 ORDER BY taken')
    .all(seq)
    .map(fillOf)
}

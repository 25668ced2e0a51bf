import Database from 'better-sqlite3'
import { decodeJson } from '../../base/json.ts'
import type { Millis, Seq } from '../../base/units.ts'
import type { Input, Output, StartInput } from '../../engine/messages.ts'
import type { ExecutionReport } from '../../engine/order.ts'
import { fillWrite } from '../schema/fills.ts'
import { migrate } from '../schema/migrations.ts'
import { SEALED } from '../schema/seals.ts'
import { Statements, type Write } from '../schema/statements.ts'
import { inputWrites, outputWrites } from '../writer/records.ts'
import type { Finding } from './finding.ts'

type Db = Database.Database

/** Selects the inputs and outputs for which Sluice also writes to tables other than `input` and `output`. */
const EFFECTIVE = `
SELECT 'input' AS stream, segment, seq, -1 AS n, time, json FROM input WHERE kind IN ('report', 'timer')
UNION ALL
SELECT 'output', 0, seq, n, time, json FROM output
  WHERE kind IN ('order', 'orderState', 'position', 'conditional', 'timer', 'timerCleared', 'bot', 'account', 'tokenState')
ORDER BY 3, 4`

interface StreamRow {
  readonly stream: 'input' | 'output'
  readonly segment: number
  readonly seq: Seq
  readonly n: number
  readonly time: Millis
  readonly json: string
}

/** A temporary database with the journal that follows from the recorded inputs, decisions and outside facts. Its rows
 *  are written by the same functions and triggers as those of a real journal. A proof compares the two journals. */
export class ImpliedJournal {
  readonly db: Db
  readonly #recorded: Db
  readonly #statements: Statements

  constructor(recorded: Db) {
    this.#recorded = recorded
    this.db = new Database('')
    this.db.pragma('journal_mode = OFF')
    this.db.pragma('synchronous = OFF')
    migrate(this.db)
    this.#statements = new Statements(this.db)
    this.db.exec('BEGIN')
  }

  /** Writes the rows of the implied journal. Yields the recorded rows that cannot be read. */
  *fold(): Generator<Finding, void, undefined> {
    for (const json of this.#recorded.prepare('SELECT json FROM segment ORDER BY number').pluck().iterate())
      yield* this.#booked('segment', 'json', () => countersOf(decodeJson<StartInput>(json as string)))
    for (const row of this.#recorded.prepare(EFFECTIVE).iterate() as IterableIterator<StreamRow>)
      yield* this.#booked(row.stream, row.n < 0 ? `seq ${row.seq}` : `seq ${row.seq}, n ${row.n}`, () =>
        this.#writesOf(row),
      )
    const untaken = this.#recorded.prepare('SELECT id, json FROM report ORDER BY id')
    for (const row of untaken.iterate() as IterableIterator<{ id: number; json: string }>)
      yield* this.#booked('report', `id ${row.id}`, () => untakenWrites(row.id, row.json))
    yield* this.#copied('attempt', 'attempt', 'id')
    yield* this.#copied('wallet_transaction', 'walletTransaction', 'slot')
  }

  close(): void {
    this.db.close()
  }

  /** Returns the writes to other tables that Sluice makes together with a recorded input or output. Omits the fee of a
   *  failed paper transaction, because the fee is in the table `wallet_transaction`, which is copied from the real
   *  journal. */
  #writesOf({ stream, segment, seq, n, time, json }: StreamRow): readonly Write[] {
    const [, ...effects] =
      stream === 'input'
        ? inputWrites(segment, seq, time, decodeJson<Input>(json), json)
        : outputWrites(seq, time, n, decodeJson<Output>(json), json)
    return effects.filter(([name]) => name !== 'paperFailed').map((write) => this.#withCosts(write))
  }

  /** Adds the itemized costs to a fill that has none. The first versions did not itemize costs; a migration wrote them
   *  into the table later. The costs of such a fill are therefore copied from the real journal. */
  #withCosts(write: Write): Write {
    if (write[0] !== 'fill' || write.at(-1) !== undefined) return write
    const costs = this.#recorded.prepare('SELECT costs FROM fill WHERE signature = ? AND order_id = ?').pluck()
    return [...write.slice(0, -1), costs.get(write[1], write[2]) ?? ''] as unknown as Write
  }

  *#copied(
    table: 'attempt' | 'wallet_transaction',
    statement: 'attempt' | 'walletTransaction',
    order: string,
  ): Generator<Finding, void, undefined> {
    const rows = this.#recorded.prepare(`SELECT ${SEALED[table].join(', ')} FROM ${table} ORDER BY ${order}`).raw()
    for (const row of rows.iterate() as IterableIterator<string[]>)
      yield* this.#booked(table, row.join(' '), () => [[statement, ...row]])
  }

  *#booked(table: string, row: string, writesOfRow: () => readonly Write[]): Generator<Finding, void, undefined> {
    try {
      for (const write of writesOfRow()) this.#statements.run(write)
    } catch (error) {
      yield { table, row, problem: `the record in this row cannot be read: ${(error as Error).message}` }
    }
  }
}

function countersOf(start: StartInput): readonly Write[] {
  return inputWrites(start.segment, 0, 0, start, '').filter(([name]) => name === 'counter')
}

function untakenWrites(id: number, json: string): readonly Write[] {
  const { fill } = decodeJson<ExecutionReport>(json)
  const row: Write = ['report', 0, id, json]
  return fill === undefined ? [row] : [row, fillWrite(fill, null)]
}

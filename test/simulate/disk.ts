import Database, { type Statement } from 'better-sqlite3'
import { type Attempt, type OrderState, orderNumber } from '../../src/core/order.ts'
import type { Clock } from '../../src/core/ports.ts'
import { GatheringJournal } from '../../src/journal/gathering-journal.ts'
import { JournalReader } from '../../src/journal/reader.ts'
import { migrate } from '../../src/journal/schema.ts'
import { type Batch, Writer } from '../../src/journal/writer.ts'
import type { Mutant } from './mutants.ts'

/** What nobody commits is durable so long after it was handed over, as in the journal's thread. */
const FLUSH_MS = 200

/** The journal's tables in SQLite, used for one run after another: to make them anew for each would cost more than the run. In memory: what
 *  a process leaves behind is what it committed, and that is what the next one reads. */
export class Journal {
  readonly db = new Database(':memory:')
  readonly writer: Writer
  readonly #armed: Statement
  readonly #state: Statement
  readonly #signed: Statement
  readonly #tables: readonly string[]

  constructor() {
    migrate(this.db)
    keepStatements(this.db)
    const space = { tapeBytes: 0, entryBytes: 0, reserveBytes: 0 }
    this.writer = new Writer(this.db, { space }, {}, () => Number.POSITIVE_INFINITY)
    this.#tables = this.db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).pluck().all() as string[]
    this.#state = this.db.prepare('SELECT state FROM "order" WHERE open IN (0, 1) AND number = ?').pluck()
    this.#signed = this.db.prepare('SELECT signature FROM attempt WHERE undecided = 1 AND id = ?').pluck()
    this.#armed = this.db
      .prepare(
        `SELECT (SELECT count(*) FROM attempt WHERE undecided = 1 AND id = ?)
           + (SELECT count(*) FROM "order" WHERE open IN (0, 1) AND number = ?)`,
      )
      .pluck()
  }

  /** What a process finds that starts now. */
  reader(): JournalReader {
    return new JournalReader(this.db.name, this.db)
  }

  /** Whether the file has this attempt as one that may execute, and its order. */
  hasArmed({ id, orderId }: Attempt): boolean {
    return this.#armed.get(id, orderNumber({ id: orderId })) === 2
  }

  /** Whether the file has it as one that was signed with this signature. */
  hasSigned({ id }: Attempt, signature: string): boolean {
    return this.#signed.get(id) === signature
  }

  /** Of an order that is over, as far as the file has it. */
  stateOf(orderId: string): OrderState | undefined {
    return this.#state.get(orderNumber({ id: orderId })) as OrderState | undefined
  }

  /** As a new one is. */
  empty(): void {
    this.db.transaction(() => {
      for (const table of this.#tables) this.db.prepare(`DELETE FROM "${table}"`).run()
    })()
  }

  close(): void {
    this.db.close()
  }
}

/** Preparing a statement costs more than running it. */
function keepStatements(db: Database.Database): void {
  const prepare = db.prepare.bind(db)
  const known = new Map<string, Statement>()
  db.prepare = ((sql: string) => {
    const statement = known.get(sql) ?? prepare(sql)
    known.set(sql, statement)
    return statement
  }) as typeof db.prepare
}

export interface DiskParts {
  readonly journal: Journal
  readonly clock: Clock
  /** How long the next flush takes, ms. */
  readonly latencyMs: () => number
  /** Just before a transaction, and just after it: the process may end at either. */
  readonly before: () => 'goes' | 'fails'
  readonly after: () => 'goes' | 'fails'
  readonly mutant: Mutant | undefined
}

/** The journal's writer on a real SQLite file, with the manners of its thread: what waits when a flush ends becomes durable together, and
 *  who waited for that is called in a later turn. A process that ends leaves behind what was flushed and nothing else. */
export class SimulatedDisk extends GatheringJournal {
  readonly path = ''
  readonly #parts: DiskParts
  #handed: Batch[] = []
  #waiting: (() => void)[] = []
  #isTimed = false
  #isDead = false

  constructor(parts: DiskParts) {
    super()
    this.#parts = parts
  }

  commit(then: () => void): void {
    this.handOver()
    if (this.#parts.mutant === 'sentBeforeCommit') this.#parts.clock.after(0, then)
    else this.#waiting.push(then)
    this.#flushAfter(this.#parts.latencyMs())
  }

  /** The process ends here. */
  die(): void {
    this.#isDead = true
  }

  async close(): Promise<void> {
    this.handOver()
    this.#write()
    this.die()
  }

  protected override deliver(batch: Batch): void {
    if (this.#isDead) return
    this.#handed.push(batch)
    this.#flushAfter(FLUSH_MS)
  }

  #flushAfter(ms: number): void {
    if (this.#isTimed && ms >= FLUSH_MS) return
    this.#isTimed = true
    this.#parts.clock.after(ms, () => this.#flush())
  }

  #flush(): void {
    if (this.#isDead || (this.#handed.length === 0 && this.#waiting.length === 0)) return
    const { before, after } = this.#parts
    const waiting = this.#waiting
    this.#isTimed = false
    if (before() === 'fails') return
    this.#waiting = []
    this.#write()
    if (after() === 'fails') return
    for (const then of waiting) if (!this.#isDead) then()
  }

  #write(): void {
    const { journal, mutant } = this.#parts
    const batches = this.#handed.splice(0)
    if (mutant === 'commitDoesNotPersist' && batches.length === 1) return
    for (const batch of batches) journal.writer.take(batch)
    journal.writer.flush()
  }
}

import Database, { type Statement } from 'better-sqlite3'
import type { Clock } from '../../src/base/machine.ts'
import { type OrderState, orderNumber } from '../../src/engine/order.ts'
import { JournalReader } from '../../src/journal/reader/reader.ts'
import { migrate } from '../../src/journal/schema/schema.ts'
import { GatheringJournal } from '../../src/journal/writer/gathering-journal.ts'
import { SPACE_LIMITS, type Space, type SpaceReport } from '../../src/journal/writer/space.ts'
import { isFull } from '../../src/journal/writer/transactions.ts'
import { type Batch, Writer, type WriterEvents } from '../../src/journal/writer/writer.ts'
import { Room } from '../../src/live/recovered-journal.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import { FilledDisk } from './filled-disk.ts'
import type { Mutant } from './mutants.ts'

/** The time after which writes become durable without a commit, as in the journal's thread. */
const FLUSH_MS = 200
/** The interval at which the journal's thread checks the disk and tries a refused write again. */
const TIDY_MS = 1_000
const AGAIN_MS = 1_000
/**
 * The reserve for all writes of one run on a full disk. The real reserve is larger: it has space for a thousand exits.
 */
const RESERVE_BYTES = 2 ** 20
/** The states of the disk in which entries are stopped. */
const SHORT: ReadonlySet<Space> = new Set(['noEntries', 'full', 'stuck'])
/** The reserve on a disk with enough space: one byte, so that the table exists. */
const NO_LIMITS = { tapeBytes: 0, entryBytes: 0, reserveBytes: 1 }

/**
 * The journal's tables in SQLite. All runs use the same tables, because creating them costs more than a run. The
 * database is in memory, and the next process reads the records that the earlier one committed.
 */
export class Journal {
  readonly db = new Database(':memory:')
  readonly disk: FilledDisk
  /** For runs with enough disk space. */
  readonly writer: Writer
  readonly #armed: Statement
  readonly #attempt: Statement
  readonly #state: Statement
  readonly #signed: Statement
  readonly #tables: readonly string[]

  constructor() {
    migrate(this.db)
    keepStatements(this.db)
    this.disk = new FilledDisk(this.db)
    this.writer = new Writer(this.db, { space: NO_LIMITS }, {}, () => Number.POSITIVE_INFINITY)
    this.#tables = this.db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).pluck().all() as string[]
    this.#attempt = this.db.prepare('SELECT count(*) FROM attempt WHERE undecided IN (0, 1) AND id = ?').pluck()
    this.#state = this.db.prepare('SELECT state FROM "order" WHERE open IN (0, 1) AND number = ?').pluck()
    this.#signed = this.db.prepare('SELECT signature FROM attempt WHERE undecided = 1 AND id = ?').pluck()
    this.#armed = this.db
      .prepare(
        `SELECT (SELECT count(*) FROM attempt WHERE undecided = 1 AND id = ?)
           + (SELECT count(*) FROM "order" WHERE open IN (0, 1) AND number = ?)`,
      )
      .pluck()
  }

  /** For a run in which another program fills the disk. */
  writerOnFilled(on: WriterEvents): Writer {
    const space = { ...SPACE_LIMITS, reserveBytes: RESERVE_BYTES }
    return new Writer(this.db, { space }, on, () => this.disk.freeBytes)
  }

  /** The reader of a process that starts now. */
  reader(): JournalReader {
    return new JournalReader(this.db.name, this.db)
  }

  /** Returns whether the file contains this attempt in a state in which it may execute, and its order. */
  hasArmed({ id, orderId }: Attempt): boolean {
    return this.#armed.get(id, orderNumber({ id: orderId })) === 2
  }

  hasAttempt(attemptId: string): boolean {
    return this.#attempt.get(attemptId) === 1
  }

  /** Whether the file contains an attempt with this signature. */
  hasSigned({ id }: Attempt, signature: string): boolean {
    return this.#signed.get(id) === signature
  }

  /** State of an ended order in the file. */
  stateOf(orderId: string): OrderState | undefined {
    return this.#state.get(orderNumber({ id: orderId })) as OrderState | undefined
  }

  /** Resets the tables. `compact`: without free pages, so that earlier runs do not affect the space on a full disk. */
  empty(compact: boolean): void {
    this.disk.empty()
    this.db.transaction(() => {
      for (const table of this.#tables) this.db.prepare(`DELETE FROM "${table}"`).run()
    })()
    if (compact) this.db.exec('VACUUM')
  }

  /** For a mutant (a deliberate error): releases the reserve, and the other program takes this space. */
  giveReserveBack(): void {
    this.db.exec('DELETE FROM reserve')
    this.db.exec('VACUUM')
    this.disk.takeFreed()
  }

  close(): void {
    this.db.close()
  }
}

/** Prepares each statement only once, because preparing it costs more than running it. */
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
  readonly monotonicMs: () => number
  /** Whether another program fills the disk in this run. */
  readonly isFilled: boolean
  /** Called when a write fails because the disk is full and the reserve is used up. */
  readonly stuck: () => void
  /** Duration of the next flush, ms. */
  readonly latencyMs: () => number
  /** Called before and after a transaction: the process may end at either point. */
  readonly before: () => 'goes' | 'fails'
  readonly after: () => 'goes' | 'fails'
  readonly mutant: Mutant | undefined
}

/**
 * The journal's writer on a real SQLite database, with the behaviour of its thread. All writes that wait at the end of
 * a flush become durable together, and their callbacks run later. Of a process that ends, only flushed records are
 * left.
 */
export class SimulatedDisk extends GatheringJournal {
  readonly path = ''
  /** Whether the process was informed that the disk has too little space for entries. */
  isShort = false
  readonly #parts: DiskParts
  readonly #writer: Writer
  readonly #room = new Room()
  #isStuck = false
  #handed: Batch[] = []
  #waiting: (() => void)[] = []
  #isTimed = false
  #isDead = false

  constructor(parts: DiskParts) {
    super()
    this.#parts = parts
    const { journal, isFilled } = parts
    let tell = (report: SpaceReport): void => this.#room.take(report)
    this.#writer = isFilled ? journal.writerOnFilled({ space: (report) => tell(report) }) : journal.writer
    tell = (report) => this.#changed(report)
    if (isFilled) this.#tidyLater()
  }

  onSpace(run: (report: SpaceReport) => void): void {
    this.#room.tell((report) => {
      this.isShort = SHORT.has(report.state)
      run(report)
    })
  }

  commit(then: () => void): void {
    this.handOver()
    if (this.#parts.mutant === 'sentBeforeCommit') this.#parts.clock.after(0, then)
    else this.#waiting.push(then)
    this.#flushAfter(this.#parts.latencyMs())
  }

  /** Called when the process ends. */
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
    if (this.#isDead || (this.#handed.length === 0 && this.#waiting.length === 0 && !this.#isStuck)) return
    const { before, after } = this.#parts
    const waiting = this.#waiting
    this.#isTimed = false
    if (before() === 'fails') return
    if (!this.#write()) return
    this.#waiting = []
    if (after() === 'fails') return
    for (const then of waiting) if (!this.#isDead) then()
  }

  /** Flushes all writes. Returns false on a full disk, where the flush is tried again later. */
  #write(): boolean {
    const { journal, mutant, clock, stuck } = this.#parts
    const batches = this.#handed.splice(0)
    if (mutant === 'commitDoesNotPersist' && batches.length === 1) return true
    for (const batch of batches) this.#writer.take(batch)
    try {
      this.#writer.flush()
      this.#isStuck = false
    } catch (error) {
      if (!isFull(error)) throw error
      this.#isStuck = true
      this.#writer.stuck()
      stuck()
      clock.after(AGAIN_MS, () => this.#flush())
    }
    journal.disk.takeFreed()
    return !this.#isStuck
  }

  /** Reports to the process after a delay, like a message of the journal's thread. */
  #changed(report: SpaceReport): void {
    const { clock, journal, mutant } = this.#parts
    if (mutant === 'reserveGivenBack' && report.state === 'noEntries') journal.giveReserveBack()
    clock.after(1, () => this.#room.take(report))
  }

  #tidyLater(): void {
    const { clock, monotonicMs, journal } = this.#parts
    clock.after(TIDY_MS, () => {
      if (this.#isDead) return
      if (!this.#isStuck) this.#writer.tidy(monotonicMs())
      journal.disk.takeFreed()
      this.#tidyLater()
    })
  }
}

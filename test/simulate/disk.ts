import Database, { type Statement } from 'better-sqlite3'
import type { Clock } from '../../src/base/machine.ts'
import { type OrderState, orderNumber } from '../../src/engine/order.ts'
import { JournalReader } from '../../src/journal/reader/reader.ts'
import { migrate } from '../../src/journal/schema/migrations.ts'
import { GatheringJournal } from '../../src/journal/writer/gathering-journal.ts'
import { SPACE_LIMITS, type Space, type SpaceReport } from '../../src/journal/writer/space.ts'
import { isFull } from '../../src/journal/writer/transactions.ts'
import { type Batch, Writer, type WriterEvents } from '../../src/journal/writer/writer.ts'
import { Room } from '../../src/live/recovered-journal.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import { FilledDisk } from './filled-disk.ts'
import type { Mutant } from './mutants.ts'

/** Time after which writes become durable even without a commit, ms. The journal's thread uses the same time. */
const FLUSH_MS = 200
/** Interval at which the journal's thread checks the disk, and repeats a refused write, ms. */
const TIDY_MS = 1_000
const AGAIN_MS = 1_000
/**
 * Size of the reserve, bytes, in runs in which the disk becomes full. It suffices for all writes of one run. The real
 * reserve is larger and suffices for a thousand exits.
 */
const RESERVE_BYTES = 2 ** 20
/** The states of the disk in which entries are stopped. */
const SHORT: ReadonlySet<Space> = new Set(['noEntries', 'full', 'stuck'])
/** Limits for runs with enough disk space. The reserve is one byte, so that its table exists. */
const NO_LIMITS = { tapeBytes: 0, entryBytes: 0, reserveBytes: 1 }

/**
 * The tables of the journal in an SQLite database in memory. All runs use the same tables, because creating tables
 * takes longer than a run. A new process reads the records that the earlier process of the run has committed.
 */
export class Journal {
  readonly db = new Database(':memory:')
  readonly disk: FilledDisk
  /** The writer for runs with enough disk space. */
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

  /** Returns a writer for a run in which another program fills the disk. */
  writerOnFilled(on: WriterEvents): Writer {
    const space = { ...SPACE_LIMITS, reserveBytes: RESERVE_BYTES }
    return new Writer(this.db, { space }, on, () => this.disk.freeBytes)
  }

  /** Returns a reader for a process that starts now. */
  reader(): JournalReader {
    return new JournalReader(this.db.name, this.db)
  }

  /** Returns whether the database contains the order, and this attempt in a state in which it may execute. */
  hasArmed({ id, orderId }: Attempt): boolean {
    return this.#armed.get(id, orderNumber({ id: orderId })) === 2
  }

  hasAttempt(attemptId: string): boolean {
    return this.#attempt.get(attemptId) === 1
  }

  /** Returns whether the database contains the attempt with this signature. */
  hasSigned({ id }: Attempt, signature: string): boolean {
    return this.#signed.get(id) === signature
  }

  /** Returns the recorded state of an order that has ended. */
  stateOf(orderId: string): OrderState | undefined {
    return this.#state.get(orderNumber({ id: orderId })) as OrderState | undefined
  }

  /**
   * Empties the tables. `compact`: also removes free pages, so that earlier runs do not change the free space of a full
   * disk.
   */
  empty(compact: boolean): void {
    this.disk.empty()
    this.db.transaction(() => {
      for (const table of this.#tables) this.db.prepare(`DELETE FROM "${table}"`).run()
    })()
    if (compact) this.db.exec('VACUUM')
  }

  /** For a mutant (a deliberate error): releases the space that is reserved for the journal. The program that fills the
   *  disk then uses this space. */
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
  /** Returns the duration of the next flush, ms. */
  readonly latencyMs: () => number
  /** Called before and after each database transaction. The process may end at either point. */
  readonly before: () => 'goes' | 'fails'
  readonly after: () => 'goes' | 'fails'
  readonly mutant: Mutant | undefined
}

/**
 * The journal's writer on a real SQLite database. It behaves like the writer's thread: at the end of a flush, all
 * waiting writes become durable together, and their callbacks run later. If the process ends, only flushed records
 * remain.
 */
export class SimulatedDisk extends GatheringJournal {
  readonly path = ''
  /** Whether the journal's writer has reported to the process that the disk is too full for entries. */
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

  /** Flushes all waiting writes. Returns false if the disk is full; the flush is then repeated later. */
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

  /** Reports a change of the disk space to the process, after a delay like that of a message between threads. */
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

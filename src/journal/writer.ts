import { type Database, SqliteError, type Statement } from 'better-sqlite3'
import type { Millis, Seq } from '../core/units.ts'
import { BlockEncoder, type Slice } from './block-encoder.ts'
import { BlockStore } from './block-store.ts'
import { MAX_ROWS } from './column.ts'
import { Compaction } from './compaction.ts'
import { type Remainder, Remainders } from './remainders.ts'
import { Retention } from './retention.ts'
import { DiskSpace, SPACE_LIMITS, type Space, type SpaceLimits } from './space.ts'
import { Statements, type Write } from './statements.ts'

/** What a writer is told when it is opened. Plain values, so that they cross to a thread. */
export interface WriterOptions {
  /** Days of tape to keep; without it all is kept. */
  readonly keepTapeDays?: number
  readonly space?: Partial<SpaceLimits>
  /** false: commits are neither awaited nor durable. For results that can be computed again. */
  readonly durable?: boolean
}

/** What a writer tells of itself. */
export interface WriterEvents {
  /** The disk runs short or has room again. */
  readonly space?: (space: Space) => void
  /** What a ledger leaves over at an audit is another than before. */
  readonly remainder?: (remainder: Remainder) => void
}

/** What was handed over at once: it becomes durable as a whole or not at all. */
export interface Batch {
  readonly segment: number
  /** The last time in it, or before it. */
  readonly time: Millis
  readonly slices: readonly Slice[]
  readonly writes: readonly Write[]
}

/** Bytes written between two checkpoints, about. */
const CHECKPOINT_BYTES = 8 * 2 ** 20
/** A record changes a page or two, most of them its own. */
const WRITE_BYTES = 8192
const MAX_WRITES = 4096
/** With its signature. */
const ROW_BYTES = 128
const SPACE_EVERY_MS = 1000

/** The one connection that writes a journal. Batches wait in memory until `flush` makes them durable in one transaction; one that fails is
 *  tried again when the reserve could be given up for it, else the error is thrown and the process has to end and recover. */
export class Writer {
  /** When the oldest row or record that is not durable yet came in, ms of `performance.now()`; undefined when there is none. */
  waitingSince: number | undefined
  readonly #db: Database
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #blocks: BlockStore
  readonly #statements: Statements
  readonly #encoder = new BlockEncoder()
  readonly #space: DiskSpace
  readonly #retention: Retention | undefined
  readonly #compaction: Compaction
  readonly #remainders: Remainders
  readonly #on: WriterEvents
  #writes: Write[] = []
  #segment = 0
  #missing:
    | { segment: number; firstSeq: Seq; lastSeq: Seq; firstTime: Millis; lastTime: Millis; rows: number }
    | undefined
  #time = 0
  #unchecked = 0
  #lookedAt = 0

  /** `db` as `openForWriting` gives it. */
  constructor(db: Database, options: Omit<WriterOptions, 'durable'>, on: WriterEvents, freeBytes?: () => number) {
    this.#db = db
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
    this.#blocks = new BlockStore(this.#db)
    this.#statements = new Statements(this.#db)
    this.#space = new DiskSpace(db.name, { ...SPACE_LIMITS, ...options.space }, freeBytes)
    this.#retention = options.keepTapeDays === undefined ? undefined : new Retention(this.#db, options.keepTapeDays)
    this.#compaction = new Compaction(this.#db, this.#blocks)
    this.#remainders = new Remainders(this.#db, (remainder) => on.remainder?.(remainder))
    this.#on = on
    if (this.#space.state !== 'ample') on.space?.(this.#space.state)
  }

  /** Takes a batch without writing it yet, unless there is no room left to keep it in memory. */
  take(batch: Batch): void {
    const rows = batch.slices.reduce((sum, { from, to }) => sum + to - from, 0)
    const isFull = this.#encoder.rows + rows > MAX_ROWS || this.#writes.length > MAX_WRITES
    if (isFull || batch.segment !== this.#segment) this.flush()
    this.#segment = batch.segment
    this.#time = batch.time
    this.waitingSince ??= performance.now()
    for (const slice of batch.slices) this.#takeRows(slice)
    for (const write of batch.writes) this.#writes.push(write)
  }

  /** Makes everything taken durable in one transaction. Throws what SQLite says when it cannot. */
  flush(): void {
    this.waitingSince = undefined
    if (this.#encoder.rows === 0 && this.#writes.length === 0) return
    try {
      this.#transact()
    } catch (error) {
      if (!isFull(error) || !this.#giveReserve()) throw error
      this.#transact()
    }
    const writes = this.#writes
    this.#encoder.clear()
    this.#writes = []
    this.#remainders.committed(writes)
  }

  /** What can wait until nobody waits: room on the disk, old tape, small blocks, the log. Call it when no order is on its way. */
  tidy(now = performance.now()): void {
    if (now - this.#lookedAt >= SPACE_EVERY_MS) {
      this.#lookedAt = now
      if (this.#space.look()) this.#on.space?.(this.#space.state)
    }
    try {
      this.#retention?.step(this.#time)
      if (this.#encoder.rows === 0 && this.#space.state === 'ample')
        this.#unchecked += this.#compaction.step(this.#encoder) * ROW_BYTES
      if (this.#unchecked >= CHECKPOINT_BYTES) this.#checkpoint()
    } catch (error) {
      if (!isFull(error)) throw error
      this.#giveReserve() // what was committed is safe in the log
    }
  }

  /** Ends in order: everything durable, the segment marked as ended, the log folded into the file. */
  close(): void {
    if (this.#segment > 0) this.#writes.push(['segmentEnded', this.#time, this.#segment])
    this.flush()
    this.#db.pragma('wal_checkpoint(TRUNCATE)')
    this.abandon()
  }

  /** Closes the file and leaves what was not durable to be forgotten, as a crash would. */
  abandon(): void {
    this.#db.close()
  }

  #takeRows(slice: Slice): void {
    if (this.#space.state !== 'ample') {
      this.#miss(slice)
      return
    }
    this.#missing = undefined
    const taken = this.#encoder.add(slice)
    if (slice.from + taken === slice.to) return
    this.flush()
    this.waitingSince = performance.now()
    this.#takeRows({ ...slice, from: slice.from + taken, firstSeq: slice.firstSeq + taken })
  }

  /** Rows for which there is no room: only that they existed is written. */
  #miss({ block, from, to, firstSeq }: Slice): void {
    const { firstSeq: first = firstSeq, firstTime = block.time[from] as number, rows = 0 } = this.#missing ?? {}
    const lastSeq = firstSeq + to - from - 1
    const lastTime = block.time[to - 1] as number
    this.#missing = { segment: this.#segment, firstSeq: first, lastSeq, firstTime, lastTime, rows: rows + to - from }
    this.#writes.push(['missing', first, lastSeq, this.#segment, firstTime, lastTime, this.#missing.rows])
  }

  #checkpoint(): void {
    this.#unchecked = 0
    this.#db.pragma('wal_checkpoint(PASSIVE)')
  }

  /** The disk has refused a write: buying is over, and the reserve is for what is left to do. False when there was none. */
  #giveReserve(): boolean {
    const had = this.#space.release()
    if (this.#space.state !== 'noEntries') {
      this.#space.ranOut()
      this.#on.space?.(this.#space.state)
    }
    return had
  }

  #transact(): void {
    this.#begin.run()
    try {
      if (this.#encoder.rows > 0) this.#blocks.insert(this.#segment, this.#encoder.finish())
      for (const write of this.#writes) this.#statements.run(write)
      this.#commit.run()
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK')
      throw error
    }
    this.#blocks.wrote(this.#encoder.rows)
    this.#unchecked += this.#encoder.rows * ROW_BYTES + this.#writes.length * WRITE_BYTES
  }
}

function isFull(error: unknown): boolean {
  return error instanceof SqliteError && error.code.startsWith('SQLITE_FULL')
}

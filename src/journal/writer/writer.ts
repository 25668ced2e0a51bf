import { rmSync } from 'node:fs'
import type { Database, Statement } from 'better-sqlite3'
import type { Lamports, Millis } from '../../base/units.ts'
import { DayMove } from '../archive/day-move.ts'
import { topUpLog } from '../database.ts'
import { Statements, type Write } from '../schema/statements.ts'
import { BlockEncoder, type Slice } from '../tape/block-encoder.ts'
import { MAX_ROWS } from '../tape/column.ts'
import { BlockStore, Compaction } from './block-store.ts'
import { isIdle, Missed, placeOf } from './missed.ts'
import { Reserve } from './reserve.ts'
import { Retention } from './retention.ts'
import { DiskSpace, type DiskUsage, SPACE_LIMITS, type SpaceLimits, type SpaceReport, usageOf } from './space.ts'
import { isFull, Transactions } from './transactions.ts'

/** Parameters of a writer. They are plain values, so that they can be sent to a thread. */
export interface WriterOptions {
  /** Days of tape to keep; if absent, the whole tape is kept. */
  readonly keepTapeDays?: number
  readonly space?: Partial<SpaceLimits>
  /** Whether commits are awaited and durable. If false, the results must be reproducible. */
  readonly durable?: boolean
  /** Whether records are compressed. If false, they are written in half the time. */
  readonly packs?: boolean
}

/** Functions that a writer calls at events. */
export interface WriterEvents {
  /** Called when the free disk space crosses a limit. */
  readonly space?: (report: SpaceReport) => void
  /** Called every few seconds with the size of the journal's files and the free space on their disk. */
  readonly usage?: (usage: DiskUsage) => void
  /** Called when an audit has changed the part of a wallet's balance that its ledger does not explain. */
  readonly remainder?: (remainder: Remainder) => void
}

/** Rows and records that become durable together. */
export interface Batch {
  readonly segment: number
  /** Time of the last record in the batch. If the batch has no records, time of the last record before it. */
  readonly time: Millis
  readonly slices: readonly Slice[]
  readonly writes: readonly Write[]
}

/** A checkpoint is made after about this many bytes were written since the last one. The bytes are estimated, not
 *  measured. */
const CHECKPOINT_BYTES = 8 * 2 ** 20
/** Estimate of the bytes written for a record, for CHECKPOINT_BYTES. A record changes one or two pages of the database,
 *  usually only the page that contains the record. */
const WRITE_BYTES = 8192
const MAX_WRITES = 4096
/** Estimate of the bytes written for a market row and the signature of its trade, for CHECKPOINT_BYTES. */
const ROW_BYTES = 128
/** A row of a block that moves to a day's file counts as ROW_BYTES divided by this number. The pages of the block in
 *  the journal only become free, which writes little. */
const MOVED_SHARE = 16
const SPACE_EVERY_MS = 1000
/** Time in ms between two searches for days whose files are complete, so that their blocks may move. */
const DAYS_EVERY_MS = 2000

/** The one connection that writes a journal. Batches wait in memory until `flush` makes them durable in one
 *  transaction. On a full disk, the writer first omits the tape, then everything except records about money. Then it
 *  uses the reserve, which is pages of the file that are kept free for this. Records for which there is still no space
 *  are kept for the next `flush`. */
export class Writer {
  /** Time at which the oldest record that is not durable arrived, in ms of `performance.now()`; undefined if all
   *  records are durable. */
  waitingSince: number | undefined
  readonly #db: Database
  readonly #transactions: Transactions
  readonly #reserve: Reserve | undefined
  readonly #limits: SpaceLimits
  readonly #blocks: BlockStore
  readonly #statements: Statements
  readonly #encoder = new BlockEncoder()
  readonly #space: DiskSpace
  readonly #missed = new Missed()
  readonly #retention: Retention | undefined
  readonly #compaction: Compaction
  readonly #days: DayMove
  readonly #remainders: Remainders
  readonly #on: WriterEvents
  #writes: Write[] = []
  #segment = 0
  #time = 0
  #unchecked = 0
  #lookedAt = 0
  #daysAt = 0

  /** `db`: a connection from `openForWriting`. */
  constructor(db: Database, options: Omit<WriterOptions, 'durable'>, on: WriterEvents, freeBytes?: () => number) {
    this.#db = db
    this.#limits = { ...SPACE_LIMITS, ...options.space }
    const { reserveBytes } = this.#limits
    this.#transactions = new Transactions(db, reserveBytes > 0)
    this.#reserve = reserveBytes > 0 ? new Reserve(db, this.#transactions, reserveBytes) : undefined
    this.#blocks = new BlockStore(this.#db)
    this.#statements = new Statements(this.#db, options)
    this.#space = new DiskSpace(db.name, this.#limits, freeBytes)
    this.#retention = options.keepTapeDays === undefined ? undefined : new Retention(db, options.keepTapeDays)
    this.#compaction = new Compaction(db, this.#blocks, this.#transactions)
    this.#days = new DayMove(db, this.#transactions)
    this.#remainders = new Remainders(this.#db, (remainder) => on.remainder?.(remainder))
    this.#on = on
    this.#openReserve()
  }

  /** Adds a batch, which waits in memory until `flush`. If the memory for waiting batches is used up, they are written
   *  first. */
  take(batch: Batch): void {
    const rows = batch.slices.reduce((sum, { from, to }) => sum + to - from, 0)
    const isFull = this.#encoder.rows + rows > MAX_ROWS || this.#writes.length > MAX_WRITES
    if (isFull || batch.segment !== this.#segment) this.#makeRoom()
    if (batch.segment !== this.#segment) this.#endMissed()
    this.#segment = batch.segment
    this.#time = batch.time
    this.waitingSince ??= performance.now()
    for (const slice of batch.slices) this.#takeRows(slice)
    const isWritten = this.#isRefused ? (write: Write) => this.#isKept(write) : () => true
    for (const write of batch.writes) if (isWritten(write)) this.#writes.push(write)
  }

  /** Makes all batches durable in one transaction. If the disk fails, throws its error and keeps the batches. */
  flush(): void {
    this.waitingSince = undefined
    if (this.#encoder.rows === 0 && this.#writes.length === 0 && this.#missed.pending().length === 0) return
    this.#transact()
    const writes = this.#writes
    this.#encoder.clear()
    this.#writes = []
    this.#missed.wrote()
    if (this.#space.state === 'stuck') this.#enter('full')
    this.#remainders.committed(writes)
  }

  /** Checks the free disk space, drops old tape, merges small blocks, and copies the write-ahead log into the file,
   *  each when it is due. Call it when no order is waiting. */
  tidy(now = performance.now()): void {
    if (now - this.#lookedAt >= SPACE_EVERY_MS) {
      this.#lookedAt = now
      this.#look()
      this.#on.usage?.(usageOf(this.#db.name, this.#space.report))
    }
    try {
      this.#retention?.step(this.#time)
      if (this.#encoder.rows === 0 && this.#space.state === 'ample') this.#settleTape(now)
      if (this.#unchecked >= CHECKPOINT_BYTES) this.#checkpoint()
    } catch (error) {
      if (!isFull(error)) throw error
      this.#refused() // everything committed is safe in the log
    }
  }

  /** Merges small blocks. If there are none to merge, moves blocks of closed days to the files of these days. */
  #settleTape(now: number): void {
    const merged = this.#compaction.step(this.#encoder)
    this.#unchecked += merged * ROW_BYTES
    if (merged > 0) return
    if (now - this.#daysAt >= DAYS_EVERY_MS) {
      this.#daysAt = now
      this.#days.look()
    }
    this.#unchecked += (this.#days.step() * ROW_BYTES) / MOVED_SHARE
  }

  /** Enters the state `stuck`, in which nothing can be written, not even into the reserve. The batches wait for
   *  space. */
  stuck(): void {
    this.#enter('stuck')
  }

  /** Ends in an orderly way: makes everything durable, marks the segment as ended, and copies SQLite's write-ahead log
   *  into the database file. */
  close(): void {
    if (this.#segment > 0) this.#writes.push(['segmentEnded', this.#time, this.#segment])
    this.flush()
    this.#db.pragma('wal_checkpoint(TRUNCATE)')
    this.abandon()
  }

  /** Closes the file and drops records that are not durable, as a crash would. */
  abandon(): void {
    this.#days.close()
    this.#transactions.close()
  }

  /** Whether the disk has refused a write and has not provided space since. */
  get #isRefused(): boolean {
    return this.#space.state === 'full' || this.#space.state === 'stuck'
  }

  #takeRows(slice: Slice): void {
    if (this.#space.state !== 'ample') {
      this.#miss(slice)
      return
    }
    this.#endMissed()
    const taken = this.#encoder.add(slice)
    if (slice.from + taken === slice.to) return
    this.#makeRoom()
    this.waitingSince = performance.now()
    this.#takeRows({ ...slice, from: slice.from + taken, firstSeq: slice.firstSeq + taken })
  }

  #miss({ block, from, to, firstSeq }: Slice): void {
    this.#missed.add({
      ...{ segment: this.#segment, firstSeq, lastSeq: firstSeq + to - from - 1, rows: to - from },
      ...{ firstTime: block.time[from] as number, lastTime: block.time[to - 1] as number },
    })
  }

  /** Whether a record is kept on a full disk. A dropped record is added to the range of lost records, so that its
   *  segment does not count as complete. */
  #isKept(write: Write): boolean {
    if (!isIdle(write)) return true
    const place = placeOf(write)
    if (place !== undefined) {
      const { seq, time } = place
      this.#missed.add({
        segment: this.#segment,
        firstSeq: seq,
        lastSeq: seq,
        firstTime: time,
        lastTime: time,
        rows: 0,
      })
    }
    return false
  }

  #endMissed(): void {
    for (const write of this.#missed.pending()) this.#writes.push(write)
    this.#missed.end()
  }

  /** Makes room in memory by a flush. On a full disk the batches wait in memory, and the next `flush` reports the
   *  error. */
  #makeRoom(): void {
    try {
      if (this.#space.state !== 'stuck') this.flush()
    } catch (error) {
      if (!isFull(error)) throw error
    }
  }

  #checkpoint(): void {
    this.#unchecked = 0
    this.#db.pragma('wal_checkpoint(PASSIVE)')
  }

  /** Writes the batches. If the disk is full, copies SQLite's write-ahead log into the database file, which frees
   *  space in the log, and tries again without the records that do not concern money. If the disk is still full,
   *  releases the reserve and tries once more. */
  #transact(): void {
    try {
      this.#write()
      return
    } catch (error) {
      if (!isFull(error)) throw error
      this.#refused()
    }
    try {
      this.#write()
    } catch (error) {
      if (!isFull(error) || this.#reserve === undefined) throw error
      this.#write(this.#reserve)
    }
  }

  #write(released?: Reserve): void {
    this.#transactions.run(() => {
      released?.release()
      if (this.#encoder.rows > 0) this.#blocks.insert(this.#segment, this.#encoder.finish())
      for (const write of this.#writes) this.#statements.run(write)
      for (const write of this.#missed.pending()) this.#statements.run(write)
    })
    this.#blocks.wrote(this.#encoder.rows)
    this.#unchecked += this.#encoder.rows * ROW_BYTES + this.#writes.length * WRITE_BYTES
  }

  /** Handles a refused write: buys stop, and only money records are written from now on. */
  #refused(): void {
    if (this.#encoder.rows > 0) this.#missed.add({ segment: this.#segment, ...this.#encoder.finish() })
    this.#encoder.clear()
    this.#writes = this.#writes.filter((write) => this.#isKept(write))
    this.#transactions.fold()
    if (!this.#isRefused) this.#enter('full')
  }

  #enter(state: SpaceReport['state']): void {
    if (this.#space.state === state) return
    this.#space.state = state
    this.#on.space?.(this.#space.report)
  }

  #look(): void {
    const before = this.#space.state
    this.#space.look(() => this.#gives())
    if (this.#space.state !== before) this.#on.space?.(this.#space.report)
  }

  /** Tests whether the disk really has the space that it reports: fills the reserve or, if the reserve is complete,
   *  writes as many bytes and frees them again. */
  #gives(): boolean {
    if (this.#reserve === undefined) return true
    const gave = this.#reserve.isWhole ? this.#transactions.canTake(this.#limits.reserveBytes) : this.#reserve.fill()
    return gave && topUpLog(this.#db)
  }

  /** Creates the reserve of a journal that was just opened. The reserve is filled even if buys are stopped, because
   *  exits of open positions may need it. */
  #openReserve(): void {
    if (this.#reserve !== undefined) rmSync(`${this.#db.name}.reserve`, { force: true }) // written by earlier versions
    this.#space.look(() => true)
    const { state, freeBytes } = this.#space.report
    const isScarce = state === 'noEntries' && freeBytes < 2 * this.#limits.reserveBytes
    const isTaken = !isScarce && (this.#reserve?.fill() ?? true)
    if (!isTaken && state !== 'noEntries') this.#space.state = 'full'
    if (this.#space.state !== 'ample') this.#on.space?.(this.#space.report)
  }
}

/** The part of a wallet's balance on the chain that its ledger does not explain. If a remainder disappears, it is
 *  reported as 0. */
export interface Remainder {
  readonly account: string
  /** Finalized Solana slot at which the wallet's balance was read. */
  readonly slot: number
  /** Lamports in the wallet that no posting explains. A negative number means that lamports are missing. */
  readonly lamports: Lamports
}

/** Reports the remainder of a wallet if an audit has changed it, once this audit is durable. */
export class Remainders {
  readonly #newest: Statement
  readonly #tell: (remainder: Remainder) => void
  readonly #told = new Map<string, number>()

  constructor(db: Database, tell: (remainder: Remainder) => void) {
    this.#newest = db.prepare(
      'SELECT account, slot, remainder AS lamports FROM audit WHERE account = ? ORDER BY first_slot DESC LIMIT 1',
    )
    this.#tell = tell
  }

  committed(writes: readonly Write[]): void {
    for (const [name, account] of writes) {
      const newest = name === 'audit' ? (this.#newest.get(account) as Remainder | undefined) : undefined
      if (newest === undefined || newest.lamports === (this.#told.get(newest.account) ?? 0)) continue
      this.#told.set(newest.account, newest.lamports)
      this.#tell(newest)
    }
  }
}

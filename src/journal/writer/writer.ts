import { rmSync } from 'node:fs'
import type { Database, Statement } from 'better-sqlite3'
import type { Lamports, Millis } from '../../base/units.ts'
import { topUpLog } from '../database.ts'
import { Statements, type Write } from '../schema/statements.ts'
import { BlockEncoder, type Slice } from '../tape/block-encoder.ts'
import { MAX_ROWS } from '../tape/column.ts'
import { BlockStore, Compaction, Retention } from './block-store.ts'
import { isIdle, Missed, placeOf } from './missed.ts'
import { Reserve } from './reserve.ts'
import { DiskSpace, SPACE_LIMITS, type SpaceLimits, type SpaceReport } from './space.ts'
import { isFull, Transactions } from './transactions.ts'

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
  readonly space?: (report: SpaceReport) => void
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

/** The one connection that writes a journal. Batches wait in memory until `flush` makes them durable in one
 *  transaction. A full disk first costs the tape and whatever is not about money, then the reserve. What does not fit
 *  even then is kept, for `flush` to be called again. */
export class Writer {
  /** When the oldest row or record that is not durable yet came in, ms of `performance.now()`; undefined when there is
   *  none. */
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
  readonly #remainders: Remainders
  readonly #on: WriterEvents
  #writes: Write[] = []
  #segment = 0
  #time = 0
  #unchecked = 0
  #lookedAt = 0

  /** `db` as `openForWriting` gives it. */
  constructor(db: Database, options: Omit<WriterOptions, 'durable'>, on: WriterEvents, freeBytes?: () => number) {
    this.#db = db
    this.#limits = { ...SPACE_LIMITS, ...options.space }
    const { reserveBytes } = this.#limits
    this.#transactions = new Transactions(db, reserveBytes > 0)
    this.#reserve = reserveBytes > 0 ? new Reserve(db, this.#transactions, reserveBytes) : undefined
    this.#blocks = new BlockStore(this.#db)
    this.#statements = new Statements(this.#db)
    this.#space = new DiskSpace(db.name, this.#limits, freeBytes)
    this.#retention = options.keepTapeDays === undefined ? undefined : new Retention(db, options.keepTapeDays)
    this.#compaction = new Compaction(db, this.#blocks, this.#transactions)
    this.#remainders = new Remainders(this.#db, (remainder) => on.remainder?.(remainder))
    this.#on = on
    this.#openReserve()
  }

  /** Takes a batch without writing it yet, unless there is no room left to keep it in memory. */
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

  /** Makes everything taken durable in one transaction. Throws what the disk says when it cannot; nothing taken is lost
   *  by that. */
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

  /** What can wait until nobody waits: room on the disk, old tape, small blocks, the log. Call it when no order is on
   *  its way. */
  tidy(now = performance.now()): void {
    if (now - this.#lookedAt >= SPACE_EVERY_MS) {
      this.#lookedAt = now
      this.#look()
    }
    try {
      this.#retention?.step(this.#time)
      if (this.#encoder.rows === 0 && this.#space.state === 'ample')
        this.#unchecked += this.#compaction.step(this.#encoder) * ROW_BYTES
      if (this.#unchecked >= CHECKPOINT_BYTES) this.#checkpoint()
    } catch (error) {
      if (!isFull(error)) throw error
      this.#refused() // what was committed is safe in the log
    }
  }

  /** Nothing can be written, not even into the reserve: what was taken waits for room. */
  stuck(): void {
    this.#enter('stuck')
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
    this.#transactions.close()
  }

  /** The disk has refused a write, and nothing has shown since that it has room. */
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

  /** What is given up is known to be missing, so that nobody takes the segment for whole. */
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

  /** On a full disk what is taken goes on waiting in memory; the next `flush` says so. */
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

  /** First as it is, then without what is not about money and into a log that was folded, then into the reserve. */
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

  /** The disk has refused a write: buying is over, and what is left to write is about money. */
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

  /** Whether the disk gives what it says to have: the reserve as a whole, or as much again. */
  #gives(): boolean {
    if (this.#reserve === undefined) return true
    const gave = this.#reserve.isWhole ? this.#transactions.canTake(this.#limits.reserveBytes) : this.#reserve.fill()
    return gave && topUpLog(this.#db)
  }

  /** A journal that was just opened. It takes its reserve even where entries have stopped: positions may be held. */
  #openReserve(): void {
    if (this.#reserve !== undefined) rmSync(`${this.#db.name}.reserve`, { force: true }) // of an older Sluice
    this.#space.look(() => true)
    const { state, freeBytes } = this.#space.report
    const isScarce = state === 'noEntries' && freeBytes < 2 * this.#limits.reserveBytes
    const isTaken = !isScarce && (this.#reserve?.fill() ?? true)
    if (!isTaken && state !== 'noEntries') this.#space.state = 'full'
    if (this.#space.state !== 'ample') this.#on.space?.(this.#space.report)
  }
}

/** The ledger of a wallet and the chain do not agree, or do so again (0). */
export interface Remainder {
  readonly account: string
  /** Finalized slot of the reading. */
  readonly slot: number
  /** That the wallet holds and no posting explains; negative: that it should hold. */
  readonly lamports: Lamports
}

/** Looks at each audit that was written, once it is durable, and tells when what is left over is another than
 *  before. */
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

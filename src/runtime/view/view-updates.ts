import { assert } from '../../base/errors.ts'
import type { Cancel, Clock } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import { changeBetween } from './changes.ts'
import { type PositionNews, SentPositions } from './position-transfer.ts'
import type { Reading } from './read-view.ts'
import type { Change, LogLine, View } from './view.ts'

/** Shortest time between two readings of the view. A change must reach a browser within 250 ms; the rest of that time
 *  is for the transfer. */
const BETWEEN_MS = 90
/** A write to the journal causes a reading of the view after this time, ms. If the write belongs to an order, the order
 *  is sent before the reading. */
const AFTER_MS = 20
/** If an order waits for its commit when a reading of the view is due, the reading is postponed by this time, ms.
 *  This is repeated until the order is committed, but for at most `MOST_WAIT_MS` in all. */
const WAIT_MS = 2
const MOST_WAIT_MS = 40
/** The view is also read after this time without an event, because connections, requests and the process change their
 *  state without events. */
const SILENT_MS = 500
/** Time between two readings of the view while no browser follows it. */
const UNWATCHED_MS = 1_000
/** Maximum number of log lines in one change. Further lines can be read from the journal. */
const MOST_LINES = 200

/** A change of the view, for another thread. From `news`, that thread makes the rows of the positions. */
export interface Update extends Change {
  readonly news?: PositionNews
}

/** Receives the view of running bots and its changes, to send them to another thread. */
export interface ViewFollower {
  /** Receives the whole view, in two parts: `view` has no positions, and `news` contains the positions. */
  begin(view: View, news: PositionNews | undefined): void
  change(update: Update): void
}

/** The view of running bots. */
export interface LiveView {
  /** Sends the view and all later changes to a follower, until the returned function is called. Only one follower at a
   *  time is possible. */
  follow(follower: ViewFollower): () => void
  /** One number in shared memory: the number of commits that are not durable yet. */
  readonly committing: Int32Array
  /** Sets whether a browser follows the changes. While none does, the view is read less often. */
  watched(isWatched: boolean): void
}

export interface UpdatesParts {
  readonly clock: Clock
  /** Reads the view now. `n`: number of changes that were announced. */
  readonly read: (n: number) => Reading
  readonly onLog: (run: (line: LogLine) => void) => () => void
  /** Calls `run` after each event that may change the view. */
  readonly onMessage: (run: () => void) => () => void
  /** See `LiveView`. */
  readonly committing: Int32Array
  /** Called once if the view cannot be read. No change follows. */
  readonly failed: (error: unknown) => void
}

/** Announces the changes in the view of a running process. While a browser follows the view, each event (write to the
 *  journal) schedules a reading unless one is already scheduled. Otherwise the view is read once a second. Without a
 *  follower, nothing is read. */
export class ViewUpdates implements LiveView {
  readonly #parts: UpdatesParts
  #follower: ViewFollower | undefined
  #sent = new SentPositions()
  #n = 0
  #view: View | undefined
  #readAt: Millis = 0
  #lines: LogLine[] = []
  #isWatched = false
  /** Whether an event scheduled the next reading. */
  #isDue = false
  #cancel: Cancel | undefined
  #unlisten: () => void = () => {}

  constructor(parts: UpdatesParts) {
    this.#parts = parts
  }

  get committing(): Int32Array {
    return this.#parts.committing
  }

  follow(follower: ViewFollower): () => void {
    assert(this.#follower === undefined, 'a view can have only one follower, and it already has one')
    this.#follower = follower
    this.#start(follower)
    return () => {
      if (this.#follower === follower) this.#stop()
    }
  }

  watched(isWatched: boolean): void {
    this.#isWatched = isWatched
    if (isWatched && this.#follower !== undefined) this.#message()
  }

  #start(follower: ViewFollower): void {
    const { clock, read, onLog, onMessage } = this.#parts
    const { view, positions } = read(++this.#n)
    this.#view = view
    this.#sent = new SentPositions()
    follower.begin(view, this.#sent.next(positions))
    this.#readAt = clock.now()
    const unlog = onLog((line) => {
      if (this.#lines.length < MOST_LINES) this.#lines.push(line)
    })
    const unhear = onMessage(() => {
      if (this.#isWatched && !this.#isDue) this.#message()
    })
    this.#unlisten = () => {
      unlog()
      unhear()
    }
    this.#schedule(UNWATCHED_MS)
  }

  #stop(): void {
    this.#follower = undefined
    this.#unlisten()
    this.#cancel?.()
    this.#isDue = false
    this.#lines = []
  }

  #message(): void {
    this.#isDue = true
    this.#schedule(Math.max(AFTER_MS, this.#readAt + BETWEEN_MS - this.#parts.clock.now()))
  }

  /** `waited`: time that the reading has waited for commits. */
  #schedule(ms: number, waited = 0): void {
    const { clock, committing, failed } = this.#parts
    this.#cancel?.()
    this.#cancel = clock.after(ms, () => {
      if (waited < MOST_WAIT_MS && committing[0] !== 0) return this.#schedule(WAIT_MS, waited + WAIT_MS)
      try {
        this.#update()
        if (this.#follower !== undefined) this.#schedule(this.#isWatched ? SILENT_MS : UNWATCHED_MS)
      } catch (error) {
        this.#stop()
        failed(error)
      }
    })
  }

  #update(): void {
    this.#isDue = false
    this.#readAt = this.#parts.clock.now()
    const { view, positions } = this.#parts.read(this.#n + 1)
    const news = this.#sent.next(positions)
    const change = changeBetween(this.#view as View, view, this.#lines, news !== undefined)
    if (change === undefined) return
    this.#n++
    this.#lines = []
    this.#view = view
    this.#follower?.change(news === undefined ? change : { ...change, news })
  }
}

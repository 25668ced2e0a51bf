import type { Cancel, Clock } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import { changeBetween } from './changes.ts'
import type { Change, LiveView, LogLine, View } from './view.ts'

/** Shortest time between two readings of the view. A change must reach a browser within 250 ms; the rest of that time
 *  is for the transfer. */
const BETWEEN_MS = 90
/** The view is read this long after a message, so that an order that the message caused is sent first. */
const AFTER_MS = 20
/** The view is also read after this time without a message, because connections, requests and the process change their
 *  state without messages. */
const SILENT_MS = 500
/** Time between two readings while no browser follows. */
const UNWATCHED_MS = 1_000
/** Maximum number of log lines in one change. Further lines can be read from the journal. */
const MOST_LINES = 200

export interface UpdatesParts {
  readonly clock: Clock
  /** Reads the view now. `n`: number of changes that were announced. */
  readonly read: (n: number) => View
  readonly onLog: (run: (line: LogLine) => void) => () => void
  /** Calls `run` after each message that may change the view. */
  readonly onMessage: (run: () => void) => () => void
  /** Called once if the view cannot be read. No change follows. */
  readonly failed: (error: unknown) => void
}

/** Announces the changes in the view of a running process. While a browser follows the view, each message schedules a
 *  reading unless one is already scheduled. Otherwise the view is read once a second. Without a listener, nothing is
 *  read. */
export class ViewUpdates implements LiveView {
  readonly #parts: UpdatesParts
  readonly #listeners = new Set<(change: Change) => void>()
  #n = 0
  #view: View | undefined
  #readAt: Millis = 0
  #lines: LogLine[] = []
  #isWatched = false
  /** Whether a message scheduled the next reading. */
  #isDue = false
  #cancel: Cancel | undefined
  #unlisten: () => void = () => {}

  constructor(parts: UpdatesParts) {
    this.#parts = parts
  }

  /** The view on which the next change is based; without a listener, the present view. */
  get view(): View {
    return this.#cancel === undefined ? this.#parts.read(++this.#n) : (this.#view as View)
  }

  listen(run: (change: Change) => void): () => void {
    if (this.#listeners.size === 0) this.#start()
    this.#listeners.add(run)
    return () => {
      if (this.#listeners.delete(run) && this.#listeners.size === 0) this.#stop()
    }
  }

  watched(isWatched: boolean): void {
    this.#isWatched = isWatched
    if (isWatched && this.#cancel !== undefined) this.#message()
  }

  #start(): void {
    const { clock, read, onLog, onMessage } = this.#parts
    this.#view = read(++this.#n)
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
    this.#unlisten()
    this.#cancel?.()
    this.#cancel = undefined
    this.#isDue = false
    this.#lines = []
  }

  #message(): void {
    this.#isDue = true
    this.#schedule(Math.max(AFTER_MS, this.#readAt + BETWEEN_MS - this.#parts.clock.now()))
  }

  #schedule(ms: number): void {
    this.#cancel?.()
    this.#cancel = this.#parts.clock.after(ms, () => {
      try {
        this.#update()
        if (this.#listeners.size > 0) this.#schedule(this.#isWatched ? SILENT_MS : UNWATCHED_MS)
      } catch (error) {
        this.#stop()
        this.#parts.failed(error)
      }
    })
  }

  #update(): void {
    this.#isDue = false
    this.#readAt = this.#parts.clock.now()
    const after = this.#parts.read(this.#n + 1)
    const change = changeBetween(this.#view as View, after, this.#lines)
    if (change === undefined) return
    this.#n++
    this.#lines = []
    this.#view = after
    for (const run of this.#listeners) run(change)
  }
}

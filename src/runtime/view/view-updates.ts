import type { Cancel, Clock } from '../../base/machine.ts'
import { changeBetween } from './changes.ts'
import type { Change, LogLine, View, ViewSource } from './view.ts'

/** Time between two readings of the view. A change must reach the desk within 250 ms; the remaining 50 ms are for the
 *  transfer to the desk's thread. */
const UPDATE_EVERY_MS = 200
/** Maximum number of log lines in one change. The other lines can be read from the journal. */
const MOST_LINES = 200

export interface UpdatesParts {
  readonly clock: Clock
  /** Reads the view now. `n`: number of changes that were announced. */
  readonly read: (n: number) => View
  readonly onLog: (run: (line: LogLine) => void) => () => void
  /** Called once if the view cannot be read. No change follows. */
  readonly failed: (error: unknown) => void
}

/** Announces the changes in the view of a running process. Without a listener, it does nothing. */
export class ViewUpdates implements ViewSource {
  readonly #parts: UpdatesParts
  readonly #listeners = new Set<(change: Change) => void>()
  #n = 0
  #view: View | undefined
  #lines: LogLine[] = []
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

  #start(): void {
    this.#view = this.#parts.read(++this.#n)
    this.#unlisten = this.#parts.onLog((line) => {
      if (this.#lines.length < MOST_LINES) this.#lines.push(line)
    })
    this.#schedule()
  }

  #stop(): void {
    this.#unlisten()
    this.#cancel?.()
    this.#cancel = undefined
    this.#lines = []
  }

  #schedule(): void {
    this.#cancel = this.#parts.clock.after(UPDATE_EVERY_MS, () => {
      try {
        this.#update()
        this.#schedule()
      } catch (error) {
        this.#stop()
        this.#parts.failed(error)
      }
    })
  }

  #update(): void {
    const after = this.#parts.read(this.#n + 1)
    const change = changeBetween(this.#view as View, after, this.#lines)
    if (change === undefined) return
    this.#n++
    this.#lines = []
    this.#view = after
    for (const run of this.#listeners) run(change)
  }
}

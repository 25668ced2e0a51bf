import type { Cancel, Clock } from '../base/machine.ts'
import { changeBetween } from '../runtime/view/changes.ts'
import type { Change, View, ViewSource } from '../runtime/view/view.ts'

/** Interval at which the journal is checked for new writes. */
const LOOK_MS = 1_000
/** The pause after each reading of the journal is at least this many times as long as that reading. */
const REST = 10

export interface FollowedParts {
  readonly clock: Clock
  /** Reads the view of the journal. `n`: number of times that the journal was read before. */
  readonly read: (n: number) => View
  /** A number that changes whenever the journal is written. */
  readonly version: () => number
  /**
   * Called when the journal cannot be read. The desk then keeps the last view, and reads the journal again at the next
   * check.
   */
  readonly failed: (error: unknown) => void
}

/** The view of a journal that another process may be writing. The journal is read again after each write. */
export class FollowedJournal implements ViewSource {
  readonly #parts: FollowedParts
  readonly #listeners = new Set<(change: Change) => void>()
  #n = 0
  #version: number
  #view: View
  #cancel: Cancel

  constructor(parts: FollowedParts) {
    this.#parts = parts
    this.#version = parts.version()
    const begin = parts.clock.now()
    this.#view = parts.read(0)
    this.#cancel = this.#lookAgain(begin)
  }

  get view(): View {
    return this.#view
  }

  listen(run: (change: Change) => void): () => void {
    this.#listeners.add(run)
    return () => void this.#listeners.delete(run)
  }

  close(): void {
    this.#cancel()
  }

  #lookAgain(begin: number): Cancel {
    const { clock } = this.#parts
    return clock.after(Math.max(LOOK_MS, REST * (clock.now() - begin)), () => this.#look())
  }

  #look(): void {
    const { clock, version, read, failed } = this.#parts
    const begin = clock.now()
    try {
      const now = version()
      if (now !== this.#version) {
        const view = read(++this.#n)
        // The version is stored only after a successful reading, so that the next check reads the view again after a
        // failure.
        this.#version = now
        this.#take(view)
      }
    } catch (error) {
      failed(error)
    }
    this.#cancel = this.#lookAgain(begin)
  }

  #take(view: View): void {
    const change = changeBetween(this.#view, view)
    if (change === undefined) return
    this.#view = view
    for (const run of this.#listeners) run(change)
  }
}

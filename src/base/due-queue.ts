import type { Cancel } from './machine.ts'
import type { Millis } from './units.ts'

/** A function to run, and the time at which it is due. */
export interface Due {
  readonly at: Millis
  readonly run: () => void
}

interface Entry extends Due {
  /** Number of the entry. Entries with the same time run in the order of these numbers, which is the order in which
   *  they were added. */
  readonly order: number
  /** Position in the heap; -1 once the entry has been removed or cancelled. */
  index: number
}

/** The timers of a clock, in a binary heap ordered by due time and then by insertion. Adding, cancelling and removing a
 *  timer cost O(log n) and create no garbage. */
export class DueQueue {
  readonly #heap: Entry[] = []
  #order = 0

  /** Adds a timer and returns a function that cancels it. Throws RangeError if `at` is not finite. */
  add(at: Millis, run: () => void): Cancel {
    if (!Number.isFinite(at)) throw new RangeError(`not a time: ${at}`)
    const entry: Entry = { at, run, order: this.#order++, index: -1 }
    this.#place(entry, this.#heap.length)
    this.#rise(entry)
    return () => this.#remove(entry)
  }

  /** Due time of the first entry; Infinity if the queue is empty. */
  nextAt(): Millis {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY
  }

  /** Removes and returns the first entry that is due at or before `time`; returns undefined if there is none. */
  take(time: Millis): Due | undefined {
    const first = this.#heap[0]
    if (first === undefined || first.at > time) return undefined
    this.#remove(first)
    return first
  }

  clear(): void {
    for (const entry of this.#heap) entry.index = -1
    this.#heap.length = 0
  }

  #remove(entry: Entry): void {
    const { index } = entry
    if (index < 0) return
    entry.index = -1
    const last = this.#heap.pop() as Entry
    if (last === entry) return
    this.#place(last, index)
    this.#rise(last)
    this.#sink(last)
  }

  #rise(entry: Entry): void {
    while (entry.index > 0) {
      const parent = this.#heap[(entry.index - 1) >> 1] as Entry
      if (!isBefore(entry, parent)) return
      this.#swap(entry, parent)
    }
  }

  #sink(entry: Entry): void {
    for (;;) {
      const left = this.#heap[entry.index * 2 + 1]
      if (left === undefined) return
      const right = this.#heap[entry.index * 2 + 2]
      const child = right !== undefined && isBefore(right, left) ? right : left
      if (!isBefore(child, entry)) return
      this.#swap(child, entry)
    }
  }

  #swap(a: Entry, b: Entry): void {
    const { index } = a
    this.#place(a, b.index)
    this.#place(b, index)
  }

  #place(entry: Entry, index: number): void {
    entry.index = index
    this.#heap[index] = entry
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

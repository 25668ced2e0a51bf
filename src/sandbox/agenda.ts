interface Entry {
  at: number
  order: number
  run: () => void
}

/** What will happen, earliest first; ties in the order they were entered. A binary heap. */
export class Agenda {
  readonly #heap: Entry[] = []
  #entered = 0

  get nextAt(): number | undefined {
    return this.#heap[0]?.at
  }

  enter(at: number, run: () => void): void {
    const heap = this.#heap
    const entry = { at, order: this.#entered++, run }
    let index = heap.length
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (isBefore(heap[parent]!, entry)) break
      heap[index] = heap[parent]!
      index = parent
    }
    heap[index] = entry
  }

  /** Removes and returns the first. */
  take(): Entry | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (heap.length === 0 || !last) return first
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (isBefore(last, heap[child]!)) break
      heap[index] = heap[child]!
      index = child
    }
    heap[index] = last
    return first
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

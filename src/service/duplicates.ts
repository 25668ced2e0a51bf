import type { Bytes } from './wire/bytes.ts'

/** Two hashes of 32 bits over the same words: together wide enough that two different events do not meet by chance
 *  (about 1e-15 an event with 8,192 remembered). Not against somebody who chooses the events: those come from the service itself. */
export class EventHash {
  first = 0
  second = 0
  readonly #double = new Float64Array(1)
  readonly #words = new Uint32Array(this.#double.buffer)

  start(word: number): void {
    this.first = 0x811c9dc5 ^ word
    this.second = 0x9747b28c + word
  }

  word(word: number): void {
    const first = Math.imul(this.first ^ word, 0x9e3779b1)
    const second = Math.imul(this.second ^ word, 0x85ebca6b)
    this.first = first ^ (first >>> 15)
    this.second = second ^ (second >>> 13)
  }

  /** By its bits: every NaN alike, 0 and -0 not. */
  number(value: number): void {
    this.#double[0] = value
    this.word(this.#words[0] as number)
    this.word(this.#words[1] as number)
  }

  /** A key or signature in base58, by its length, its first four digits and its last twelve: those alone depend on every byte of it. */
  text({ bytes, view }: Bytes, start: number, end: number): void {
    this.word(end - start)
    if (end - start < 16) {
      for (let at = start; at < end; at++) this.word(bytes[at] as number)
      return
    }
    this.word(view.getInt32(start, true))
    for (let at = end - 12; at < end; at += 4) this.word(view.getInt32(at, true))
  }
}

/** Whether an event was seen among the last `size` to `2 * size`. Two tables take turns: when the newer one is full, the older is
 *  emptied and becomes the newer, so nothing is ever deleted one by one. */
export class Duplicates {
  readonly #size: number
  #newer: HashSet
  #older: HashSet

  constructor(size = 8_192) {
    this.#size = size
    this.#newer = new HashSet(size)
    this.#older = new HashSet(size)
  }

  /** True when it was seen before; else it is remembered. */
  check(hash: EventHash): boolean {
    if (this.#older.has(hash.first, hash.second)) return true
    if (!this.#newer.add(hash.first, hash.second)) return true
    if (this.#newer.count < this.#size) return false
    const emptied = this.#older
    emptied.clear()
    this.#older = this.#newer
    this.#newer = emptied
    return false
  }
}

/** Pairs of 32-bit hashes by open addressing; at most half full. A first hash of 0 would mean free, so it is taken for 1. */
class HashSet {
  readonly #pairs: Int32Array
  readonly #mask: number
  count = 0

  constructor(size: number) {
    const slots = 2 ** Math.ceil(Math.log2(size * 2))
    this.#pairs = new Int32Array(slots * 2)
    this.#mask = slots - 1
  }

  has(first: number, second: number): boolean {
    return this.#pairs[this.#place(first, second) * 2] !== 0
  }

  /** False when it was there already. */
  add(first: number, second: number): boolean {
    const slot = this.#place(first, second)
    if (this.#pairs[slot * 2] !== 0) return false
    this.#pairs[slot * 2] = first | 0 || 1
    this.#pairs[slot * 2 + 1] = second
    this.count++
    return true
  }

  clear(): void {
    this.#pairs.fill(0)
    this.count = 0
  }

  /** The slot where the pair lies, or the free one where it would. */
  #place(first: number, second: number): number {
    const key = first | 0 || 1
    let slot = (first ^ (first >>> 16)) & this.#mask
    while (this.#pairs[slot * 2] !== 0) {
      if (this.#pairs[slot * 2] === key && this.#pairs[slot * 2 + 1] === (second | 0)) break
      slot = (slot + 1) & this.#mask
    }
    return slot
  }
}

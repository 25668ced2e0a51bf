import { MAX_ROWS } from './column.ts'

export const KEY_BYTES = 32
const WORDS = KEY_BYTES / 4
const FREE = 0

/** The keys of a block, each once and numbered as they come: by their bytes, because a string for each row costs more than all else that
 *  is done with it. Open addressing, at most half full. */
export class KeyIndex {
  /** One key after the other. */
  readonly bytes = new Uint8Array(KEY_BYTES * (MAX_ROWS + 1))
  count = 0
  readonly #words = new Int32Array(this.bytes.buffer)
  /** Numbers, counted from 1. */
  readonly #table = new Uint16Array(2 ** Math.ceil(Math.log2(MAX_ROWS * 2 + 2)))
  readonly #slots = new Uint32Array(MAX_ROWS + 1)

  /** Where the next key has to be written. */
  get room(): number {
    return this.count * KEY_BYTES
  }

  /** The number of the key that lies in the room: its own, or that of the same key before. */
  add(): number {
    const words = this.#words
    const own = this.count * WORDS
    const mask = this.#table.length - 1
    const hash = Math.imul((words[own + 1] as number) ^ (words[own + 5] as number), 0x9e3779b1)
    let slot = (hash ^ (hash >>> 15)) & mask
    for (; this.#table[slot] !== FREE; slot = (slot + 1) & mask)
      if (this.#isSame((this.#table[slot] as number) - 1)) return (this.#table[slot] as number) - 1
    this.#slots[this.count] = slot
    this.#table[slot] = ++this.count
    return this.count - 1
  }

  clear(): void {
    for (let number = 0; number < this.count; number++) this.#table[this.#slots[number] as number] = FREE
    this.count = 0
  }

  #isSame(number: number): boolean {
    const words = this.#words
    const [key, own] = [number * WORDS, this.count * WORDS]
    for (let word = 0; word < WORDS; word++) if (words[key + word] !== words[own + word]) return false
    return true
  }
}

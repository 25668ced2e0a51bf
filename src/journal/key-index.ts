import { MAX_ROWS } from './column.ts'
import { KEY_BYTES } from './packed-text.ts'

const FREE = 0

/** The keys of a block, each once and numbered as they come: by their bytes, because a string for each row costs more than all else that
 *  is done with it. Open addressing, at most half full. */
export class KeyIndex {
  /** One key after the other. */
  readonly bytes = new Uint8Array(KEY_BYTES * (MAX_ROWS + 1))
  count = 0
  readonly #view = new DataView(this.bytes.buffer)
  /** Numbers, counted from 1. */
  readonly #table = new Uint16Array(2 ** Math.ceil(Math.log2(MAX_ROWS * 2 + 2)))
  readonly #slots = new Uint32Array(MAX_ROWS + 1)

  /** Where the next key has to be written. */
  get room(): number {
    return this.count * KEY_BYTES
  }

  /** The number of the key that lies in the room: its own, or that of the same key before. */
  add(): number {
    const own = this.room
    const mask = this.#table.length - 1
    const hash = Math.imul(this.#view.getInt32(own + 5) ^ this.#view.getInt32(own + 21), 0x9e3779b1)
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

  /** Four bytes at a time, the last four from the end, whatever they overlap. */
  #isSame(number: number): boolean {
    const [key, own] = [number * KEY_BYTES, this.room]
    for (let at = 0; at < KEY_BYTES - 4; at += 4)
      if (this.#view.getInt32(key + at) !== this.#view.getInt32(own + at)) return false
    return this.#view.getInt32(key + KEY_BYTES - 4) === this.#view.getInt32(own + KEY_BYTES - 4)
  }
}

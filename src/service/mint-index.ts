import { isPublicKey } from '../core/base58.ts'
import type { TokenId } from '../core/block.ts'
import type { Mints } from '../core/mints.ts'
import { type Bytes, wordsOf } from './wire/bytes.ts'

const FREE = -1
/** A key in base58 has at most 44 characters: 11 words. */
const WORDS = 11
const decoder = new TextDecoder()

/** Token numbers by the bytes of their mints, so that a frame's mint becomes a number without becoming a string first. A mint is proved
 *  to be a key of 32 bytes once, when it is first seen. Open addressing, doubled at half full. */
export class MintIndex {
  readonly #mints: Mints
  readonly #words = new Int32Array(WORDS)
  /** Place in `#keys` and `#tokens`; FREE where there is none. */
  #table = new Int32Array(1 << 12).fill(FREE)
  #keys = new Int32Array((1 << 11) * WORDS)
  #tokens = new Int32Array(1 << 11)
  #count = 0

  constructor(mints: Mints) {
    this.#mints = mints
  }

  /** The number of the mint in `start..end`, at most 44 bytes; -1 where that is no public key. */
  intern(source: Bytes, start: number, end: number): TokenId {
    const words = this.#words
    for (let count = wordsOf(source, start, end, words); count < WORDS; count++) words[count] = 0
    const slot = this.#slotOf(words, 0)
    const key = this.#table[slot] as number
    if (key !== FREE) return this.#tokens[key] as number
    return this.#add(slot, decoder.decode(source.bytes.subarray(start, end)))
  }

  #add(slot: number, mint: string): TokenId {
    if (!isPublicKey(mint)) return -1
    const token = this.#mints.intern(mint)
    this.#table[slot] = this.#count
    this.#tokens[this.#count] = token
    this.#keys.set(this.#words, this.#count * WORDS)
    if (++this.#count === this.#tokens.length) this.#grow()
    return token
  }

  #grow(): void {
    const tokens = new Int32Array(this.#count * 2)
    tokens.set(this.#tokens)
    const keys = new Int32Array(tokens.length * WORDS)
    keys.set(this.#keys)
    this.#tokens = tokens
    this.#keys = keys
    this.#table = new Int32Array(tokens.length * 2).fill(FREE)
    for (let key = 0; key < this.#count; key++) this.#table[this.#slotOf(keys, key * WORDS)] = key
  }

  /** Where the key that lies in `words` at `offset` is in the table, or would be. */
  #slotOf(words: Int32Array, offset: number): number {
    let hash = 0
    for (let index = 0; index < WORDS; index++) hash = Math.imul(hash ^ (words[offset + index] as number), 0x9e3779b1)
    const mask = this.#table.length - 1
    let slot = (hash ^ (hash >>> 15)) & mask
    for (; this.#table[slot] !== FREE; slot = (slot + 1) & mask)
      if (this.#isSame((this.#table[slot] as number) * WORDS, words, offset)) break
    return slot
  }

  #isSame(key: number, words: Int32Array, offset: number): boolean {
    for (let index = 0; index < WORDS; index++) if (this.#keys[key + index] !== words[offset + index]) return false
    return true
  }
}

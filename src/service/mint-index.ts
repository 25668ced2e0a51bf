import { isPublicKey } from '../core/base58.ts'
import type { TokenId } from '../core/block.ts'
import type { Mints } from '../core/mints.ts'
import { type Bytes, bytesOf, tailOf } from './wire/bytes.ts'

const FREE = -1
/** A key in base58 has 32 to 44 characters, in a room of 44. */
const ROOM = 44
const decoder = new TextDecoder()

/** Token numbers by the bytes of their mints, so that a frame's mint becomes a number without becoming a string first. A mint is proved
 *  to be a key of 32 bytes once, when it is first seen. Open addressing, doubled at half full. */
export class MintIndex {
  readonly #mints: Mints
  /** Place among the keys; FREE where there is none. */
  #table = new Int32Array(1 << 12).fill(FREE)
  #keys = bytesOf(new ArrayBuffer((1 << 11) * ROOM))
  #lengths = new Uint8Array(1 << 11)
  #tokens = new Int32Array(1 << 11)
  #count = 0

  constructor(mints: Mints) {
    this.#mints = mints
  }

  /** The number of the mint in `start..end`, 32 to 44 bytes; -1 where that is no public key. */
  intern(source: Bytes, start: number, end: number): TokenId {
    const slot = this.#slotOf(source, start, end)
    const key = this.#table[slot] as number
    return key === FREE ? this.#add(slot, source.bytes.subarray(start, end)) : (this.#tokens[key] as number)
  }

  #add(slot: number, bytes: Uint8Array): TokenId {
    const mint = decoder.decode(bytes)
    if (!isPublicKey(mint)) return -1
    const token = this.#mints.intern(mint)
    this.#table[slot] = this.#count
    this.#keys.bytes.set(bytes, this.#count * ROOM)
    this.#lengths[this.#count] = bytes.length
    this.#tokens[this.#count] = token
    if (++this.#count === this.#tokens.length) this.#grow()
    return token
  }

  #grow(): void {
    const room = this.#count * 2
    const [keys, lengths, tokens] = [bytesOf(new ArrayBuffer(room * ROOM)), new Uint8Array(room), new Int32Array(room)]
    keys.bytes.set(this.#keys.bytes)
    lengths.set(this.#lengths)
    tokens.set(this.#tokens)
    this.#keys = keys
    this.#lengths = lengths
    this.#tokens = tokens
    this.#table = new Int32Array(room * 2).fill(FREE)
    for (let key = 0; key < this.#count; key++) {
      const start = key * ROOM
      this.#table[this.#slotOf(keys, start, start + (lengths[key] as number))] = key
    }
  }

  /** Where a key is in the table, or would be. */
  #slotOf(source: Bytes, start: number, end: number): number {
    const mask = this.#table.length - 1
    let slot = hashOf(source.view, start) & mask
    for (; this.#table[slot] !== FREE; slot = (slot + 1) & mask)
      if (this.#isSame(this.#table[slot] as number, source, start, end)) break
    return slot
  }

  #isSame(key: number, { bytes, view }: Bytes, start: number, end: number): boolean {
    if (this.#lengths[key] !== end - start) return false
    let own = key * ROOM
    let at = start
    for (; at + 4 <= end; at += 4, own += 4)
      if (this.#keys.view.getInt32(own, true) !== view.getInt32(at, true)) return false
    return tailOf(this.#keys.bytes, own, own + end - at) === tailOf(bytes, at, end)
  }
}

/** Over sixteen of the first digits: they are as good as random, while the last ones may be somebody's vanity (`...pump`). */
function hashOf(view: DataView, start: number): number {
  let hash = 0
  for (let at = start + 4; at < start + 20; at += 4) hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e3779b1)
  return hash ^ (hash >>> 15)
}

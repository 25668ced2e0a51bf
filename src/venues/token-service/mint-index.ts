import type { TokenId } from '../../market/block.ts'
import type { Mints } from '../../market/mints.ts'
import { isPublicKey } from '../../solana/base58.ts'
import { type Bytes, bytesOf, tailOf } from './wire/bytes.ts'

const FREE = -1
/** Number of bytes reserved for each key. A public key in base58 has 32 to 44 characters. */
const ROOM = 44
const MIN_KEYS = 1 << 11
/** Minimum number of new mints at which recycling token numbers is worth its cost. */
const MIN_NEW = 1 << 14
const decoder = new TextDecoder()

/** Looks up token numbers by the bytes of a mint, so that no string is created for the mint of a frame. When a mint is
 *  first seen, it is checked to be a public key of 32 bytes. The table uses open addressing, and doubles when it is
 *  half full. */
export class MintIndex {
  readonly #mints: Mints
  /** For each place of the hash table, the index of its key, or FREE. */
  #table = new Int32Array(MIN_KEYS * 2).fill(FREE)
  #keys = bytesOf(new ArrayBuffer(MIN_KEYS * ROOM))
  #lengths = new Uint8Array(MIN_KEYS)
  #tokens = new Int32Array(MIN_KEYS)
  /** For each key, 1 if its mint was seen since token numbers were last recycled. */
  #isMet = new Uint8Array(MIN_KEYS)
  #count = 0
  #dueCount = MIN_NEW

  constructor(mints: Mints) {
    this.#mints = mints
  }

  /** Returns the token number of the mint in bytes `start..end` (32 to 44 bytes); -1 if it is not a public key. */
  intern(source: Bytes, start: number, end: number): TokenId {
    const slot = this.#slotOf(source, start, end)
    const key = this.#table[slot] as number
    if (key === FREE) return this.#add(slot, source.bytes.subarray(start, end))
    this.#isMet[key] = 1
    return this.#tokens[key] as number
  }

  /** Whether enough new mints were seen to recycle token numbers. */
  get isDue(): boolean {
    return this.#count >= this.#dueCount
  }

  /** Recycles the token numbers of mints that were not seen since the last call, unless another component keeps data
   *  for them. */
  giveBack(): void {
    const isMet = new Uint8Array(this.#mints.list.length)
    for (let key = 0; key < this.#count; key++) isMet[this.#tokens[key] as number] = this.#isMet[key] as number
    this.#mints.giveBack((token) => isMet[token] === 1)
    this.#isMet.fill(0)
    const { list } = this.#mints
    let kept = 0
    for (let key = 0; key < this.#count; key++) {
      const token = this.#tokens[key] as number
      if (list[token] === '') continue
      this.#keys.bytes.copyWithin(kept * ROOM, key * ROOM, (key + 1) * ROOM)
      this.#lengths[kept] = this.#lengths[key] as number
      this.#tokens[kept++] = token
    }
    this.#count = kept
    this.#dueCount = kept + Math.max(MIN_NEW, kept / 2)
    this.#rebuild(Math.max(MIN_KEYS, 2 ** Math.ceil(Math.log2(kept + 1))))
  }

  #add(slot: number, bytes: Uint8Array): TokenId {
    const mint = decoder.decode(bytes)
    if (!isPublicKey(mint)) return -1
    const token = this.#mints.intern(mint)
    this.#table[slot] = this.#count
    this.#keys.bytes.set(bytes, this.#count * ROOM)
    this.#lengths[this.#count] = bytes.length
    this.#isMet[this.#count] = 1
    this.#tokens[this.#count] = token
    if (++this.#count === this.#tokens.length) this.#rebuild(this.#count * 2)
    return token
  }

  /** Reallocates all tables for `room` keys. */
  #rebuild(room: number): void {
    const count = this.#count
    const keys = bytesOf(new ArrayBuffer(room * ROOM))
    keys.bytes.set(this.#keys.bytes.subarray(0, count * ROOM))
    this.#keys = keys
    this.#lengths = resized(this.#lengths, new Uint8Array(room), count)
    this.#isMet = resized(this.#isMet, new Uint8Array(room), count)
    this.#tokens = resized(this.#tokens, new Int32Array(room), count)
    this.#table = new Int32Array(room * 2).fill(FREE)
    for (let key = 0; key < count; key++) {
      const start = key * ROOM
      this.#table[this.#slotOf(keys, start, start + (this.#lengths[key] as number))] = key
    }
  }

  /** Returns the index of a key in the hash table. If the table does not contain the key, returns the empty index at
   *  which the key must be inserted. */
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

function resized<T extends Uint8Array | Int32Array>(from: T, to: T, count: number): T {
  to.set(from.subarray(0, count))
  return to
}

/** Hashes sixteen characters of a key, from the fifth on. These are nearly random, whereas an owner may have chosen the
 *  last characters (vanity addresses such as `...pump`). */
function hashOf(view: DataView, start: number): number {
  let hash = 0
  for (let at = start + 4; at < start + 20; at += 4) hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e3779b1)
  return hash ^ (hash >>> 15)
}

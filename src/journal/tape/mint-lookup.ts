import type { Mints } from '../../market/mints.ts'

const QUOTE = 0x22
const ESCAPE = 0x5c
const FREE = -1
const FIRST_ENTRIES = 2048
/** Number of digits of a base58 key. Texts with fewer or more digits are looked up as strings. */
const SHORTEST = 32
const LONGEST = 44
/** Size of an entry, a cache line: the bytes of a text, its length, and the number of its mint. */
const ENTRY_BYTES = 64
const LENGTH_AT = 44
const NUMBER_AT = 48
/** Number of mints that are looked up together. Their hashes are computed first, then all are searched, and then all
 *  are compared, so that the cache misses of the batch overlap. */
const BATCH = 64
/** The look-up of each mint list. The process starts a new list when it reuses mint numbers. */
const lookups = new WeakMap<Mints['list'], MintLookup>()
const decoder = new TextDecoder()

/** Returns the numbers of the mints that a block lists. `list` is JSON in UTF-8. */
export function numbersOf(mints: Mints, list: Uint8Array): Uint32Array {
  // A list with an escape sequence is parsed as JSON, which is slower.
  if (list.includes(ESCAPE))
    return Uint32Array.from(JSON.parse(decoder.decode(list)) as string[], (mint) => mints.intern(mint))
  const lookup = lookups.get(mints.list) ?? new MintLookup(mints)
  lookups.set(mints.list, lookup)
  return lookup.numbersOf(list)
}

/** Finds the mints of a list by their bytes, without creating strings. Most mints repeat in every block, and creating
 *  and hashing a string for each would cost more than all other work on the block. The hash table uses open addressing
 *  and is at most half full. */
class MintLookup {
  readonly #mints: Mints
  /** Pairs of a hash and the number of its entry, by hash. */
  #table = new Int32Array(FIRST_ENTRIES * 4).fill(FREE)
  #entries = new DataView(new ArrayBuffer(FIRST_ENTRIES * ENTRY_BYTES))
  #count = 0
  /** Of the mints of a batch: the place in the list, the guessed length, and the hash, then the entry. */
  readonly #places = new Int32Array(BATCH)
  readonly #lengths = new Int32Array(BATCH)
  readonly #found = new Int32Array(BATCH)
  /** The numbers of the present list. The first `#taken` places are used. */
  #numbers = new Uint32Array(FIRST_ENTRIES)
  #taken = 0

  constructor(mints: Mints) {
    this.#mints = mints
  }

  numbersOf(list: Uint8Array): Uint32Array {
    const view = new DataView(list.buffer, list.byteOffset, list.byteLength)
    this.#taken = 0
    for (let at = 2; at < list.length; ) {
      const count = this.#gather(list, view, at)
      at = count === 0 ? this.#takeOne(list, view, at) : this.#take(count, list, view)
    }
    return this.#numbers.slice(0, this.#taken)
  }

  /** Searches the next mints whose length can be guessed. Returns their number. */
  #gather(list: Uint8Array, view: DataView, from: number): number {
    const places = this.#places
    const lengths = this.#lengths
    const found = this.#found
    let count = 0
    for (let at = from; count < BATCH; count++) {
      const length = list[at + LONGEST] === QUOTE ? LONGEST : LONGEST - 1
      if (list[at + length] !== QUOTE) break
      places[count] = at
      lengths[count] = length
      found[count] = hashOf(view, at)
      at += length + 3
    }
    for (let index = 0; index < count; index++) found[index] = this.#search(found[index] as number)
    return count
  }

  /** Adds the numbers of the gathered mints. Returns the place behind the last one. Stops at a length that was guessed
   *  wrong: the bytes then include a quote, which no entry contains. */
  #take(count: number, list: Uint8Array, view: DataView): number {
    let at = 0
    for (let index = 0; index < count; index++) {
      const entry = this.#found[index] as number
      const length = this.#lengths[index] as number
      at = this.#places[index] as number
      if (entry !== FREE && this.#isSame(entry, view, at, length)) {
        this.#put(this.#entries.getInt32(entry * ENTRY_BYTES + NUMBER_AT))
        at += length + 3
        continue
      }
      const next = this.#takeOne(list, view, at)
      if (next !== at + length + 3) return next
      at = next
    }
    return at
  }

  /** Adds the number of one mint. Returns the place behind it. */
  #takeOne(list: Uint8Array, view: DataView, at: number): number {
    const length = list.indexOf(QUOTE, at) - at
    this.#put(this.#numberOf(list, view, at, length))
    return at + length + 3
  }

  #put(number: number): void {
    if (this.#taken === this.#numbers.length) {
      const grown = new Uint32Array(this.#taken * 2)
      grown.set(this.#numbers)
      this.#numbers = grown
    }
    this.#numbers[this.#taken++] = number
  }

  #numberOf(list: Uint8Array, view: DataView, at: number, length: number): number {
    const isKey = length >= SHORTEST && length <= LONGEST
    if (!isKey) return this.#mints.intern(decoder.decode(list.subarray(at, at + length)))
    const hash = hashOf(view, at)
    const known = this.#find(hash, view, at, length)
    if (known !== FREE) return this.#entries.getInt32(known * ENTRY_BYTES + NUMBER_AT)
    const number = this.#mints.intern(decoder.decode(list.subarray(at, at + length)))
    this.#add(hash, view, at, length, number)
    return number
  }

  /** Returns the first entry with this hash, or FREE. */
  #search(hash: number): number {
    const table = this.#table
    const mask = table.length / 2 - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = table[slot * 2 + 1] as number
      if (entry === FREE || table[slot * 2] === hash) return entry
    }
  }

  /** Returns the entry with these bytes, or FREE. */
  #find(hash: number, view: DataView, at: number, length: number): number {
    const table = this.#table
    const mask = table.length / 2 - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = table[slot * 2 + 1] as number
      if (entry === FREE || (table[slot * 2] === hash && this.#isSame(entry, view, at, length))) return entry
    }
  }

  /** Whether an entry has these bytes. Compares four bytes at a time; the last four may overlap the four before. */
  #isSame(entry: number, view: DataView, at: number, length: number): boolean {
    const entries = this.#entries
    const start = entry * ENTRY_BYTES
    if (entries.getUint8(start + LENGTH_AT) !== length) return false
    for (let place = 0; place < length - 4; place += 4)
      if (entries.getInt32(start + place) !== view.getInt32(at + place)) return false
    return entries.getInt32(start + length - 4) === view.getInt32(at + length - 4)
  }

  #add(hash: number, view: DataView, at: number, length: number, number: number): void {
    if (this.#count * ENTRY_BYTES === this.#entries.byteLength) this.#grow()
    const entry = this.#count++
    const start = entry * ENTRY_BYTES
    for (let place = 0; place < length; place++) this.#entries.setUint8(start + place, view.getUint8(at + place))
    this.#entries.setUint8(start + LENGTH_AT, length)
    this.#entries.setInt32(start + NUMBER_AT, number)
    this.#enter(hash, entry)
  }

  #enter(hash: number, entry: number): void {
    const table = this.#table
    const mask = table.length / 2 - 1
    let slot = hash & mask
    while (table[slot * 2 + 1] !== FREE) slot = (slot + 1) & mask
    table[slot * 2] = hash
    table[slot * 2 + 1] = entry
  }

  #grow(): void {
    const count = this.#count
    const entries = new Uint8Array(count * 2 * ENTRY_BYTES)
    entries.set(new Uint8Array(this.#entries.buffer))
    this.#entries = new DataView(entries.buffer)
    this.#table = new Int32Array(count * 8).fill(FREE)
    for (let entry = 0; entry < count; entry++) this.#enter(hashOf(this.#entries, entry * ENTRY_BYTES), entry)
  }
}

/** Hashes the sixteen digits after the first four, because vanity keys have the same first or last digits. */
function hashOf(view: DataView, at: number): number {
  let hash = view.getInt32(at + 4)
  for (let place = 8; place < 20; place += 4) hash = Math.imul(hash, 0x85ebca6b) ^ view.getInt32(at + place)
  hash = Math.imul(hash ^ (hash >>> 15), 0x9e3779b1)
  return hash ^ (hash >>> 15)
}

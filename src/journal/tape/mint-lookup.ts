import type { Mints } from '../../market/mints.ts'

const QUOTE = 0x22
const ESCAPE = 0x5c
const FREE = -1
const FIRST_ENTRIES = 2048
/** Number of digits of a base58 key. Texts with fewer or more digits are looked up as strings. */
const SHORTEST = 32
const LONGEST = 44
/** Size of an entry: the bytes of a text, and its length. */
const ENTRY_BYTES = 48
/** The lookup of each mint list. The process starts a new list when it reuses mint numbers. */
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
  /** Numbers of entries, by hash. */
  #table = new Int32Array(FIRST_ENTRIES * 2).fill(FREE)
  /** Text of each entry, with its length in the last byte. */
  #texts = new DataView(new ArrayBuffer(FIRST_ENTRIES * ENTRY_BYTES))
  /** Mint number of each entry. */
  readonly #numbers: number[] = []

  constructor(mints: Mints) {
    this.#mints = mints
  }

  numbersOf(list: Uint8Array): Uint32Array {
    const view = new DataView(list.buffer, list.byteOffset, list.byteLength)
    const numbers: number[] = []
    for (let at = 2; at < list.length; ) {
      const guess = list[at + LONGEST] === QUOTE ? LONGEST : LONGEST - 1
      const known = list[at + guess] === QUOTE ? this.#find(view, at, guess) : FREE
      const length = known === FREE ? list.indexOf(QUOTE, at) - at : guess
      numbers.push(known === FREE ? this.#numberOf(list, view, at, length) : (this.#numbers[known] as number))
      at += length + 3
    }
    return Uint32Array.from(numbers)
  }

  #numberOf(list: Uint8Array, view: DataView, at: number, length: number): number {
    const isKey = length >= SHORTEST && length <= LONGEST
    const known = isKey ? this.#find(view, at, length) : FREE
    if (known !== FREE) return this.#numbers[known] as number
    const number = this.#mints.intern(decoder.decode(list.subarray(at, at + length)))
    if (isKey) this.#add(view, at, length, number)
    return number
  }

  /** Number of the entry with these bytes, or FREE. If the guessed length exceeds the key, the bytes include a quote,
   *  and no entry contains one. */
  #find(view: DataView, at: number, length: number): number {
    const mask = this.#table.length - 1
    for (let slot = hashOf(view, at) & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#table[slot] as number
      if (entry === FREE || this.#isSame(entry, view, at, length)) return entry
    }
  }

  /** Whether an entry has these bytes. Compares four bytes at a time; the last four may overlap the four before. */
  #isSame(entry: number, view: DataView, at: number, length: number): boolean {
    const texts = this.#texts
    const start = entry * ENTRY_BYTES
    if (texts.getUint8(start + ENTRY_BYTES - 1) !== length) return false
    for (let place = 0; place < length - 4; place += 4)
      if (texts.getInt32(start + place) !== view.getInt32(at + place)) return false
    return texts.getInt32(start + length - 4) === view.getInt32(at + length - 4)
  }

  #add(view: DataView, at: number, length: number, number: number): void {
    const entry = this.#numbers.push(number) - 1
    if (entry * 2 === this.#table.length) this.#grow()
    const start = entry * ENTRY_BYTES
    for (let place = 0; place < length; place++) this.#texts.setUint8(start + place, view.getUint8(at + place))
    this.#texts.setUint8(start + ENTRY_BYTES - 1, length)
    this.#enter(entry)
  }

  #enter(entry: number): void {
    const mask = this.#table.length - 1
    let slot = hashOf(this.#texts, entry * ENTRY_BYTES) & mask
    while (this.#table[slot] !== FREE) slot = (slot + 1) & mask
    this.#table[slot] = entry
  }

  #grow(): void {
    const count = this.#table.length / 2
    const texts = new Uint8Array(count * 2 * ENTRY_BYTES)
    texts.set(new Uint8Array(this.#texts.buffer))
    this.#texts = new DataView(texts.buffer)
    this.#table = new Int32Array(count * 4).fill(FREE)
    for (let entry = 0; entry < count; entry++) this.#enter(entry)
  }
}

/** Hashes the sixteen digits after the first four, because vanity keys have the same first or last digits. */
function hashOf(view: DataView, at: number): number {
  let hash = view.getInt32(at + 4)
  for (let place = 8; place < 20; place += 4) hash = Math.imul(hash, 0x85ebca6b) ^ view.getInt32(at + place)
  hash = Math.imul(hash ^ (hash >>> 15), 0x9e3779b1)
  return hash ^ (hash >>> 15)
}

import { wordsAtLine } from '../../base/cache-line.ts'
import type { Mints } from '../../market/mints.ts'

const QUOTE = 0x22
const ESCAPE = 0x5c
/** Smallest number of digits of a base58 key. Texts that are shorter or longer than a key are looked up as strings. */
const SHORTEST = 32
const LONGEST = 44
const FIRST_PLACES = 4096
/** An entry of the hash table has the size of a cache line. It contains the text of a mint in words of four bytes, its
 *  length, its hash, and its number + 1, which is 0 in a free entry. The last word contains the last four bytes of the
 *  text, so it may overlap the word before it. */
const WORDS_LOG2 = 4
const WORDS = 1 << WORDS_LOG2
const LAST_WORD = LONGEST / 4 - 1
const LENGTH = 11
const HASH = 12
const NUMBER = 13
const FREE = 0
/** Number of mints that are looked up together. First all hashes are computed, then all entries are searched, and then
 *  all texts are compared, so that the processor can handle several cache misses at the same time. */
const BATCH = 64
/** The lookup table that belongs to each list of mints. When mint numbers are reused, a new list begins, which needs a
 *  new table. */
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
 *  and is at most half full. The texts are in the table itself, so that most look-ups read one cache line. */
class MintLookup {
  readonly #mints: Mints
  #entries = wordsAtLine(FIRST_PLACES * WORDS)
  #count = 0
  /** For each mint of a batch: its offset in the list, the guessed length of its text, and the hash of its text. After
   *  the search, the position of the mint's entry in the table replaces the hash. */
  readonly #places = new Int32Array(BATCH)
  readonly #lengths = new Int32Array(BATCH)
  readonly #found = new Int32Array(BATCH)
  /** The numbers of the mints in the list that is being read. The first `#taken` are valid. */
  #numbers = new Uint32Array(FIRST_PLACES)
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

  /** Reads the next mints of the list, and looks up their entries. Stops after BATCH mints, or before a mint whose
   *  length cannot be guessed. Returns the number of mints that were read. */
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

  /** Adds the numbers of the mints of the batch. Returns the offset of the mint after the last one that was added.
   *  Stops after a mint whose guessed length is wrong, because the offsets of the later mints are then wrong too. A
   *  text of the wrong length contains a quotation mark, so no entry of the table equals it. */
  #take(count: number, list: Uint8Array, view: DataView): number {
    let at = 0
    for (let index = 0; index < count; index++) {
      const entry = this.#found[index] as number
      const length = this.#lengths[index] as number
      at = this.#places[index] as number
      if (this.#isSame(entry, view, at, length)) {
        this.#put((this.#entries[entry + NUMBER] as number) - 1)
        at += length + 3
        continue
      }
      const next = this.#takeOne(list, view, at)
      if (next !== at + length + 3) return next
      at = next
    }
    return at
  }

  /** Adds the number of the mint at the offset `at`. Returns the offset of the next mint. */
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
    if (this.#count * 2 >= this.#entries.length / WORDS) this.#grow()
    const hash = hashOf(view, at)
    const entry = this.#find(hash, view, at, length)
    if (this.#entries[entry + NUMBER] === FREE) this.#fill(entry, hash, list, view, at, length)
    return (this.#entries[entry + NUMBER] as number) - 1
  }

  /** Returns the first entry with this hash; if there is none, a free entry. */
  #search(hash: number): number {
    const entries = this.#entries
    const last = entries.length - WORDS
    for (let entry = (hash << WORDS_LOG2) & last; ; entry = (entry + WORDS) & last)
      if (entries[entry + NUMBER] === FREE || entries[entry + HASH] === hash) return entry
  }

  /** Returns the entry of the text at the offset `at`; if the table does not contain the text, a free entry for it. */
  #find(hash: number, view: DataView, at: number, length: number): number {
    const entries = this.#entries
    const last = entries.length - WORDS
    for (let entry = (hash << WORDS_LOG2) & last; ; entry = (entry + WORDS) & last)
      if (entries[entry + NUMBER] === FREE || this.#isSame(entry, view, at, length)) return entry
  }

  /** Whether an entry contains the text at the offset `at`. */
  #isSame(entry: number, view: DataView, at: number, length: number): boolean {
    const entries = this.#entries
    if (entries[entry + LENGTH] !== length) return false
    for (let place = 0; place < length - 4; place += 4)
      if (entries[entry + (place >> 2)] !== view.getInt32(at + place)) return false
    return entries[entry + LAST_WORD] === view.getInt32(at + length - 4)
  }

  #fill(entry: number, hash: number, list: Uint8Array, view: DataView, at: number, length: number): void {
    const entries = this.#entries
    for (let place = 0; place < length - 4; place += 4) entries[entry + (place >> 2)] = view.getInt32(at + place)
    entries[entry + LAST_WORD] = view.getInt32(at + length - 4)
    entries[entry + LENGTH] = length
    entries[entry + HASH] = hash
    entries[entry + NUMBER] = this.#mints.intern(decoder.decode(list.subarray(at, at + length))) + 1
    this.#count++
  }

  #grow(): void {
    const before = this.#entries
    const last = before.length * 2 - WORDS
    const entries = wordsAtLine(before.length * 2)
    for (let old = 0; old < before.length; old += WORDS) {
      if (before[old + NUMBER] === FREE) continue
      let entry = ((before[old + HASH] as number) << WORDS_LOG2) & last
      while (entries[entry + NUMBER] !== FREE) entry = (entry + WORDS) & last
      entries.set(before.subarray(old, old + WORDS), entry)
    }
    this.#entries = entries
  }
}

/** Hashes the sixteen digits after the first four, because vanity keys have the same first or last digits. */
function hashOf(view: DataView, at: number): number {
  let hash = view.getInt32(at + 4)
  for (let place = 8; place < 20; place += 4) hash = Math.imul(hash, 0x85ebca6b) ^ view.getInt32(at + place)
  hash = Math.imul(hash ^ (hash >>> 15), 0x9e3779b1)
  return hash ^ (hash >>> 15)
}

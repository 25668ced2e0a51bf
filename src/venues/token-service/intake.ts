import type { Millis } from '../../base/units.ts'
import { RowKind, type TokenId } from '../../market/block.ts'
import { LiveBlock } from '../../market/live-block.ts'
import type { Mints } from '../../market/mints.ts'
import type { Shedding } from '../feed-overload.ts'
import type { DeliverRows } from '../venue.ts'
import { MintIndex } from './mint-index.ts'
import type { Bytes } from './wire/bytes.ts'
import type { Row } from './wire/row.ts'

/** Result of adding a row. `shed`: the row was dropped under overload. `bad mint`: the text is not a public key of 32
 *  bytes. `no room`: the row does not fit even into an empty block. */
export type AddResult = 'row' | 'duplicate' | 'shed' | 'bad mint' | 'no room'

/** Appends decoded rows to the current block and delivers them in batches, because this costs less than delivering each
 *  row alone. Allocates nothing per row. */
export class Intake {
  /** The block that is being written. It is replaced when it is full. */
  block: LiveBlock
  /** Index of the first row that was not delivered yet. */
  #next = 0
  /** Number of rows delivered so far (`#rows`), and its value when token numbers were last recycled (`#rowsThen`). */
  #rows = 0
  #rowsThen = 0
  readonly #rowsHandled: () => number
  readonly #deliverRows: DeliverRows
  readonly #mints: Mints
  readonly #index: MintIndex
  readonly #isHeld: (token: TokenId) => boolean
  readonly #duplicates: Duplicates
  readonly #hash = new EventHash()

  /** `rowsHandled` returns how many of the delivered rows the engine has processed. */
  constructor(
    mints: Mints,
    isHeld: (token: TokenId) => boolean,
    deliverRows: DeliverRows,
    rowsHandled: () => number = () => Number.POSITIVE_INFINITY,
    window?: number,
  ) {
    this.#deliverRows = deliverRows
    this.#rowsHandled = rowsHandled
    this.#mints = mints
    this.#index = new MintIndex(mints)
    this.#isHeld = isHeld
    this.#duplicates = new Duplicates(window)
    this.block = new LiveBlock(mints.list)
  }

  /** Appends a row with its arrival time, unless it is a duplicate or is dropped under overload. */
  add(row: Row, time: Millis, shedding: Shedding): AddResult {
    const token = this.#index.intern(row.texts, row.mintStart, row.mintEnd)
    if (token < 0) return 'bad mint'
    if (shedding > 0 && isSheddable(row.kind, shedding) && !this.#isHeld(token)) return 'shed'
    if (this.#isDuplicate(row, token)) return 'duplicate'
    if (this.#append(row, time, token)) return 'row'
    this.deliver()
    this.#giveBackMints()
    this.block = new LiveBlock(this.#mints.list)
    this.#next = 0
    return this.#append(row, time, token) ? 'row' : 'no room'
  }

  /** Delivers all rows appended since the last delivery. */
  deliver(): void {
    const { block } = this
    while (this.#next < block.length) {
      const next = this.#deliverRows(block, this.#next, block.length)
      this.#rows += next - this.#next
      this.#next = next
    }
  }

  /** Recycles the token numbers of mints that were not seen since the last call. Called between two blocks, because all
   *  rows of a block use the same list of mints. Does nothing while the engine still has to process rows from before
   *  the last call. The row that did not fit into the full block counts as a row from before this call. */
  #giveBackMints(): void {
    if (!this.#index.isDue || this.#rowsHandled() < this.#rowsThen) return
    this.#rowsThen = this.#rows + 1
    this.#index.giveBack()
  }

  #append(row: Row, time: Millis, token: TokenId): boolean {
    return this.block.appendBytes(time, row.stamp, row.kind, token, row.numbers, row.texts, row.details)
  }

  /** Whether an event was seen before. A trade with a signature is compared by its signature and amounts, without its
   *  timestamp: one transaction may contain several trades. */
  #isDuplicate({ kind, stamp, numbers, texts }: Row, token: TokenId): boolean {
    const hash = this.#hash
    hash.start(kind)
    hash.word(token)
    hash.text(texts, texts.signatureStart, texts.signatureEnd)
    hash.text(texts, texts.traderStart, texts.traderEnd)
    hash.number(numbers.amount)
    hash.number(numbers.size)
    if (kind >= RowKind.newToken || texts.signatureStart === texts.signatureEnd) {
      hash.number(stamp)
      hash.number(numbers.price)
      hash.number(numbers.marketCap)
      hash.number(numbers.extra)
      hash.number(numbers.extra2)
    }
    return this.#duplicates.check(hash)
  }
}

function isSheddable(kind: RowKind, shedding: Shedding): boolean {
  return kind === RowKind.priceUpdate || (shedding > 1 && kind !== RowKind.newToken)
}

/** Two 32-bit hashes of the same words. With 8,192 remembered events the probability of a collision is about 1e-15 per
 *  event. Crafted events could collide, but events come from the service itself. */
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

  /** Adds the bits of a number to the hash. So 0 and -0 give different hashes, and all NaN give the same hash. */
  number(value: number): void {
    this.#double[0] = value
    this.word(this.#words[0] as number)
    this.word(this.#words[1] as number)
  }

  /** Hashes the length and all bytes of a text, four at a time. If the length is not a multiple of four, the last four
   *  bytes overlap the ones before. */
  text({ bytes, view }: Bytes, start: number, end: number): void {
    this.word(end - start)
    if (end - start < 4) {
      for (let at = start; at < end; at++) this.word(bytes[at] as number)
      return
    }
    for (let at = start; at < end - 4; at += 4) this.word(view.getInt32(at, true))
    this.word(view.getInt32(end - 4, true))
  }
}

/** Remembers at least the last `size` events, and at most twice as many. Two tables alternate: when the newer one is
 *  full, the older one is cleared and becomes the newer one. No event is deleted individually. */
export class Duplicates {
  readonly #size: number
  #newer: HashSet
  #older: HashSet

  constructor(size = 8192) {
    this.#size = size
    this.#newer = new HashSet(size)
    this.#older = new HashSet(size)
  }

  /** Returns true if the event is remembered; otherwise remembers it and returns false. */
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

/** Set of pairs of 32-bit hashes, with open addressing and at most half full. A first hash of 0 marks an empty entry,
 *  so a hash of 0 is stored as 1. */
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

  /** Adds a pair; returns false if it is already in the set. */
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

  /** Returns the index of the pair in the hash table. If the table does not contain the pair, returns the empty index
   *  at which the pair must be inserted. */
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

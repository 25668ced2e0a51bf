import type { Millis } from '../../base/units.ts'
import { RowKind, type TokenId } from '../../market/block.ts'
import { LiveBlock } from '../../market/live-block.ts'
import type { Mints } from '../../market/mints.ts'
import type { Shedding } from '../overload.ts'
import type { TakeOver } from '../venue.ts'
import { MintIndex } from './mint-index.ts'
import type { Bytes } from './wire/bytes.ts'
import type { Row } from './wire/row.ts'

/** `bad mint`: not the key of 32 bytes that its length promised. `no room`: not even in an empty block. */
export type Taken = 'row' | 'duplicate' | 'shed' | 'bad mint' | 'no room'

/** The last steps of a market record: into the columns of the current block, and on with the others of what was read at
 *  once, which costs less than one by one. Nothing is allocated for a row. */
export class Intake {
  /** The block that rows are being written to; another one once it is full. */
  block: LiveBlock
  /** The first row that was not taken over yet. */
  #next = 0
  /** Taken over, of all blocks: by now, and when numbers of mints were last given back. */
  #rows = 0
  #rowsThen = 0
  readonly #rowsHandled: () => number
  readonly #takeOver: TakeOver
  readonly #mints: Mints
  readonly #index: MintIndex
  readonly #isHeld: (token: TokenId) => boolean
  readonly #duplicates: Duplicates
  readonly #hash = new EventHash()

  /** `rowsHandled`: of those taken over, how many are done with. */
  constructor(
    mints: Mints,
    isHeld: (token: TokenId) => boolean,
    takeOver: TakeOver,
    rowsHandled: () => number = () => Number.POSITIVE_INFINITY,
    window?: number,
  ) {
    this.#takeOver = takeOver
    this.#rowsHandled = rowsHandled
    this.#mints = mints
    this.#index = new MintIndex(mints)
    this.#isHeld = isHeld
    this.#duplicates = new Duplicates(window)
    this.block = new LiveBlock(mints.list)
  }

  /** Appends a row, stamped with its arrival, unless it was here before or has to be let go. */
  take(row: Row, time: Millis, shedding: Shedding): Taken {
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

  /** Hands over what was taken since the last time. */
  deliver(): void {
    const { block } = this
    while (this.#next < block.length) {
      const next = this.#takeOver(block, this.#next, block.length)
      this.#rows += next - this.#next
      this.#next = next
    }
  }

  /** Between two blocks, since one has one list of mints. What still waits to be handled must have come since the last
   *  time: those mints keep their numbers. The row that there is no room for came before it. */
  #giveBackMints(): void {
    if (!this.#index.isDue || this.#rowsHandled() < this.#rowsThen) return
    this.#rowsThen = this.#rows + 1
    this.#index.giveBack()
  }

  #append(row: Row, time: Millis, token: TokenId): boolean {
    return this.block.appendBytes(time, row.stamp, row.kind, token, row.numbers, row.texts, row.details)
  }

  /** Over all that makes an event itself. A trade with a signature is the same event whenever it is said to have
   *  happened; one transaction may hold several trades, so the amounts count too. */
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

/** Two hashes of 32 bits over the same words: together wide enough that two different events do not meet by chance
 *  (about 1e-15 an event with 8,192 remembered). Not against somebody who chooses the events: those come from the
 *  service itself. */
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

  /** A key or signature in base58, by its length, its first four digits and its last twelve: those alone depend on
   *  every byte of it. */
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

/** Whether an event was seen among the last `size` to `2 * size`. Two tables take turns: when the newer one is full,
 *  the older is emptied and becomes the newer, so nothing is ever deleted one by one. */
export class Duplicates {
  readonly #size: number
  #newer: HashSet
  #older: HashSet

  constructor(size = 8192) {
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

/** Pairs of 32-bit hashes by open addressing; at most half full. A first hash of 0 would mean free, so it is taken for
 *  1. */
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

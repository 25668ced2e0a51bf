import type { Seq } from '../../base/units.ts'
import { type Block, NO_DETAILS, type Texts } from '../../market/block.ts'
import { bytesOf, type Column, encodeDoubles, encodeIndex, encodeKinds, encodeOffsets, MAX_ROWS } from './column.ts'
import { KEY_BYTES, packText, SIGNATURE_BYTES } from './packed-text.ts'

/** The rows `from` to `to` of a block, whose seqs are consecutive, beginning with `firstSeq`. */
export interface Slice {
  readonly block: Block
  readonly from: number
  readonly to: number
  readonly firstSeq: Seq
}

/** Largest span of time in a block: times are stored as 4-byte offsets in ms, which limits a block to 24 days. */
export const MAX_SPAN_MS = 2 ** 31 - 1
const MAX_DICTIONARY = 256
/** Initial size of the buffer for a text, bytes. */
const LONGEST_TEXT = 128

/** Texts of a block that cannot be packed, because they are not base58 or are longer than a key or signature. They are
 *  stored unpacked, each under the number of its row. */
export interface OddTexts {
  signature?: Record<number, string>
  trader?: Record<number, string>
}

/** A row of table `block`, and the rows of table `run` for it: one for each run of consecutive seqs, except the first
 *  run. */
export interface EncodedBlock {
  readonly rows: number
  readonly firstSeq: Seq
  readonly lastSeq: Seq
  readonly firstTime: number
  readonly lastTime: number
  readonly runs: readonly { row: number; seq: Seq }[]
  readonly kind: Uint8Array
  readonly mints: readonly string[]
  readonly token: Uint8Array | null
  readonly time: Uint8Array
  readonly stamp: Uint8Array
  readonly stampExact: boolean
  readonly price: Column
  readonly amount: Column
  readonly size: Column
  readonly marketCap: Column
  readonly extra: Column
  readonly extra2: Column
  readonly trader: Column
  readonly signature: Column
  readonly details: Record<number, object> | null
  readonly odd: OddTexts | null
}

const DOUBLES = ['time', 'stamp', 'price', 'amount', 'size', 'marketCap', 'extra', 'extra2'] as const

/** Collects market rows and encodes them as one block. Texts are packed as soon as rows are added, so that little work
 *  remains when an order waits for the commit. */
export class BlockEncoder {
  rows = 0
  #runs: { row: number; seq: Seq }[] = []
  #nextSeq = 0
  readonly #doubles = Object.fromEntries(DOUBLES.map((name) => [name, new Float64Array(MAX_ROWS)])) as Record<
    (typeof DOUBLES)[number],
    Float64Array
  >
  readonly #kind = new Uint8Array(MAX_ROWS)
  readonly #token = new Uint16Array(MAX_ROWS)
  readonly #tokens = new Map<number, number>()
  readonly #mints: string[] = []
  #mintList: readonly string[] = []
  readonly #trader = new Uint16Array(MAX_ROWS)
  readonly #traders = new KeyIndex()
  readonly #signature = new Uint16Array(MAX_ROWS)
  // entry 0 stays zero and means that there is no signature
  readonly #signatureBytes = new Uint8Array(SIGNATURE_BYTES * (MAX_ROWS + 1))
  #signatureCount = 1
  #details: Record<number, object> | null = null
  #odd: OddTexts | null = null
  /** Text of the current row. A text that does not fit is neither a key nor a signature. */
  readonly #text = new Uint8Array(LONGEST_TEXT)

  /** Adds as many rows of the slice as fit. Returns their number. */
  add({ block, from, to, firstSeq }: Slice): number {
    const end = this.#endOf(block, from, to)
    if (end === from) return 0
    const start = this.rows
    if (start === 0 || firstSeq !== this.#nextSeq) this.#runs.push({ row: start, seq: firstSeq })
    for (const name of DOUBLES) this.#doubles[name].set(block[name].subarray(from, end), start)
    this.#kind.set(block.kind.subarray(from, end), start)
    this.#addTokens(block, from, end)
    const { texts } = block
    for (let row = from, at = start; row < end; row++, at++) {
      this.#signature[at] = this.#addSignature(at, texts, row)
      this.#trader[at] = this.#addTrader(at, texts, row)
      const details = texts.details(row)
      if (details === NO_DETAILS) continue
      this.#details ??= {}
      this.#details[at] = details
    }
    this.rows = start + end - from
    this.#nextSeq = firstSeq + end - from
    return end - from
  }

  /** Encodes the rows as one block. The bytes of the block belong to this encoder and are valid until `clear`. Throws
   *  RangeError if a time is not an integer. */
  finish(): EncodedBlock {
    const { rows } = this
    const { time, stamp, price, amount, size, marketCap, extra, extra2 } = this.#doubles
    const firstTime = time[0] as number
    const times = encodeOffsets(time.subarray(0, rows), firstTime)
    if (times === undefined) throw new RangeError('the time of a market row is not a whole number of milliseconds')
    const stamps = encodeOffsets(stamp.subarray(0, rows), firstTime)
    return {
      rows,
      firstSeq: (this.#runs[0] as { seq: Seq }).seq,
      lastSeq: this.#nextSeq - 1,
      firstTime,
      lastTime: time[rows - 1] as number,
      runs: this.#runs,
      kind: encodeKinds(this.#kind.subarray(0, rows)),
      mints: this.#mints,
      token: encodeIndex(this.#token.subarray(0, rows), this.#mints.length),
      time: times,
      stamp: stamps ?? encodeDoubles(stamp.subarray(0, rows)).entries,
      stampExact: stamps === undefined,
      price: encodeDoubles(price.subarray(0, rows)),
      amount: encodeDoubles(amount.subarray(0, rows)),
      size: encodeDoubles(size.subarray(0, rows)),
      marketCap: encodeDoubles(marketCap.subarray(0, rows)),
      extra: encodeDoubles(extra.subarray(0, rows), MAX_DICTIONARY),
      extra2: encodeDoubles(extra2.subarray(0, rows), MAX_DICTIONARY),
      trader: {
        entries: this.#traders.bytes.subarray(0, this.#traders.room),
        index: encodeIndex(this.#trader.subarray(0, rows), this.#traders.count),
      },
      signature: this.#finishSignatures(),
      details: this.#details,
      odd: this.#odd,
    }
  }

  clear(): void {
    this.rows = 0
    this.#runs = []
    this.#tokens.clear()
    this.#mints.length = 0
    this.#traders.clear()
    this.#signatureCount = 1
    this.#details = null
    this.#odd = null
  }

  #endOf(block: Block, from: number, to: number): number {
    const end = Math.min(to, from + MAX_ROWS - this.rows)
    if (end === from) return end
    if (!Number.isSafeInteger(block.time[from]))
      throw new RangeError(`invalid time of a market row: ${block.time[from]}`)
    const first = (this.rows > 0 ? this.#doubles.time[0] : block.time[from]) as number
    if ((block.time[end - 1] as number) - first <= MAX_SPAN_MS) return end
    let near = from
    while ((block.time[near] as number) - first <= MAX_SPAN_MS) near++
    return near
  }

  /** Adds the tokens of the rows. Inside the block, mints have numbers of their own, which differ from those of this
   *  process. */
  #addTokens(block: Block, from: number, end: number): void {
    if (block.mints !== this.#mintList) this.#renumber(block.mints)
    for (let row = from, at = this.rows; row < end; row++, at++) {
      const token = block.token[row] as number
      let number = this.#tokens.get(token)
      if (number === undefined) {
        number = this.#mints.push(block.mints[token] as string) - 1
        this.#tokens.set(token, number)
      }
      this.#token[at] = number
    }
  }

  /** Begins a new table of mint numbers, because in `list` the same numbers stand for other mints than in the previous
   *  list. */
  #renumber(list: readonly string[]): void {
    this.#mintList = list
    this.#tokens.clear()
  }

  #addSignature(at: number, texts: Texts, row: number): number {
    const length = texts.signatureInto(row, this.#text)
    if (length === 0) return 0
    const place = this.#signatureCount * SIGNATURE_BYTES
    if (length > 0 && packText(this.#text, length, this.#signatureBytes, place, SIGNATURE_BYTES))
      return this.#signatureCount++
    this.#keepOdd('signature', at, texts.signature(row))
    return 0
  }

  #addTrader(at: number, texts: Texts, row: number): number {
    const length = texts.traderInto(row, this.#text)
    const { bytes, room } = this.#traders
    if (length >= 0 && packText(this.#text, length, bytes, room, KEY_BYTES)) return this.#traders.add()
    this.#keepOdd('trader', at, texts.trader(row))
    bytes.fill(0, room, room + KEY_BYTES)
    return this.#traders.add()
  }

  #keepOdd(column: keyof OddTexts, row: number, text: string): void {
    this.#odd ??= {}
    this.#odd[column] ??= {}
    this.#odd[column][row] = text
  }

  #finishSignatures(): Column {
    const count = this.#signatureCount
    const all = this.#signatureBytes.subarray(0, count * SIGNATURE_BYTES)
    if (count - 1 === this.rows) return { entries: all.subarray(SIGNATURE_BYTES), index: null }
    if (count === 1) return { entries: all, index: null }
    const index = this.#signature.subarray(0, this.rows)
    return { entries: all, index: count <= MAX_DICTIONARY ? Uint8Array.from(index) : bytesOf(index) }
  }
}

const FREE = 0

/** The distinct keys of a block, numbered in order of appearance. Keys are compared as bytes, because a string for each
 *  row would cost more than all other work. The hash table uses open addressing and is at most half full. */
class KeyIndex {
  /** The bytes of the keys, one key after the other. */
  readonly bytes = new Uint8Array(KEY_BYTES * (MAX_ROWS + 1))
  count = 0
  readonly #view = new DataView(this.bytes.buffer)
  /** Numbers of the keys by hash, counted from 1; 0 marks a free place. */
  readonly #table = new Uint16Array(2 ** Math.ceil(Math.log2(MAX_ROWS * 2 + 2)))
  readonly #slots = new Uint32Array(MAX_ROWS + 1)

  /** Offset at which the next key is written. */
  get room(): number {
    return this.count * KEY_BYTES
  }

  /** Adds the key whose bytes the caller has written at the offset `room`. Returns the number of the key; if an earlier
   *  key has the same bytes, the number of that key. */
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

  /** Whether the key with this number has the same bytes as the key at `room`. Compares four bytes at a time. The
   *  length is not a multiple of four, so the last comparison also covers bytes that were compared before. */
  #isSame(number: number): boolean {
    const [key, own] = [number * KEY_BYTES, this.room]
    for (let at = 0; at < KEY_BYTES - 4; at += 4)
      if (this.#view.getInt32(key + at) !== this.#view.getInt32(own + at)) return false
    return this.#view.getInt32(key + KEY_BYTES - 4) === this.#view.getInt32(own + KEY_BYTES - 4)
  }
}

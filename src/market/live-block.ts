import type { Millis } from '../base/units.ts'
import { type Block, NO_DETAILS, type RowKind, type Texts, type TokenDetails, type TokenId } from './block.ts'

/** The numbers of a row to append. `Columns` explains their meaning for each kind of row. */
export interface RowNumbers {
  price: number
  amount: number
  size: number
  marketCap: number
  extra: number
  extra2: number
}

/** The texts of a row as UTF-8 bytes of the received frame, which are copied into the block without decoding. */
export interface RowBytes {
  bytes: Uint8Array
  /** A view of `bytes`, to read four bytes at a time. */
  view: DataView
  signatureStart: number
  signatureEnd: number
  traderStart: number
  traderEnd: number
}

const ROW_BYTES = 8 * 8 + 4 + 4 + 4 + 1 + 1 + 1
/** Maximum length of all texts of a new token together, in characters. Each length is stored as one character, and a
 *  character with a higher number would be half of a surrogate pair. */
const LONGEST_DETAILS = 0xd7ff
const TEXT_BYTES_PER_ROW = 144 // 88 for a signature, 44 for a trader, and room for new tokens

/** The block that the feed writes. It is one SharedArrayBuffer, so that the journal's thread reads rows without a copy.
 *  `append` refuses a row that does not fit; the feed then starts another block. The buffer has a maximum length, which
 *  equals its length, because V8 then maps the buffer itself: unused pages occupy no memory, and a collected buffer
 *  returns to the system. malloc, which provides other buffers, would keep the memory of most old blocks. */
export class LiveBlock implements Block {
  readonly buffer: SharedArrayBuffer
  readonly capacity: number
  readonly mints: readonly string[]
  readonly texts: ArenaTexts
  readonly time: Float64Array
  readonly stamp: Float64Array
  readonly price: Float64Array
  readonly amount: Float64Array
  readonly size: Float64Array
  readonly marketCap: Float64Array
  readonly extra: Float64Array
  readonly extra2: Float64Array
  readonly token: Uint32Array
  readonly kind: Uint8Array
  length = 0

  /** `mints`: the process's table of mints, which may grow. `buffer`: the memory of a block that another thread
   *  created; absent for a new block. */
  constructor(mints: readonly string[], capacity = 8192, buffer?: SharedArrayBuffer) {
    this.mints = mints
    this.capacity = capacity
    const size = 8 + capacity * (ROW_BYTES + TEXT_BYTES_PER_ROW)
    this.buffer = buffer ?? new SharedArrayBuffer(size, { maxByteLength: size })
    let at = 0
    const floats = (): Float64Array => {
      at += capacity * 8
      return new Float64Array(this.buffer, at - capacity * 8, capacity)
    }
    const words = (count: number): Uint32Array => {
      at += count * 4
      return new Uint32Array(this.buffer, at - count * 4, count)
    }
    const bytes = (count: number): Uint8Array => {
      at += count
      return new Uint8Array(this.buffer, at - count, count)
    }
    this.time = floats()
    this.stamp = floats()
    this.price = floats()
    this.amount = floats()
    this.size = floats()
    this.marketCap = floats()
    this.extra = floats()
    this.extra2 = floats()
    this.token = words(capacity)
    const ends = words(capacity)
    const signatureBytes = bytes(capacity)
    const traderBytes = bytes(capacity)
    this.kind = bytes(capacity)
    this.texts = new ArenaTexts(ends, signatureBytes, traderBytes, bytes(this.buffer.byteLength - at))
  }

  /** Appends one row; returns false if there is no room for the row or its texts. A reader that checks `length` sees
   *  the row only when it is complete. `signature` and `trader` have at most 255 bytes. */
  append(
    time: Millis,
    stamp: Millis,
    kind: RowKind,
    token: TokenId,
    numbers: RowNumbers,
    signature: string,
    trader: string,
    details?: TokenDetails,
  ): boolean {
    const row = this.length
    if (row === this.capacity || !this.texts.append(row, signature, trader, details)) return false
    this.#finish(row, time, stamp, kind, token, numbers)
    return true
  }

  /** Appends one row whose signature and trader are copied from the bytes of a frame; returns false if it does not
   *  fit. */
  appendBytes(
    time: Millis,
    stamp: Millis,
    kind: RowKind,
    token: TokenId,
    numbers: RowNumbers,
    source: RowBytes,
    details?: TokenDetails,
  ): boolean {
    const row = this.length
    if (row === this.capacity || !this.texts.appendBytes(row, source, details)) return false
    this.#finish(row, time, stamp, kind, token, numbers)
    return true
  }

  #finish(row: number, time: Millis, stamp: Millis, kind: RowKind, token: TokenId, numbers: RowNumbers): void {
    this.time[row] = time
    this.stamp[row] = stamp
    this.kind[row] = kind
    this.token[row] = token
    this.price[row] = numbers.price
    this.amount[row] = numbers.amount
    this.size[row] = numbers.size
    this.marketCap[row] = numbers.marketCap
    this.extra[row] = numbers.extra
    this.extra2[row] = numbers.extra2
    this.length = row + 1
  }
}

/** Encodes the texts of a new token as their lengths, one character each, followed by the texts. JSON would take three
 *  times as long. Returns undefined if a text is too long; the feed accepts at most 1,000 characters. */
function textOf({
  symbol,
  name,
  metadata: { description, image, website, twitter },
}: TokenDetails): string | undefined {
  const all = symbol + name + description + image + website + twitter
  if (all.length > LONGEST_DETAILS) return undefined
  const more = String.fromCharCode(description.length, image.length, website.length, twitter.length)
  return String.fromCharCode(symbol.length, name.length) + more + all
}

function detailsOf(text: string): TokenDetails {
  let end = 6
  const next = (place: number): string => {
    const start = end
    end += text.charCodeAt(place)
    return text.slice(start, end)
  }
  const [symbol, name] = [next(0), next(1)]
  return { symbol, name, metadata: { description: next(2), image: next(3), website: next(4), twitter: next(5) } }
}

const encoder = new TextEncoder()
// Keeps a byte order mark, because it is part of the text.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Stores the strings of rows: the signature, the trader and the details of each row, one after the other in one
 *  buffer. */
export class ArenaTexts implements Texts {
  /** For each row, the offset at which its texts end. They start where the texts of the previous row end. */
  readonly #ends: Uint32Array
  readonly #signatureBytes: Uint8Array
  readonly #traderBytes: Uint8Array
  readonly #arena: Buffer
  readonly #view: DataView
  /** A buffer of the same size as the block, with a maximum length for the same reason. It is never written, so it
   *  occupies no memory. V8 does not count shared memory when it decides whether to collect garbage, but it counts this
   *  buffer. Without this buffer, a thread that allocates little else would keep all its old blocks, each of 1.8 MB for
   *  8,192 rows. */
  readonly weight: ArrayBuffer

  constructor(ends: Uint32Array, signatureBytes: Uint8Array, traderBytes: Uint8Array, arena: Uint8Array) {
    const size = arena.buffer.byteLength
    this.weight = new ArrayBuffer(size, { maxByteLength: size })
    this.#ends = ends
    this.#signatureBytes = signatureBytes
    this.#traderBytes = traderBytes
    this.#arena = Buffer.from(arena.buffer, arena.byteOffset, arena.length)
    this.#view = new DataView(arena.buffer, arena.byteOffset, arena.length)
  }

  append(row: number, signature: string, trader: string, details: TokenDetails | undefined): boolean {
    const afterSignature = this.#write(signature, this.#start(row))
    const afterTrader = afterSignature < 0 ? -1 : this.#write(trader, afterSignature)
    return this.#finish(row, afterSignature, afterTrader, details)
  }

  appendBytes(row: number, source: RowBytes, details: TokenDetails | undefined): boolean {
    const afterSignature = this.#copy(source, source.signatureStart, source.signatureEnd, this.#start(row))
    const afterTrader =
      afterSignature < 0 ? -1 : this.#copy(source, source.traderStart, source.traderEnd, afterSignature)
    return this.#finish(row, afterSignature, afterTrader, details)
  }

  #finish(row: number, afterSignature: number, afterTrader: number, details: TokenDetails | undefined): boolean {
    const start = this.#start(row)
    if (afterTrader < 0 || afterSignature - start > 255 || afterTrader - afterSignature > 255) return false
    const text = details === undefined ? '' : textOf(details)
    const end = text === undefined ? -1 : this.#write(text, afterTrader)
    if (end < 0) return false
    this.#signatureBytes[row] = afterSignature - start
    this.#traderBytes[row] = afterTrader - afterSignature
    this.#ends[row] = end
    return true
  }

  signature(row: number): string {
    const start = this.#start(row)
    return this.#read(start, start + (this.#signatureBytes[row] as number))
  }

  trader(row: number): string {
    const start = this.#start(row) + (this.#signatureBytes[row] as number)
    return this.#read(start, start + (this.#traderBytes[row] as number))
  }

  signatureInto(row: number, target: Uint8Array): number {
    return this.#into(target, this.#start(row), this.#signatureBytes[row] as number)
  }

  traderInto(row: number, target: Uint8Array): number {
    const start = this.#start(row) + (this.#signatureBytes[row] as number)
    return this.#into(target, start, this.#traderBytes[row] as number)
  }

  details(row: number): TokenDetails {
    const start = this.#start(row) + (this.#signatureBytes[row] as number) + (this.#traderBytes[row] as number)
    const end = this.#ends[row] as number
    return start === end ? NO_DETAILS : detailsOf(this.#read(start, end))
  }

  #start(row: number): number {
    return row === 0 ? 0 : (this.#ends[row - 1] as number)
  }

  /** Writes a text and returns the offset after it, or -1 if it does not fit. Buffer.write is several times as fast,
   *  but is used only if there is room for the longest possible encoding. */
  #write(text: string, at: number): number {
    if (text.length === 0) return at
    if (at + text.length * 3 <= this.#arena.length) return at + this.#arena.write(text, at)
    const { read, written } = encoder.encodeInto(text, this.#arena.subarray(at))
    return read === text.length ? at + written : -1
  }

  /** Copies bytes, four at a time; the last four may overlap the ones before them. For so few bytes, a call of `set`
   *  would take longer. Returns the offset after the bytes, or -1 if they do not fit. */
  #copy({ bytes, view }: RowBytes, from: number, to: number, at: number): number {
    const end = at + to - from
    if (end > this.#arena.length) return -1
    if (to - from < 4) for (; from < to; from++) this.#arena[at++] = bytes[from] as number
    else {
      for (; from + 4 < to; from += 4, at += 4) this.#view.setInt32(at, view.getInt32(from, true), true)
      this.#view.setInt32(end - 4, view.getInt32(to - 4, true), true)
    }
    return end
  }

  #into(target: Uint8Array, start: number, length: number): number {
    if (length > target.length) return -1
    for (let at = 0; at < length; at++) target[at] = this.#arena[start + at] as number
    return length
  }

  #read(from: number, to: number): string {
    return from === to ? '' : decoder.decode(this.#arena.subarray(from, to))
  }
}

/** A live block of another thread, read with the token numbers of this thread. It shares the memory of the block,
 *  except for its own column of token numbers. */
export class TranslatedBlock implements Block {
  readonly mints: readonly string[]
  readonly texts: Texts
  readonly time: Float64Array
  readonly stamp: Float64Array
  readonly price: Float64Array
  readonly amount: Float64Array
  readonly size: Float64Array
  readonly marketCap: Float64Array
  readonly extra: Float64Array
  readonly extra2: Float64Array
  readonly kind: Uint8Array
  readonly token: Uint32Array
  length = 0
  readonly #sourceTokens: Uint32Array
  readonly #tokens: readonly TokenId[]

  /** `tokens[n]`: the number in this thread of the token that has the number n in the other thread; the list may grow.
   *  `block` must use the mints of this thread. */
  constructor(block: LiveBlock, tokens: readonly TokenId[]) {
    this.mints = block.mints
    this.texts = block.texts
    this.time = block.time
    this.stamp = block.stamp
    this.price = block.price
    this.amount = block.amount
    this.size = block.size
    this.marketCap = block.marketCap
    this.extra = block.extra
    this.extra2 = block.extra2
    this.kind = block.kind
    this.token = new Uint32Array(block.capacity)
    this.#sourceTokens = block.token
    this.#tokens = tokens
  }

  /** Converts the token numbers of the other thread to those of this thread, for the rows that were added since the
   *  last call. `to`: end (exclusive) of the rows that are complete. */
  translate(to: number): void {
    for (let row = this.length; row < to; row++)
      this.token[row] = this.#tokens[this.#sourceTokens[row] as number] as TokenId
    this.length = to
  }
}

import { createHash, type Hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { encodeJson } from '../base/json.ts'
import { bytesOf } from '../journal/tape/column.ts'
import type { FeedNews, Market, MarketItem } from '../journal/tape/market-tape.ts'
import { KEY_BYTES, packText, SIGNATURE_BYTES } from '../journal/tape/packed-text.ts'
import { type Block, type PackedTexts, RowKind, type Texts, type TokenId } from '../market/block.ts'
import { Mints } from '../market/mints.ts'
import { Pauses } from './tape-pauses.ts'

/** Version of the method that computes the hash of a tape. It is recorded with every hash. Version 1 did not cover
 *  market caps, slippage, fees, signatures, traders, creators, names and gaps. Version 2 used SHA-256 instead of
 *  CRC-32, and unpacked the texts first, which took longer than a backtest. */
export const TAPE_IDENTITY = 3

const DOUBLES = ['time', 'stamp', 'price', 'amount', 'size', 'marketCap', 'extra', 'extra2'] as const
/** Size of the buffer for one text, bytes. A longer text cannot be packed. */
const LONGEST_TEXT = 256

type Gap = Extract<FeedNews, { kind: 'gap' }>

/** Identity of a tape: a hash of everything that a strategy can read from it. This is every column of every row, the
 *  texts, the gaps, and the answers of sources. Each column has a CRC-32 of its own, so that the identity does not
 *  depend on the division into blocks. Like the checksums of the journal, it protects against accidents, not against a
 *  program that constructs another tape with the same identity. It is equal after an export and an import, unless the
 *  tape has answers of sources. States of the feed are not covered, because an export does not contain them. */
export class TapeIdentity {
  readonly #columns = [...DOUBLES, 'kind', 'token'].map(() => 0)
  readonly #signatures = new TextColumn('signature', SIGNATURE_BYTES)
  readonly #traders = new TextColumn('trader', KEY_BYTES)
  readonly #told = createHash('sha256')
  /** Number of each token in the hash: from 1, in the order in which the tokens first occur; 0 before that. The index
   *  is the position of the mint in `#mintList`. */
  #tokens = new Uint32Array(0)
  #mintList: readonly string[] = []
  readonly #numbers = new Map<string, number>()
  readonly #gaps = new Set<string>()
  readonly #pauses = new Pauses()
  #rows = 0

  take(item: MarketItem): void {
    if (item.kind === 'rows') this.rows(item.block, item.from, item.to)
    else if (item.kind === 'news') {
      if (item.news.kind === 'gap') this.#gap(item.news)
      if (item.news.kind === 'source') this.#told.update(`source ${this.#rows} ${item.time} ${encodeJson(item.news)}\n`)
    }
    const pause = this.#pauses.take(item)?.news
    if (pause?.kind === 'gap') this.#gap(pause)
  }

  rows(block: Block, from: number, to: number): void {
    for (const [index, name] of DOUBLES.entries()) this.#add(index, bytesOf(block[name].subarray(from, to)))
    this.#add(DOUBLES.length, bytesOf(block.kind.subarray(from, to)))
    this.#add(DOUBLES.length + 1, bytesOf(this.#numbered(block, from, to)))
    this.#signatures.rows(block, from, to)
    this.#traders.rows(block, from, to)
    for (let row = from; row < to; row++)
      if (block.kind[row] === RowKind.newToken) this.#details(block, row, this.#rows + row - from)
    this.#rows += to - from
  }

  /** Returns the identity as hexadecimal text. */
  digest(): string {
    const all = createHash('sha256').update(`${this.#rows} ${this.#columns.join(' ')}`)
    for (const hash of [this.#signatures.end(), this.#traders.end(), this.#told]) all.update(hash.digest())
    return all.update([...this.#numbers.keys()].join(' ')).digest('hex')
  }

  #add(column: number, bytes: Uint8Array): void {
    this.#columns[column] = crc32(bytes, this.#columns[column])
  }

  #numbered({ token: tokens, mints }: Block, from: number, to: number): Uint32Array {
    if (mints !== this.#mintList) this.#tokens = new Uint32Array(0)
    this.#mintList = mints
    if (this.#tokens.length < mints.length) {
      const more = new Uint32Array(mints.length * 2)
      more.set(this.#tokens)
      this.#tokens = more
    }
    const known = this.#tokens
    const numbers = new Uint32Array(to - from)
    for (let row = from; row < to; row++) {
      const token = tokens[row] as TokenId
      let number = known[token] as number
      if (number === 0) {
        number = this.#numberOf(mints[token] as string) + 1
        known[token] = number
      }
      numbers[row - from] = number - 1
    }
    return numbers
  }

  #numberOf(mint: string): number {
    const known = this.#numbers.get(mint) ?? this.#numbers.size
    this.#numbers.set(mint, known)
    return known
  }

  #details({ texts }: Block, row: number, at: number): void {
    const { symbol, name, metadata } = texts.details(row)
    const { description, image, website, twitter } = metadata
    this.#told.update(`token ${at} ${JSON.stringify([symbol, name, description, image, website, twitter])}\n`)
  }

  /** Adds a gap of the feed. If a recording contains the same gap twice, the gap counts once, as in an imported
   *  tape. */
  #gap({ from, to, keys }: Gap): void {
    const gap = `${from} ${to} ${[...keys].sort().join(' ')}`
    if (this.#gaps.has(gap)) return
    this.#gaps.add(gap)
    this.#told.update(`gap ${this.#rows} ${gap}\n`)
  }
}

/** Reads a whole tape and returns its identity. */
export function tapeHash(market: Pick<Market, 'items'>): string {
  const identity = new TapeIdentity()
  for (const item of market.items(new Mints())) identity.take(item)
  return identity.digest()
}

/** Fills `target` with copies of `entry`. */
function repeat(entry: Uint8Array, target: Uint8Array): void {
  target.set(entry)
  for (let filled = entry.length; filled < target.length; filled *= 2)
    target.copyWithin(filled, 0, Math.min(filled, target.length - filled))
}

/** Computes a hash over one text column, the signatures or the traders. The hash covers the packed form of the texts,
 *  and the texts that cannot be packed. */
class TextColumn {
  readonly #column: 'signature' | 'trader'
  readonly #width: number
  readonly #odd = createHash('sha256')
  #sum = 0
  #rows = 0
  #packed = new Uint8Array(0)
  readonly #text = new Uint8Array(LONGEST_TEXT)

  /** `width`: bytes of a packed text. */
  constructor(column: 'signature' | 'trader', width: number) {
    this.#column = column
    this.#width = width
  }

  rows({ texts }: Block, from: number, to: number): void {
    const bytes = (to - from) * this.#width
    if (this.#packed.length < bytes) this.#packed = new Uint8Array(bytes)
    const packed = this.#packed.subarray(0, bytes)
    if (texts.packed === undefined) this.#pack(texts, from, to, packed)
    else this.#copy(texts.packed(this.#column), from, to, packed)
    this.#sum = crc32(packed, this.#sum)
    this.#rows += to - from
  }

  end(): Hash {
    return this.#odd.update(`${this.#sum}`)
  }

  /** Copies the packed texts of the rows `from` to `to` into `packed`, one after the other. */
  #copy({ entries, index, firstRow, odd }: PackedTexts, from: number, to: number, packed: Uint8Array): void {
    const width = this.#width
    const first = firstRow + from
    const count = entries.length / width
    if (index === null && first + to - from <= count)
      packed.set(entries.subarray(first * width, (first + to - from) * width))
    else if (count === 1) repeat(entries, packed)
    else {
      let at = 0
      for (let row = first; row < firstRow + to; row++) {
        let entry = (index === null ? row % count : (index[row] as number)) * width
        for (const end = at + width; at < end; at++) packed[at] = entries[entry++] as number
      }
    }
    for (const [key, text] of Object.entries(odd ?? {})) {
      const row = Number(key) - firstRow
      if (row >= from && row < to) this.#unpacked(row - from, text, packed)
    }
  }

  #pack(texts: Texts, from: number, to: number, packed: Uint8Array): void {
    const isSignature = this.#column === 'signature'
    for (let row = from; row < to; row++) {
      const length = isSignature ? texts.signatureInto(row, this.#text) : texts.traderInto(row, this.#text)
      if (length >= 0 && packText(this.#text, length, packed, (row - from) * this.#width, this.#width)) continue
      this.#unpacked(row - from, isSignature ? texts.signature(row) : texts.trader(row), packed)
    }
  }

  /** Adds a text that does not fit the packed form: hashes it separately, and writes zeros into `packed` in its place.
   *  `at`: index of the text's row among the rows that are being added. */
  #unpacked(at: number, text: string, packed: Uint8Array): void {
    packed.fill(0, at * this.#width, (at + 1) * this.#width)
    this.#odd.update(`${this.#rows + at} ${JSON.stringify(text)}\n`)
  }
}

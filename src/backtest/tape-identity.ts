import { createHash, type Hash } from 'node:crypto'
import { encodeJson } from '../base/json.ts'
import { bytesOf } from '../journal/tape/column.ts'
import type { FeedNews, Market, MarketItem } from '../journal/tape/market-tape.ts'
import { type Block, RowKind, type TokenId } from '../market/block.ts'
import { Mints } from '../market/mints.ts'
import { Pauses } from './pauses.ts'

/** Version of the identity, which is recorded with every hash. Version 1 did not cover market caps, slippage, fees,
 *  signatures, traders, creators, names and gaps. */
export const TAPE_IDENTITY = 2

const DOUBLES = ['time', 'stamp', 'price', 'amount', 'size', 'marketCap', 'extra', 'extra2'] as const
const CHUNK_BYTES = 1 << 16
/** Size of the buffer for one text, bytes. A longer text is encoded by itself. */
const LONGEST_TEXT = 256
const encoder = new TextEncoder()

type Gap = Extract<FeedNews, { kind: 'gap' }>

/** Identity of a tape: a hash of everything that a strategy can read from it. This is every column of every row, the
 *  texts, the gaps, and the answers of sources. Each column has a hash of its own, so that the identity does not depend
 *  on the division into blocks. It is equal after an export and an import, unless the tape has answers of sources.
 *  States of the feed are not covered, because an export does not contain them. */
export class TapeIdentity {
  readonly #columns = [...DOUBLES, 'kind', 'token'].map(() => createHash('sha256'))
  readonly #texts = new TextHash()
  readonly #told = createHash('sha256')
  /** Number of each token, in the order of the tokens' first rows. `#mintList` is the list of mints that the index
   *  refers to. */
  #tokens: (number | undefined)[] = []
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
    for (const [index, name] of DOUBLES.entries()) this.#columns[index]?.update(bytesOf(block[name].subarray(from, to)))
    this.#columns.at(-2)?.update(bytesOf(block.kind.subarray(from, to)))
    this.#columns.at(-1)?.update(bytesOf(this.#numbered(block, from, to)))
    for (let row = from; row < to; row++) {
      this.#texts.row(block, row)
      if (block.kind[row] === RowKind.newToken) this.#details(block, row, this.#rows + row - from)
    }
    this.#rows += to - from
  }

  /** Returns the identity as hexadecimal text. */
  digest(): string {
    const all = createHash('sha256')
    for (const hash of [...this.#columns, this.#texts.end(), this.#told]) all.update(hash.digest())
    return all.update([...this.#numbers.keys()].join(' ')).digest('hex')
  }

  #numbered({ token: tokens, mints }: Block, from: number, to: number): Uint32Array {
    if (mints !== this.#mintList) this.#tokens = []
    this.#mintList = mints
    const numbers = new Uint32Array(to - from)
    for (let row = from; row < to; row++) {
      const token = tokens[row] as TokenId
      numbers[row - from] = this.#tokens[token] ??= this.#numberOf(mints[token] as string)
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

  /** Adds a gap. If a recording repeats a gap, it counts once, as in an import. */
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

/** Hash of the signatures and traders of rows. The length of each text is hashed before the text. */
class TextHash {
  readonly #hash = createHash('sha256')
  readonly #text = new Uint8Array(LONGEST_TEXT)
  readonly #chunk = new Uint8Array(CHUNK_BYTES)
  #used = 0

  row({ texts }: Block, row: number): void {
    const signature = texts.signatureInto(row, this.#text)
    if (signature >= 0) this.#add(this.#text, signature)
    else this.#long(texts.signature(row))
    const trader = texts.traderInto(row, this.#text)
    if (trader >= 0) this.#add(this.#text, trader)
    else this.#long(texts.trader(row))
  }

  end(): Hash {
    this.#flush()
    return this.#hash
  }

  #add(text: Uint8Array, length: number): void {
    if (this.#used + LONGEST_TEXT + 4 > CHUNK_BYTES) this.#flush()
    const chunk = this.#chunk
    let at = this.#used
    for (let shift = 0; shift < 32; shift += 8) chunk[at++] = length >>> shift
    for (let place = 0; place < length; place++) chunk[at++] = text[place] as number
    this.#used = at
  }

  #long(text: string): void {
    const bytes = encoder.encode(text)
    this.#flush()
    this.#hash.update(Uint32Array.of(bytes.length)).update(bytes)
  }

  #flush(): void {
    this.#hash.update(this.#chunk.subarray(0, this.#used))
    this.#used = 0
  }
}

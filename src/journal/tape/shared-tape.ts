import type { Block, Texts } from '../../market/block.ts'
import { Mints } from '../../market/mints.ts'
import type { Market, MarketItem } from './market-tape.ts'
import { type BlockKey, type LoadRest, RestOfBlock, TapeBlock } from './tape-block.ts'

/** Number of rows in a chunk. With this many rows, the cost of passing a chunk to another thread is negligible. */
const CHUNK_ROWS = 32_768
const ROW_BYTES = 5 * 8 + 4 + 1

/** A part of the tape in memory, which several threads read. It is decoded once; small consecutive blocks are
 *  merged. */
export interface TapeChunk {
  readonly buffer: SharedArrayBuffer
  readonly rows: number
  /** Mints added since the previous chunk, numbered consecutively. */
  readonly mints: readonly string[]
  readonly items: readonly ChunkItem[]
  /** Blocks from which the rows were copied. */
  readonly blocks: readonly BlockKey[]
  readonly parts: readonly Part[]
}

type ChunkItem =
  | Exclude<MarketItem, { kind: 'rows' }>
  | { readonly kind: 'rows'; readonly from: number; readonly to: number }

/** Says from which block some rows of a chunk were copied. `row`: index of the first of these rows in the chunk.
 *  `rows`: their number. `block`: index of the block in `TapeChunk.blocks`. `from`: index of the first of these rows in
 *  the block. */
interface Part {
  readonly row: number
  readonly rows: number
  readonly block: number
  readonly from: number
}

/** Columns that every backtest reads. A thread loads other columns and texts from the journal. */
class SharedColumns {
  readonly time: Float64Array
  readonly stamp: Float64Array
  readonly price: Float64Array
  readonly amount: Float64Array
  readonly size: Float64Array
  readonly token: Uint32Array
  readonly kind: Uint8Array

  constructor(buffer: SharedArrayBuffer) {
    const doubles = (index: number): Float64Array => new Float64Array(buffer, index * 8 * CHUNK_ROWS, CHUNK_ROWS)
    this.time = doubles(0)
    this.stamp = doubles(1)
    this.price = doubles(2)
    this.amount = doubles(3)
    this.size = doubles(4)
    this.token = new Uint32Array(buffer, 40 * CHUNK_ROWS, CHUNK_ROWS)
    this.kind = new Uint8Array(buffer, 44 * CHUNK_ROWS, CHUNK_ROWS)
  }

  take(row: number, block: Block, from: number, to: number): void {
    for (const name of ['time', 'stamp', 'price', 'amount', 'size', 'token', 'kind'] as const)
      this[name].set(block[name].subarray(from, to), row)
  }
}

/** Reads and decodes the market of journals, and yields chunks that several threads can read. */
export function* chunksOf(market: Pick<Market, 'items'>): Generator<TapeChunk, void, undefined> {
  const mints = new Mints()
  let chunk = new GrowingChunk()
  for (const item of market.items(mints)) {
    if (item.kind !== 'rows') chunk.items.push(item)
    else
      for (let from = item.from; from < item.to; ) {
        from = chunk.take(item.block, from, item.to)
        if (chunk.rows < CHUNK_ROWS) continue
        yield chunk.seal(mints)
        chunk = new GrowingChunk(mints.list.length)
      }
  }
  if (chunk.items.length > 0) yield chunk.seal(mints)
}

class GrowingChunk {
  readonly items: ChunkItem[] = []
  rows = 0
  /** Blocks from which rows were copied, and their indexes. */
  readonly #blocks = new Map<BlockKey, number>()
  readonly #parts: Part[] = []
  readonly #mintsAt: number
  readonly #buffer = new SharedArrayBuffer(CHUNK_ROWS * ROW_BYTES)
  readonly #columns = new SharedColumns(this.#buffer)

  constructor(mintsAt = 0) {
    this.#mintsAt = mintsAt
  }

  /** Copies as many rows as fit. Returns the index of the first row that was not copied. */
  take(block: Block, from: number, to: number): number {
    if (!(block instanceof TapeBlock)) throw new Error('only blocks of a journal can be shared')
    const end = Math.min(to, from + CHUNK_ROWS - this.rows)
    const before = this.items.at(-1)
    const row = this.rows
    this.#columns.take(row, block, from, end)
    this.#parts.push({ row, rows: end - from, block: this.#indexOf(block.key), from })
    this.rows += end - from
    if (before?.kind === 'rows') this.items[this.items.length - 1] = { ...before, to: this.rows }
    else this.items.push({ kind: 'rows', from: row, to: this.rows })
    return end
  }

  seal({ list }: Mints): TapeChunk {
    const { items, rows } = this
    const [mints, blocks] = [list.slice(this.#mintsAt), [...this.#blocks.keys()]]
    return { buffer: this.#buffer, rows, mints, items, blocks, parts: this.#parts }
  }

  #indexOf(key: BlockKey): number {
    const index = this.#blocks.get(key) ?? this.#blocks.size
    this.#blocks.set(key, index)
    return index
  }
}

export interface SharedMarketParts extends Pick<Market, 'stretches' | 'rows'> {
  /** Waits for the next chunk; returns undefined at the end. Called by one reader only. */
  readonly next: () => TapeChunk | undefined
  /** Returns the tape that this thread has opened, or opens it. The thread needs it for data that is not shared. */
  readonly own: () => OwnTape
}

/** The part of an opened tape that is needed in addition to the shared columns. */
interface OwnTape {
  readonly market: Pick<Market, 'history'>
  restOf(key: BlockKey): LoadRest
}

/** A market whose rows another thread has decoded. */
export class SharedMarket implements Market {
  readonly stretches: Market['stretches']
  readonly rows: number
  readonly #next: SharedMarketParts['next']
  readonly #own: SharedMarketParts['own']

  constructor({ stretches, rows, next, own }: SharedMarketParts) {
    this.stretches = stretches
    this.rows = rows
    this.#next = next
    this.#own = own
  }

  /** Yields the items of the market. May be called only once. */
  *items(mints: Mints): Generator<MarketItem, void, undefined> {
    const rests = new Rests(this.#own)
    const numbers = new Numbers(mints)
    for (let chunk = this.#next(); chunk !== undefined; chunk = this.#next()) {
      numbers.add(chunk.mints)
      const block = new SharedBlock(chunk, numbers, rests)
      for (const item of chunk.items) yield item.kind === 'rows' ? { ...item, block } : item
    }
  }

  history(): ReturnType<Market['history']> {
    return this.#own().market.history()
  }
}

/** Maps mint numbers of the other thread to those of this thread. The two numbers of a mint are equal until this thread
 *  adds a mint itself. */
class Numbers {
  readonly mints: Mints
  readonly #ours: number[] = []
  #isSame = true

  constructor(mints: Mints) {
    this.mints = mints
  }

  add(mints: readonly string[]): void {
    for (const mint of mints) {
      const ours = this.mints.intern(mint)
      if (ours !== this.#ours.length) this.#isSame = false
      this.#ours.push(ours)
    }
  }

  of(tokens: Uint32Array): Uint32Array {
    return this.#isSame ? tokens : tokens.map((token) => this.#ours[token] as number)
  }
}

/** The columns that are not shared, by block. */
class Rests {
  readonly #own: SharedMarketParts['own']
  /** The last block of each journal, because a block may continue in the next chunk. */
  readonly #last = new Map<string, { readonly key: BlockKey; readonly rest: RestOfBlock }>()

  constructor(own: SharedMarketParts['own']) {
    this.#own = own
  }

  of(key: BlockKey): RestOfBlock {
    const last = this.#last.get(key.journal)
    if (last?.key.last_seq === key.last_seq) return last.rest
    const rest = new RestOfBlock(this.#own().restOf(key), key.rows)
    this.#last.set(key.journal, { key, rest })
    return rest
  }
}

type LazyColumn = 'marketCap' | 'extra' | 'extra2'

class SharedBlock implements Block {
  readonly length: number
  readonly mints: readonly string[]
  readonly texts: Texts
  /** A copy of the shared column, because the runner of this thread may change times in it. */
  readonly time: Float64Array
  readonly stamp: Float64Array
  readonly price: Float64Array
  readonly amount: Float64Array
  readonly size: Float64Array
  readonly token: Uint32Array
  readonly kind: Uint8Array
  readonly #blocks: readonly BlockKey[]
  readonly #parts: readonly Part[]
  readonly #rests: Rests
  /** The columns that are not shared of each block; absent until they are needed. */
  readonly #found: (RestOfBlock | undefined)[] = []
  readonly #lazy = new Map<LazyColumn, Float64Array>()

  constructor({ buffer, rows, blocks, parts }: TapeChunk, numbers: Numbers, rests: Rests) {
    const columns = new SharedColumns(buffer)
    this.length = rows
    this.mints = numbers.mints.list
    this.time = columns.time.slice(0, rows)
    this.stamp = columns.stamp
    this.price = columns.price
    this.amount = columns.amount
    this.size = columns.size
    this.token = numbers.of(columns.token.subarray(0, rows))
    this.kind = columns.kind
    this.#blocks = blocks
    this.#parts = parts
    this.#rests = rests
    this.texts = {
      signature: (row) => this.#at(row, (texts, at) => texts.signature(at)),
      trader: (row) => this.#at(row, (texts, at) => texts.trader(at)),
      signatureInto: (row, target) => this.#at(row, (texts, at) => texts.signatureInto(at, target)),
      traderInto: (row, target) => this.#at(row, (texts, at) => texts.traderInto(at, target)),
      details: (row) => this.#at(row, (texts, at) => texts.details(at)),
    }
  }

  get marketCap(): Float64Array {
    return this.#column('marketCap')
  }

  get extra(): Float64Array {
    return this.#column('extra')
  }

  get extra2(): Float64Array {
    return this.#column('extra2')
  }

  #column(name: LazyColumn): Float64Array {
    const known = this.#lazy.get(name)
    if (known !== undefined) return known
    const column = new Float64Array(this.length)
    for (const { row, rows, block, from } of this.#parts)
      column.set(this.#restOf(block)[name].subarray(from, from + rows), row)
    this.#lazy.set(name, column)
    return column
  }

  #at<T>(row: number, read: (texts: Texts, at: number) => T): T {
    const part = this.#parts.findLast((one) => one.row <= row) as Part
    return read(this.#restOf(part.block).texts, row - part.row + part.from)
  }

  #restOf(block: number): RestOfBlock {
    const found = this.#found[block] ?? this.#rests.of(this.#blocks[block] as BlockKey)
    this.#found[block] = found
    return found
  }
}

/** Maximum number of bytes of a decoded tape that is kept in memory, about a million rows. A longer tape is decoded
 *  again in each pass, so that memory does not grow with its length. */
const MOST_KEPT = 48 * 2 ** 20

/** A tape that is read in several passes, in chunks that other threads may read. A short tape is decoded only once. */
export class DecodedTape {
  readonly #market: Pick<Market, 'items'>
  readonly #mostKept: number
  #kept: TapeChunk[] | undefined

  constructor(market: Pick<Market, 'items'>, mostKept = MOST_KEPT) {
    this.#market = market
    this.#mostKept = mostKept
  }

  *chunks(): Generator<TapeChunk, void, undefined> {
    if (this.#kept !== undefined) yield* this.#kept
    else yield* this.#decoded()
  }

  *#decoded(): Generator<TapeChunk, void, undefined> {
    let kept: TapeChunk[] | undefined = []
    let bytes = 0
    for (const chunk of chunksOf(this.#market)) {
      bytes += chunk.buffer.byteLength
      if (bytes > this.#mostKept) kept = undefined
      kept?.push(chunk)
      yield chunk
    }
    this.#kept = kept
  }
}

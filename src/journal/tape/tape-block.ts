import type { Seq } from '../../base/units.ts'
import { type Block, NO_DETAILS, type PackedTexts, type Texts, type TokenDetails } from '../../market/block.ts'
import type { Mints } from '../../market/mints.ts'
import type { OddTexts } from './block-encoder.ts'
import type { BlockRow, LateRow, Place, TextRow } from './block-row.ts'
import { type Column, decodeDoubles, decodeIndex, decodeKinds, decodeOffsets } from './column.ts'
import { numbersOf } from './mint-lookup.ts'
import { KEY_BYTES, SIGNATURE_BYTES, unpackInto, unpackText } from './packed-text.ts'

/** The first row of a run of rows with consecutive seqs, and its seq. */
export interface Run {
  readonly row: number
  readonly seq: Seq
}

/** Names a block of a journal at the time at which it was read, so that another connection can load its other columns
 *  later, even if a writer has merged it with other blocks. */
export interface BlockKey extends Pick<BlockRow, 'last_seq' | 'rows_before' | 'rows'> {
  /** Path of the journal. */
  readonly journal: string
}

/** Functions that load columns on first access. */
export interface LoadRest {
  readonly late: () => LateRow & Place
  readonly texts: () => TextRow & Place
}

/** The columns and texts of a block that few strategies read. They are loaded and decoded on first access. */
export class RestOfBlock {
  readonly #load: LoadRest
  readonly #length: number
  readonly #texts: TapeTexts
  #late: (LateRow & Place) | undefined
  #marketCap: Float64Array | undefined
  #extra: Float64Array | undefined
  #extra2: Float64Array | undefined

  /** `load`: reads the columns from the journal, each column once. `length`: number of rows of the block. */
  constructor(load: LoadRest, length: number) {
    this.#load = load
    this.#length = length
    this.#texts = new TapeTexts(load.texts)
  }

  get texts(): Texts {
    return this.#texts
  }

  // A caller may read the columns below for every row, so each is decoded at the first access and then kept.

  get marketCap(): Float64Array {
    this.#marketCap ??= this.#doubles(({ market_cap }) => ({ entries: market_cap, index: null }))
    return this.#marketCap
  }

  get extra(): Float64Array {
    this.#extra ??= this.#doubles(({ extra, extra_index }) => ({ entries: extra, index: extra_index }))
    return this.#extra
  }

  get extra2(): Float64Array {
    this.#extra2 ??= this.#doubles(({ extra2, extra2_index }) => ({ entries: extra2, index: extra2_index }))
    return this.#extra2
  }

  /** Loads all columns, so that they no longer need the journal. */
  read(): void {
    this.#late ??= this.#load.late()
    this.#texts.read()
  }

  #doubles(columnOf: (late: LateRow) => Column): Float64Array {
    this.#late ??= this.#load.late()
    const { firstRow, rows } = this.#late
    return decodeDoubles(columnOf(this.#late), rows).subarray(firstRow, firstRow + this.#length)
  }
}

/** A block of the tape. Columns that few strategies read are decoded on first access. */
export class TapeBlock implements Block {
  readonly length: number
  readonly mints: readonly string[]
  readonly time: Float64Array
  readonly kind: Uint8Array
  readonly token: Uint32Array
  readonly price: Float64Array
  readonly amount: Float64Array
  readonly size: Float64Array
  readonly segment: number
  /** Runs of rows with consecutive seqs, in order. The first run begins with row 0. */
  readonly runs: readonly Run[]
  readonly key: BlockKey
  readonly #row: BlockRow
  readonly #rest: RestOfBlock
  #stamp: Float64Array | undefined

  /** `laterRuns`: the runs of consecutive seqs after the first run. `load`: reads the remaining columns from the
   *  journal, each column once. */
  constructor(row: BlockRow, laterRuns: readonly Run[], mints: Mints, key: BlockKey, load: LoadRest) {
    const { rows } = row
    this.key = key
    this.#row = row
    this.length = rows
    this.segment = row.segment
    this.runs = [{ row: 0, seq: row.first_seq }, ...laterRuns]
    this.mints = mints.list
    this.#rest = new RestOfBlock(load, rows)
    this.time = decodeOffsets(row.time, row.first_time, rows)
    this.kind = decodeKinds(row.kind, rows)
    this.token = tokensOf(row, mints)
    this.price = decodeDoubles({ entries: row.price, index: null }, rows)
    this.amount = decodeDoubles({ entries: row.amount, index: null }, rows)
    this.size = decodeDoubles({ entries: row.size, index: null }, rows)
  }

  get texts(): Texts {
    return this.#rest.texts
  }

  get lastSeq(): Seq {
    const { row, seq } = this.runs[this.runs.length - 1] as Run
    return seq + this.length - 1 - row
  }

  get stamp(): Float64Array {
    this.#stamp ??= stampsOf(this.#row)
    return this.#stamp
  }

  get marketCap(): Float64Array {
    return this.#rest.marketCap
  }

  get extra(): Float64Array {
    return this.#rest.extra
  }

  get extra2(): Float64Array {
    return this.#rest.extra2
  }

  /** Loads all columns, so that the block no longer needs the journal. */
  readRest(): void {
    this.#rest.read()
  }
}

function stampsOf({ stamp, stamp_exact, first_time, rows }: BlockRow): Float64Array {
  return stamp_exact ? decodeDoubles({ entries: stamp, index: null }, rows) : decodeOffsets(stamp, first_time, rows)
}

/** Returns the rows `from` to `to` of a block as a view, without a copy. */
export function partOf(block: Block, from: number, to: number): Block {
  if (from === 0 && to === block.length) return block
  const { texts } = block
  const packed = (column: 'signature' | 'trader'): PackedTexts => {
    const whole = texts.packed?.(column) as PackedTexts
    return { ...whole, firstRow: whole.firstRow + from }
  }
  return {
    length: to - from,
    mints: block.mints,
    texts: {
      signature: (row) => texts.signature(from + row),
      trader: (row) => texts.trader(from + row),
      signatureInto: (row, target) => texts.signatureInto(from + row, target),
      traderInto: (row, target) => texts.traderInto(from + row, target),
      details: (row) => texts.details(from + row),
      ...(texts.packed !== undefined && { packed }),
    },
    time: block.time.subarray(from, to),
    kind: block.kind.subarray(from, to),
    token: block.token.subarray(from, to),
    price: block.price.subarray(from, to),
    amount: block.amount.subarray(from, to),
    size: block.size.subarray(from, to),
    stamp: block.stamp.subarray(from, to),
    marketCap: block.marketCap.subarray(from, to),
    extra: block.extra.subarray(from, to),
    extra2: block.extra2.subarray(from, to),
  }
}

function tokensOf(row: BlockRow, mints: Mints): Uint32Array {
  const numbers = numbersOf(mints, row.mints)
  const tokens = new Uint32Array(row.rows)
  if (row.token_index === null) return tokens.fill(numbers[0] as number)
  const index = decodeIndex(row.token_index, row.mint_count)
  // There is one loop for each class of `index`, because V8 makes a loop faster that sees only one class.
  if (index instanceof Uint8Array)
    for (let at = 0; at < tokens.length; at++) tokens[at] = numbers[index[at] as number] as number
  else for (let at = 0; at < tokens.length; at++) tokens[at] = numbers[index[at] as number] as number
  return tokens
}

/** Signatures and traders in packed form. The columns are loaded on first access, and each access decodes one text. */
class TapeTexts implements Texts {
  readonly #load: LoadRest['texts']
  #columns: TextColumns | undefined

  constructor(load: LoadRest['texts']) {
    this.#load = load
  }

  signature(row: number): string {
    const { odd, signature, firstRow } = this.read()
    return odd?.signature?.[firstRow + row] ?? textAt(signature, firstRow + row, SIGNATURE_BYTES)
  }

  trader(row: number): string {
    const { odd, trader, firstRow } = this.read()
    return odd?.trader?.[firstRow + row] ?? textAt(trader, firstRow + row, KEY_BYTES)
  }

  signatureInto(row: number, target: Uint8Array): number {
    const { odd, signature, firstRow } = this.read()
    return textInto(odd?.signature?.[firstRow + row], signature, firstRow + row, SIGNATURE_BYTES, target)
  }

  traderInto(row: number, target: Uint8Array): number {
    const { odd, trader, firstRow } = this.read()
    return textInto(odd?.trader?.[firstRow + row], trader, firstRow + row, KEY_BYTES, target)
  }

  packed(column: 'signature' | 'trader'): PackedTexts {
    const columns = this.read()
    return { ...columns[column], firstRow: columns.firstRow, odd: columns.odd?.[column] }
  }

  details(row: number): TokenDetails {
    const { details, firstRow } = this.read()
    return details?.[firstRow + row] ?? NO_DETAILS
  }

  read(): TextColumns {
    this.#columns ??= textColumnsOf(this.#load())
    return this.#columns
  }
}

const encoder = new TextEncoder()

function writeInto(text: string, target: Uint8Array): number {
  const { read, written } = encoder.encodeInto(text, target)
  return read === text.length ? written : -1
}

type KeyColumn = Pick<PackedTexts, 'entries' | 'index'>

interface TextColumns {
  readonly firstRow: number
  readonly trader: KeyColumn
  readonly signature: KeyColumn
  readonly details: Record<number, TokenDetails> | null
  readonly odd: OddTexts | null
}

function textColumnsOf(row: TextRow & Place): TextColumns {
  return {
    firstRow: row.firstRow,
    trader: keyColumn(row.trader, row.trader_index, KEY_BYTES),
    signature: keyColumn(row.signature, row.signature_index, SIGNATURE_BYTES),
    details: row.details === null ? null : (JSON.parse(row.details) as Record<number, TokenDetails>),
    odd: row.odd === null ? null : (JSON.parse(row.odd) as OddTexts),
  }
}

function keyColumn(entries: Uint8Array, index: Uint8Array | null, width: number): KeyColumn {
  return { entries, index: index === null ? null : decodeIndex(index, entries.length / width) }
}

function textAt(column: KeyColumn, row: number, width: number): string {
  return unpackText(column.entries, entryOf(column, row, width) * width, width)
}

function textInto(odd: string | undefined, column: KeyColumn, row: number, width: number, target: Uint8Array): number {
  if (odd !== undefined) return writeInto(odd, target)
  // Three packed bytes contain four digits.
  if (target.length < (width / 3) * 4) return writeInto(textAt(column, row, width), target)
  return unpackInto(column.entries, entryOf(column, row, width) * width, width, target)
}

function entryOf({ entries, index }: KeyColumn, row: number, width: number): number {
  return index === null ? row % (entries.length / width) : (index[row] as number)
}

import type { MarketItem } from '../../journal/tape/market-tape.ts'
import { type Block, NO_DETAILS, type Texts } from '../../market/block.ts'

const DOUBLES = ['time', 'stamp', 'price', 'amount', 'size', 'marketCap', 'extra', 'extra2'] as const

/** What a strategy reads in place of a row after the current row. `nothing`: no row. A number: another row of the same
 *  block, at this distance from the requested row, as a share of the block's length. */
export type Veil = 'nothing' | number

/** A copy of some rows of a block, in which code can read the rows only up to the current one. In place of a later row,
 *  it finds no row, or the values of another row of the block (see `Veil`). */
export class VeiledBlock implements Block {
  readonly length: number
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
  readonly #source: Block
  readonly #from: number
  /** Distance, in rows, from a hidden row to the row that is read in its place; 0 if no row is read. */
  readonly #shift: number
  #shown = 0

  /** Copies the rows `from` to `to` of `source`. */
  constructor(source: Block, from: number, to: number, veil: Veil) {
    const length = to - from
    this.#source = source
    this.#from = from
    this.#shift = veil === 'nothing' || length < 2 ? 0 : Math.min(length - 1, Math.max(1, Math.round(length * veil)))
    this.length = length
    this.mints = source.mints
    const doubles = (): Float64Array => new Float64Array(length).fill(Number.NaN)
    this.time = doubles()
    this.stamp = doubles()
    this.price = doubles()
    this.amount = doubles()
    this.size = doubles()
    this.marketCap = doubles()
    this.extra = doubles()
    this.extra2 = doubles()
    this.kind = new Uint8Array(length)
    this.token = new Uint32Array(length)
    if (this.#shift > 0) for (let row = 0; row < length; row++) this.#copy(this.#placeOf(row), row)
    const at = <T>(read: (texts: Texts, row: number) => T, none: T, row: number): T =>
      row >= this.#shown && this.#shift === 0 ? none : read(source.texts, this.#placeOf(row))
    this.texts = {
      signature: (row) => at((texts, place) => texts.signature(place), '', row),
      trader: (row) => at((texts, place) => texts.trader(place), '', row),
      signatureInto: (row, target) => at((texts, place) => texts.signatureInto(place, target), 0, row),
      traderInto: (row, target) => at((texts, place) => texts.traderInto(place, target), 0, row),
      details: (row) => at((texts, place) => texts.details(place), NO_DETAILS, row),
    }
  }

  /** Makes the next row visible. Returns its index in this block. */
  show(): number {
    const row = this.#shown++
    this.#copy(this.#from + row, row)
    return row
  }

  /** Shows all rows. */
  showAll(): this {
    while (this.#shown < this.length) this.show()
    return this
  }

  #placeOf(row: number): number {
    return this.#from + (row < this.#shown ? row : (row + this.#shift) % this.length)
  }

  #copy(place: number, row: number): void {
    const source = this.#source
    for (const name of DOUBLES) this[name][row] = source[name][place] as number
    this.kind[row] = source.kind[place] as number
    this.token[row] = source.token[place] as number
  }
}

/** Yields the items, with the market rows one at a time. `veil`: what a reader finds in place of the later rows of the
 *  block. */
export function* veiled(items: Iterable<MarketItem>, veil: Veil): Generator<MarketItem, void, undefined> {
  for (const item of items) {
    if (item.kind !== 'rows') {
      yield item
      continue
    }
    const block = new VeiledBlock(item.block, item.from, item.to, veil)
    for (let left = block.length; left > 0; left--) {
      const from = block.show()
      yield { kind: 'rows', block, from, to: from + 1 }
    }
  }
}

/** Yields the items up to the market row number `rows`. The last block is cut after this row. */
export function* upTo(items: Iterable<MarketItem>, rows: number): Generator<MarketItem, void, undefined> {
  let left = rows
  for (const item of items) {
    if (item.kind !== 'rows') yield item
    else if (item.to - item.from < left) {
      left -= item.to - item.from
      yield item
    } else {
      const block = new VeiledBlock(item.block, item.from, item.from + left, 'nothing').showAll()
      yield { kind: 'rows', block, from: 0, to: left }
      return
    }
  }
}

import type { Millis } from '../../base/units.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import type { TapeIndex } from '../../journal/tape/tape-index.ts'
import type { SeqRange } from '../../journal/tape/tape-reader.ts'
import { type Block, RowKind } from '../../market/block.ts'
import { Mints } from '../../market/mints.ts'

/** Prints of one token in a part of the tape, by column. `sells`: 1 for a sale, 0 for a buy. */
export interface PrintColumns {
  readonly times: readonly Millis[]
  /** SOL per token. */
  readonly prices: readonly number[]
  readonly sol: readonly number[]
  readonly sells: readonly (0 | 1)[]
}

interface Growing {
  readonly times: Millis[]
  readonly prices: number[]
  readonly sol: number[]
  readonly sells: (0 | 1)[]
}

/** Number of tokens whose prints are kept. */
const MOST_TOKENS = 8
/** Maximum number of prints that are kept for one token. */
const MOST_KEPT = 500_000

/** Reads the prints of tokens from the tape. The prints of complete ranges are kept, because a page requests the same
 *  token repeatedly. */
export class TokenPrints {
  readonly #reader: JournalReader
  readonly #tape: TapeIndex
  readonly #kept = new Map<string, { readonly ranges: Map<string, PrintColumns>; rows: number }>()

  constructor(reader: JournalReader, tape: TapeIndex) {
    this.#reader = reader
    this.#tape = tape
  }

  /** Times of the first and the last print of a token; undefined if there are none. */
  spanOf(mint: string): { readonly first: Millis; readonly last: Millis } | undefined {
    const ranges = this.#tape.blocksOf(mint)
    const edge = (from: number, step: 1 | -1): Millis | undefined => {
      for (let at = from; ranges[at] !== undefined; at += step) {
        const { times } = this.#prints(mint, ranges[at] as SeqRange)
        const time = times.at(step === 1 ? 0 : -1)
        if (time !== undefined) return time
      }
      return undefined
    }
    const [first, last] = [edge(0, 1), edge(ranges.length - 1, -1)]
    return first === undefined || last === undefined ? undefined : { first, last }
  }

  /** Prints from `from` to `to`, and possibly earlier ones, because whole blocks of the tape are read. */
  of(mint: string, from: Millis, to: Millis): PrintColumns {
    const all: Growing = { times: [], prices: [], sol: [], sells: [] }
    for (const range of this.#tape.blocksOf(mint, from, to)) {
      const { times, prices, sol, sells } = this.#prints(mint, range)
      for (let row = 0; row < times.length; row++) {
        if ((times[row] as number) > to) break
        all.times.push(times[row] as number)
        all.prices.push(prices[row] as number)
        all.sol.push(sol[row] as number)
        all.sells.push(sells[row] as 0 | 1)
      }
    }
    return all
  }

  #prints(mint: string, range: SeqRange): PrintColumns {
    const kept = this.#keptOf(mint)
    const key = `${range.from}-${range.to}`
    const known = kept.ranges.get(key)
    if (known !== undefined) return known
    const read = this.#read(mint, range)
    kept.rows += read.times.length
    if (kept.rows > MOST_KEPT) {
      kept.ranges.clear()
      kept.rows = read.times.length
    }
    kept.ranges.set(key, read)
    return read
  }

  #keptOf(mint: string): { readonly ranges: Map<string, PrintColumns>; rows: number } {
    const kept = this.#kept.get(mint) ?? { ranges: new Map(), rows: 0 }
    this.#kept.delete(mint)
    this.#kept.set(mint, kept)
    if (this.#kept.size > MOST_TOKENS) this.#kept.delete(this.#kept.keys().next().value as string)
    return kept
  }

  #read(mint: string, range: SeqRange): PrintColumns {
    const read: Growing = { times: [], prices: [], sol: [], sells: [] }
    const mints = new Mints()
    for (const block of this.#reader.blocks(mints, range)) addPrints(read, block, mints.find(mint))
    return read
  }
}

function addPrints(
  read: Growing,
  { length, token, kind, time, amount, size }: Block,
  wanted: number | undefined,
): void {
  for (let row = 0; row < length; row++) {
    if (token[row] !== wanted || (kind[row] as number) > RowKind.sell) continue
    const price = (amount[row] as number) / (size[row] as number)
    if (!(price > 0 && Number.isFinite(price))) continue
    read.times.push(time[row] as number)
    read.prices.push(price)
    read.sol.push(amount[row] as number)
    read.sells.push(kind[row] === RowKind.sell ? 1 : 0)
  }
}

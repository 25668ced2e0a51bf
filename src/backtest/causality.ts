import { encodeJson } from '../base/json.ts'
import { deriveSeed, seededRandom } from '../base/random.ts'
import type { Millis, Seq } from '../base/units.ts'
import type { Config } from '../config/config.ts'
import { compared } from '../engine/bots/thrown-value.ts'
import type { Input, Output } from '../engine/messages.ts'
import type { MarketItem } from '../journal/reader/reader.ts'
import type { Market } from '../journal/tape/market-tape.ts'
import { partOf } from '../journal/tape/tape-block.ts'
import type { Journal } from '../orders/ports.ts'
import { runBacktest } from './run.ts'

const CUTS = 5

/** Whether decisions depend on later market data. */
export interface Causality {
  /** Rows after which the tape was cut. */
  readonly cuts: readonly number[]
  /** Decisions and reports compared over all cuts. */
  readonly compared: number
  /** First difference; null if there is none. */
  readonly divergence: Divergence | null
}

interface Divergence {
  readonly cut: number
  /** null if the entry is missing. */
  readonly whole: Entry | null
  readonly cutOff: Entry | null
}

/** Plays a whole tape, and again cut at random rows. All decisions and fills up to a cut must be the same with and
 *  without the rest of the tape. A difference means that a strategy has seen the future, or depends on something
 *  outside of its market. */
export function verifyCausality(config: Config, market: Market, seed: number): Causality {
  const random = seededRandom(seed)
  const cuts = Array.from({ length: CUTS }, () => 1 + random.integer(Math.max(1, market.rows - 1)))
  const at = new Map<number, number>()
  const whole = new DecisionRecord()
  play(config, market, whole, (rows) => at.set(rows, whole.length), cuts)
  let compared = 0
  for (const cut of [...new Set(cuts)].sort((a, b) => a - b)) {
    const cutOff = new DecisionRecord()
    play(config, cutAt(market, cut), cutOff, () => at.set(cut, Math.max(cutOff.length, at.get(cut) ?? 0)), [cut])
    const common = at.get(cut) as number
    const index = whole.firstDifference(cutOff, common)
    if (index !== undefined) return { cuts, compared, divergence: divergenceOf(config, market, cut, index) }
    compared += common
  }
  return { cuts, compared, divergence: null }
}

/** `passed` is called when a number of `marks` rows is done, before any later event. */
function play(
  config: Config,
  market: Market,
  journal: DecisionRecord,
  passed: (rows: number) => void,
  marks: readonly number[],
): void {
  const { stretches, rows } = market
  const items: Market['items'] = (mints) => markedItems(market.items(mints), marks, passed)
  const marked = { stretches, rows, items, history: () => market.history(), ...warmupOf(market) }
  runBacktest(config, marked, { partial: true, tolerant: true, journal })
}

function* markedItems(
  items: Iterable<MarketItem>,
  marks: readonly number[],
  passed: (rows: number) => void,
): Generator<MarketItem, void, undefined> {
  const sorted = [...new Set(marks)].sort((a, b) => a - b)
  let rows = 0
  for (const item of items) {
    if (item.kind !== 'rows') {
      yield item
      continue
    }
    const end = rows + item.to - item.from
    let from = item.from
    for (const mark of sorted.filter((one) => one > rows && one <= end)) {
      const to = item.from + mark - rows
      yield { ...item, from, to }
      passed(mark)
      from = to
    }
    if (from < item.to) yield { ...item, from }
    rows = end
  }
}

/** The tape up to a row. The last block ends there. */
function cutAt(market: Market, rows: number): Market {
  return {
    stretches: market.stretches,
    rows: market.rows,
    history: () => market.history(),
    ...warmupOf(market),
    *items(mints) {
      let left = rows
      for (const item of market.items(mints)) {
        if (item.kind !== 'rows') yield item
        else {
          const to = Math.min(item.to, item.from + left)
          left -= to - item.from
          yield left > 0 ? item : { ...item, block: partOf(item.block, 0, to), to }
          if (left === 0) return
        }
      }
    },
  }
}

function warmupOf(market: Market): Pick<Market, 'warmup'> {
  return market.warmup === undefined ? {} : { warmup: (mints, seconds) => market.warmup?.(mints, seconds) ?? [] }
}

/** Repeats both runs to get the text of the difference. */
function divergenceOf(config: Config, market: Market, cut: number, index: number): Divergence {
  const [whole, cutOff] = [market, cutAt(market, cut)].map((one) => {
    const journal = new DecisionRecord(index)
    play(config, one, journal, () => {}, [cut])
    return journal.entry ?? null
  }) as [Entry | null, Entry | null]
  return { cut, whole, cutOff }
}

/** A decision or its outcome. */
export interface Entry {
  readonly seq: Seq
  readonly time: Millis
  /** JSON. */
  readonly text: string
}

/** All decisions and execution reports in order, as a hash chain: two runs are compared without keeping their
 *  entries. */
class DecisionRecord implements Journal {
  readonly #hashes: number[] = []
  readonly #wanted: number
  /** The wanted entry, once it has occurred. */
  entry: Entry | undefined

  /** `wanted`: index of the one entry to keep. */
  constructor(wanted = -1) {
    this.#wanted = wanted
  }

  /** Number of entries so far. */
  get length(): number {
    return this.#hashes.length
  }

  /** First of `length` entries that differs; undefined if all are equal. */
  firstDifference(other: DecisionRecord, length: number): number | undefined {
    const isEqual = (index: number): boolean => this.#hashes[index] === other.#hashes[index]
    if (length === 0 || isEqual(length - 1)) return undefined
    return Array.from({ length }, (_, index) => index).find((index) => !isEqual(index))
  }

  rows(): void {}

  write(): void {}

  commit(then: () => void): void {
    then()
  }

  input(seq: Seq, time: Millis, input: Input): void {
    if (input.kind === 'report') this.#add(seq, time, input.report)
  }

  output(seq: Seq, time: Millis, _index: number, output: Output): void {
    this.#add(seq, time, compared(output))
  }

  #add(seq: Seq, time: Millis, what: unknown): void {
    const text = encodeJson(what)
    const index = this.#hashes.length
    this.#hashes.push(deriveSeed(this.#hashes[index - 1] ?? 0, `${seq} ${time} ${text}`))
    if (index === this.#wanted) this.entry = { seq, time, text }
  }
}

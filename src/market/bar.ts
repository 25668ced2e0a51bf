import type { Millis } from '../base/units.ts'
import type { Width } from './bar-width.ts'

/** A closed bar. Its prices are robust prices, SOL a token, so a single wrong print does not change them. The bar
 *  counts only the prints from which the robust price is computed: trades of 0.01 to 100,000 SOL. */
export interface Bar {
  /** Width of the bar, as the strategy declares it. */
  readonly width: Width
  /** Start of the interval, ms since the Unix epoch. For a bar with a fixed number of trades or a fixed volume: time of
   *  its first print. */
  readonly openTime: Millis
  /** End of the interval, ms since the Unix epoch; this moment itself belongs to the next bar. For a bar with a fixed
   *  number of trades or a fixed volume: time of its last print. */
  readonly closeTime: Millis
  /** Robust price after the first print, SOL a token. */
  readonly open: number
  /** Highest robust price, SOL a token. */
  readonly high: number
  /** Lowest robust price, SOL a token. */
  readonly low: number
  /** Robust price after the last print, SOL a token. */
  readonly close: number
  /** SOL of buys and sells together. */
  readonly volumeSol: number
  /** Number of buys. */
  readonly buys: number
  /** Number of sells. */
  readonly sells: number
  /** Number of buys and sells; 0 for an interval without prints. */
  readonly trades: number
  /** Whether the feed was interrupted during the bar, so that prints may be missing. */
  readonly gap: boolean
}

/** Number of doubles that a bar takes in memory: one cache line. The constants below are the offsets of its fields. */
export const BAR_DOUBLES = 8
export const OPEN = 0
export const HIGH = 1
export const LOW = 2
export const CLOSE = 3
export const VOLUME = 4
/** Offset of the double that contains all counts of the bar: it adds 1 for each buy, `A_SELL` for each sell, and
 *  `A_GAP` if the feed was interrupted. */
export const COUNTS = 5
export const OPENED = 6
export const CLOSED = 7

export const A_SELL = 2 ** 26
export const A_GAP = 2 ** 52

// One double contains the counts of buys and sells and the flag of a gap (see `COUNTS`). The functions below extract a
// count by divisions by powers of two, because these are exact and several times as fast as remainders (`%`).

export function buysIn(counts: number): number {
  return counts - Math.floor(counts / A_SELL) * A_SELL
}

export function sellsIn(counts: number): number {
  return Math.floor((counts >= A_GAP ? counts - A_GAP : counts) / A_SELL)
}

/** Returns the number of prints that the counts of a bar contain; see `COUNTS`. */
export function tradesIn(counts: number): number {
  return buysIn(counts) + sellsIn(counts)
}

/** A bar as strategies see it. The memory that it reads is never written again, so the bar never changes. */
class ClosedBar implements Bar {
  readonly #width: Width
  readonly #doubles: Float64Array
  readonly #at: number

  constructor(width: Width, doubles: Float64Array, at: number) {
    this.#width = width
    this.#doubles = doubles
    this.#at = at
  }

  get width(): Width {
    return this.#width
  }
  get openTime(): Millis {
    return this.#doubles[this.#at + OPENED] as number
  }
  get closeTime(): Millis {
    return this.#doubles[this.#at + CLOSED] as number
  }
  get open(): number {
    return this.#doubles[this.#at + OPEN] as number
  }
  get high(): number {
    return this.#doubles[this.#at + HIGH] as number
  }
  get low(): number {
    return this.#doubles[this.#at + LOW] as number
  }
  get close(): number {
    return this.#doubles[this.#at + CLOSE] as number
  }
  get volumeSol(): number {
    return this.#doubles[this.#at + VOLUME] as number
  }
  get buys(): number {
    return buysIn(this.#doubles[this.#at + COUNTS] as number)
  }
  get sells(): number {
    return sellsIn(this.#doubles[this.#at + COUNTS] as number)
  }
  get trades(): number {
    return tradesIn(this.#doubles[this.#at + COUNTS] as number)
  }
  get gap(): boolean {
    return (this.#doubles[this.#at + COUNTS] as number) >= A_GAP
  }

  toJSON(): Bar {
    const { width, openTime, closeTime, open, high, low, close, volumeSol, buys, sells, trades, gap } = this
    return { width, openTime, closeTime, open, high, low, close, volumeSol, buys, sells, trades, gap }
  }
}

Object.freeze(ClosedBar.prototype)

/** Number of bars whose memory is allocated together. As long as a strategy keeps one of these bars, the memory of all
 *  of them stays in use. */
const COPIES_AT_ONCE = 128

/** Copies bars for strategies. The memory is garbage-collected when no bar in it is used any more. */
export class BarCopies {
  readonly #width: Width
  #doubles = new Float64Array(0)
  #used = 0

  constructor(width: Width) {
    this.#width = width
  }

  copy(doubles: Float64Array, from: number): Bar {
    const at = this.#used < this.#doubles.length ? this.#used : 0
    if (at === 0) this.#doubles = new Float64Array(COPIES_AT_ONCE * BAR_DOUBLES)
    const to = this.#doubles
    for (let index = 0; index < BAR_DOUBLES; index++) to[at + index] = doubles[from + index] as number
    this.#used = at + BAR_DOUBLES
    return new ClosedBar(this.#width, to, at)
  }
}

/** Writes the bar of an interval without a print: flat at the last price. */
export function writeSilentBar(
  to: Float64Array,
  price: number,
  openTime: Millis,
  closeTime: Millis,
  gap: boolean,
): void {
  to[OPEN] = to[HIGH] = to[LOW] = to[CLOSE] = price
  to[VOLUME] = 0
  to[COUNTS] = gap ? A_GAP : 0
  to[OPENED] = openTime
  to[CLOSED] = closeTime
}

import { bitOf, lowestBit, WORD_BITS, wordOf } from '../base/bits.ts'
import type { Millis } from '../base/units.ts'
import {
  A_GAP,
  A_SELL,
  BAR_DOUBLES,
  type Bar,
  BarCopies,
  CLOSE,
  CLOSED,
  COUNTS,
  HIGH,
  LOW,
  OPEN,
  OPENED,
  tradesIn,
  VOLUME,
} from './bar.ts'
import type { BarWidth } from './bar-width.ts'
import type { TokenId } from './block.ts'
import type { FeedGaps } from './feed-gaps.ts'
import { KeptBars } from './kept-bars.ts'

/** The columns of prints that bars read. */
export interface PrintColumns {
  /** 1 for a sale, 0 for a buy. Arithmetic with this number replaces a branch on the side of a trade, which the
   *  processor cannot predict. */
  readonly kind: ArrayLike<number>
  /** SOL. */
  readonly amount: ArrayLike<number>
  readonly time: ArrayLike<Millis>
}

/** Gives the robust price of a token after a print; 0 if there is none. */
export interface PrintPrices {
  numberAt(token: TokenId): number
}

/** A component that receives each bar when the bar closes. */
export interface BarFollower {
  /** Called with a bar that is about to close. The bar's numbers begin at `doubles[at]`. */
  closing(token: TokenId, doubles: Float64Array, at: number): void
  /** Called with tokens whose bars are about to close together: the first `count` elements of `tokens`. The bar of a
   *  token begins at the token's number times `BAR_DOUBLES` in `doubles`. */
  closingAll(tokens: Uint32Array, count: number, doubles: Float64Array): void
}

/** The bars of one width for all tokens. The open bar of each token is one cache line in a flat array by token number,
 *  so adding a print needs no hash and allocates no memory. */
export class Bars {
  readonly width: BarWidth
  /** Number of closed bars that are kept for each token. */
  keep = 1
  /** End of the current interval of time bars; -Infinity before the first interval. Infinity for bars with a fixed
   *  number of trades or a fixed volume. */
  closesAt: Millis = Number.POSITIVE_INFINITY
  /** Start of the current interval of time bars; all earlier intervals are closed. NaN for bars with a fixed number of
   *  trades or a fixed volume. */
  closedTo: Millis = Number.NaN
  readonly isTimed: boolean
  /** Whether each print makes a bar of its own (`1 trade`). */
  readonly #isSingle: boolean
  #followers: readonly BarFollower[] = []
  readonly #gaps: FeedGaps
  #open = new Float64Array(0)
  /** The bar of the current print, if each print makes a bar of its own. */
  readonly #whole = new Float64Array(BAR_DOUBLES)
  /** Tokens with a print in the current interval of a time bar, in the order of their first prints, and the number of
   *  these tokens. */
  #printed = new Uint32Array(0)
  #printedCount = 0
  /** The same tokens as in `#printed`, as one bit for each token number. */
  #printedBits = new Uint32Array(0)
  /** Tokens whose bars the last `endInterval` closed, in the order of their numbers. */
  #inMemoryOrder = new Uint32Array(0)
  #closedCount = 0
  /** The closed bars. */
  readonly closed = new KeptBars()
  readonly #copies: BarCopies
  /** The bar that `newest` returned last, the token of this bar, and the number of this bar among the token's bars. */
  #shown: Bar | undefined
  #shownToken: TokenId = -1
  #shownNumber = 0

  constructor(width: BarWidth, gaps: FeedGaps) {
    this.width = width
    this.#copies = new BarCopies(width.name)
    this.isTimed = width.everyMs < Number.POSITIVE_INFINITY
    this.#isSingle = width.trades === 1
    this.#gaps = gaps
    this.rewind()
  }

  addFollower(follower: BarFollower): void {
    this.#followers = [...this.#followers, follower]
  }

  removeFollower(follower: BarFollower): void {
    this.#followers = this.#followers.filter((one) => one !== follower)
  }

  /** Adds the print of a row. Returns true if the print completes a bar with a fixed number of trades or a fixed
   *  volume; the caller must then call `close`. */
  print(prints: PrintColumns, row: number, token: TokenId, prices: PrintPrices): boolean {
    if (token * BAR_DOUBLES >= this.#open.length) this.#grow(token)
    if (this.#isSingle) return this.#printWhole(prints, row, token, prices)
    this.printOpen(prints, row, token, prices)
    if (this.isTimed) return false
    const open = this.#open
    const at = token * BAR_DOUBLES
    const { trades, volumeSol } = this.width
    open[at + CLOSED] = prints.time[row] as number
    if ((open[at + VOLUME] as number) >= volumeSol) return true
    return trades < Number.POSITIVE_INFINITY && tradesIn(open[at + COUNTS] as number) >= trades
  }

  /** Adds the print of a row to the open bar of a token. This function reads the numbers of the print itself, because
   *  V8 would allocate memory for each fractional argument. */
  printOpen(prints: PrintColumns, row: number, token: TokenId, prices: PrintPrices): void {
    const at = token * BAR_DOUBLES
    if (at >= this.#open.length) this.#grow(token)
    const open = this.#open
    const price = prices.numberAt(token)
    const counts = open[at + COUNTS] as number
    if (counts === 0) this.#begin(prints, row, token)
    open[at + COUNTS] = counts + 1 + (prints.kind[row] as number) * (A_SELL - 1)
    open[at + VOLUME] = (open[at + VOLUME] as number) + (prints.amount[row] as number)
    if (price > 0) {
      open[at + CLOSE] = price
      if (open[at + OPEN] === 0) open[at + OPEN] = open[at + HIGH] = open[at + LOW] = price
      else if (price > (open[at + HIGH] as number)) open[at + HIGH] = price
      else if (price < (open[at + LOW] as number)) open[at + LOW] = price
    }
  }

  /** Writes the bar of one print. Returns false if there is no price, because such a print makes no bar. */
  #printWhole(prints: PrintColumns, row: number, token: TokenId, prices: PrintPrices): boolean {
    const whole = this.#whole
    const price = prices.numberAt(token)
    whole[OPEN] = whole[HIGH] = whole[LOW] = whole[CLOSE] = price
    whole[VOLUME] = prints.amount[row] as number
    whole[COUNTS] = 1 + (prints.kind[row] as number) * (A_SELL - 1)
    whole[OPENED] = whole[CLOSED] = prints.time[row] as number
    return price > 0
  }

  /** Ends the current interval of time bars, and closes the bars of all tokens with a print in it. The next interval is
   *  the one that contains `now`. `dropping`, if given, is called before the oldest bars of a token are dropped.
   *  Returns the tokens whose bar has a price, in the order of their first prints. The list is valid until the next
   *  call. */
  endInterval(now: Millis, dropping?: (token: TokenId) => void): Uint32Array {
    const { everyMs } = this.width
    const printed = this.#printed
    const count = this.#printedCount
    this.closesAt = (Math.floor(now / everyMs) + 1) * everyMs
    this.closedTo = this.closesAt - everyMs
    this.#printedCount = 0
    this.#closedCount = count === 0 ? 0 : this.#closePrinted(dropping)
    const bits = this.#printedBits
    let closed = 0
    for (let index = 0; index < count; index++) {
      const token = printed[index] as TokenId
      if (((bits[wordOf(token)] as number) & bitOf(token)) !== 0) printed[closed++] = token
    }
    bits.fill(0)
    return printed.subarray(0, closed)
  }

  /** The tokens that the last `endInterval` returned, but in the order of their numbers, in which their memory is read
   *  fastest. The list is valid until the next interval ends. */
  get inMemoryOrder(): Uint32Array {
    return this.#inMemoryOrder.subarray(0, this.#closedCount)
  }

  /** Closes the bars of the tokens with prints, in the order of their memory. Returns the number of these bars. The
   *  work consists of several steps. Each step is a loop over all tokens, so that the processor loads the memory of
   *  several tokens at the same time. */
  #closePrinted(dropping?: (token: TokenId) => void): number {
    const closed = this.#listPriced(dropping)
    const open = this.#open
    const tokens = this.#inMemoryOrder
    for (const follower of this.#followers) follower.closingAll(tokens, closed, open)
    for (let index = 0; index < closed; index++) {
      const token = tokens[index] as TokenId
      this.closed.add(token, open, token * BAR_DOUBLES, this.keep)
      clearOpen(open, token * BAR_DOUBLES)
    }
    return closed
  }

  /** Lists the tokens whose bar has a price, in the order of their memory, and marks their bars if a gap overlaps them.
   *  Drops bars without a price and clears the bits of their tokens. Returns the number of listed tokens. */
  #listPriced(dropping?: (token: TokenId) => void): number {
    const bits = this.#printedBits
    const open = this.#open
    let priced = 0
    for (let word = 0; word < bits.length; word++)
      for (let left = bits[word] as number; left !== 0; left &= left - 1) {
        const bit = left & -left
        const token = word * WORD_BITS + lowestBit(left)
        const at = token * BAR_DOUBLES
        if (dropping !== undefined && this.drops(token)) dropping(token)
        if ((open[at + OPEN] as number) > 0) {
          if ((open[at + OPENED] as number) < this.#gaps.lastEnd) this.#markGap(token, open, at)
          this.#inMemoryOrder[priced++] = token
        } else {
          clearOpen(open, at)
          bits[word] = (bits[word] as number) & ~bit
        }
      }
    return priced
  }

  /** Forgets the current interval. The next call of `endInterval` then starts the interval that contains its `now`. */
  rewind(): void {
    if (this.isTimed) this.closesAt = this.closedTo = Number.NEGATIVE_INFINITY
  }

  /** Whether any token has a print in the current interval of a time bar. */
  get hasPrints(): boolean {
    return this.#printedCount > 0
  }

  /** Whether the oldest bars of a token are dropped when its next bar closes. */
  drops(token: TokenId): boolean {
    return this.closed.drops(token, this.keep)
  }

  /** Closes the bar of a token. Returns false if the bar has no price; it is then dropped. */
  close(token: TokenId): boolean {
    const open = this.#isSingle ? this.#whole : this.#open
    const at = this.#isSingle ? 0 : token * BAR_DOUBLES
    const isPriced = (open[at + OPEN] as number) > 0
    if (isPriced) {
      if ((open[at + OPENED] as number) < this.#gaps.lastEnd) this.#markGap(token, open, at)
      const followers = this.#followers
      for (let index = 0; index < followers.length; index++) (followers[index] as BarFollower).closing(token, open, at)
      this.closed.add(token, open, at, this.keep)
    }
    clearOpen(open, at)
    return isPriced
  }

  #markGap(token: TokenId, open: Float64Array, at: number): void {
    if (this.#gaps.covers(token, open[at + OPENED] as number, open[at + CLOSED] as number))
      open[at + COUNTS] = (open[at + COUNTS] as number) + A_GAP
  }

  /** Returns the newest closed bar of a token. A strategy may keep the bar. */
  newest(token: TokenId): Bar {
    const { closed } = this
    const number = closed.countOf(token) - 1
    if (this.#shown === undefined || token !== this.#shownToken || number !== this.#shownNumber) {
      const place = closed.placeOf(token, number)
      this.#shown = this.copy(closed.memoryAt(place), closed.offsetOf(place))
      this.#shownToken = token
      this.#shownNumber = number
    }
    return this.#shown
  }

  /** Copies a bar for a strategy, which may keep it. */
  copy(doubles: Float64Array, at: number): Bar {
    return this.#copies.copy(doubles, at)
  }

  holds(token: TokenId): boolean {
    return this.lastAt(token) > Number.NEGATIVE_INFINITY
  }

  /** All tokens that have bars have numbers below this one. */
  get tokens(): number {
    return this.#open.length / BAR_DOUBLES
  }

  /** Time of the last print of a token's open bar; without an open bar, the end of its last closed bar; -Infinity
   *  without bars. */
  lastAt(token: TokenId): Millis {
    const at = token * BAR_DOUBLES
    if ((this.#open[at + COUNTS] ?? 0) > 0) return this.#open[at + CLOSED] as number
    return this.closed.closedAt(token)
  }

  /** Frees the bars of a token without a print in the current interval. */
  forget(token: TokenId): void {
    const at = token * BAR_DOUBLES
    if (at >= this.#open.length) return
    this.closed.forget(token)
    if (token === this.#shownToken) this.#shown = undefined
    this.#open.fill(0, at, at + BAR_DOUBLES)
  }

  /** Drops all open bars. Called when the amounts of the feed prove not to be in SOL. */
  dropOpen(): void {
    this.#open.fill(0)
    this.#printedCount = 0
    this.#printedBits.fill(0)
  }

  #begin(prints: PrintColumns, row: number, token: TokenId): void {
    const at = token * BAR_DOUBLES
    if (this.isTimed) {
      this.#open[at + OPENED] = this.closedTo
      this.#open[at + CLOSED] = this.closesAt
      this.#printed[this.#printedCount++] = token
      this.#printedBits[wordOf(token)] = (this.#printedBits[wordOf(token)] as number) | bitOf(token)
    } else this.#open[at + OPENED] = prints.time[row] as number
  }

  #grow(token: TokenId): void {
    const tokens = Math.max(1024, 2 ** Math.ceil(Math.log2(token + 1)))
    const [open, printed, bits, ordered] = [this.#open, this.#printed, this.#printedBits, this.#inMemoryOrder]
    this.#open = new Float64Array(tokens * BAR_DOUBLES)
    this.#printed = new Uint32Array(tokens)
    this.#open.set(open)
    this.#printed.set(printed)
    this.#printedBits = new Uint32Array(tokens / 32)
    this.#printedBits.set(bits)
    this.#inMemoryOrder = new Uint32Array(tokens)
    this.#inMemoryOrder.set(ordered)
  }
}

/** Prepares an open bar for the first print of the next bar: clears the numbers that this print does not set. */
function clearOpen(open: Float64Array, at: number): void {
  open[at + COUNTS] = open[at + VOLUME] = open[at + OPEN] = 0
}

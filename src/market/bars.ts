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
import { BarRings } from './bar-rings.ts'
import type { BarWidth } from './bar-width.ts'
import type { TokenId } from './block.ts'
import type { FeedGaps } from './feed-gaps.ts'

/** A component that takes each bar when it closes. */
export interface BarFollower {
  /** Called with the bar of a token at `at` in `doubles`, before it counts as closed. */
  closing(token: TokenId, doubles: Float64Array, at: number): void
}

/** The bars of one width, of all tokens. The open bar of each token is one cache line in a flat array by token number,
 *  so a print neither hashes nor allocates. */
export class Bars {
  readonly width: BarWidth
  /** Number of closed bars that are kept for each token. */
  keep = 1
  /** End of the current interval of time bars; -Infinity before the first, Infinity for other bars. */
  closesAt: Millis = Number.POSITIVE_INFINITY
  /** Start of the current interval of time bars; all earlier intervals are closed. NaN for other bars. */
  closedTo: Millis = Number.NaN
  readonly isTimed: boolean
  #followers: readonly BarFollower[] = []
  readonly #gaps: FeedGaps
  #open = new Float64Array(0)
  /** Tokens with a print in the current interval of a time bar, in the order of their first prints, and their
   *  number. */
  #printed = new Uint32Array(0)
  #printedCount = 0
  /** The same tokens, as bits by token number. */
  #printedBits = new Uint32Array(0)
  /** Tokens whose bars the last `endInterval` closed, in the order of their numbers. */
  #inMemoryOrder = new Uint32Array(0)
  #closedCount = 0
  /** The closed bars. */
  readonly closed = new BarRings()
  readonly #copies: BarCopies
  /** The bar that `newest` returned last, its token and its number. */
  #shown: Bar | undefined
  #shownToken: TokenId = -1
  #shownNumber = 0

  constructor(width: BarWidth, gaps: FeedGaps) {
    this.width = width
    this.#copies = new BarCopies(width.name)
    this.isTimed = width.everyMs < Number.POSITIVE_INFINITY
    this.#gaps = gaps
    this.rewind()
  }

  addFollower(follower: BarFollower): void {
    this.#followers = [...this.#followers, follower]
  }

  removeFollower(follower: BarFollower): void {
    this.#followers = this.#followers.filter((one) => one !== follower)
  }

  /** Adds a print. `price`: the robust price after it, 0 if there is none. Returns true if the print completes a bar of
   *  trades or of a volume; the caller then calls `close`. */
  print(token: TokenId, isSell: boolean, sol: number, price: number, now: Millis): boolean {
    const at = token * BAR_DOUBLES
    if (at >= this.#open.length) this.#grow(token)
    const open = this.#open
    const counts = open[at + COUNTS] as number
    if (counts === 0) this.#begin(token, at, now)
    open[at + COUNTS] = counts + (isSell ? A_SELL : 1)
    const volume = (open[at + VOLUME] as number) + sol
    open[at + VOLUME] = volume
    if (price > 0) {
      if (open[at + OPEN] === 0) open[at + OPEN] = open[at + HIGH] = open[at + LOW] = price
      else if (price > (open[at + HIGH] as number)) open[at + HIGH] = price
      else if (price < (open[at + LOW] as number)) open[at + LOW] = price
      open[at + CLOSE] = price
    }
    if (this.isTimed) return false
    const { trades, volumeSol } = this.width
    open[at + CLOSED] = now
    return volume >= volumeSol || (trades < Number.POSITIVE_INFINITY && tradesIn(counts) + 1 >= trades)
  }

  /** Ends the current interval of time bars. Closes the bars of all tokens with a print in it; `dropping` is called
   *  before the oldest bars of a token are dropped. The next interval is the one that contains `now`. Returns the
   *  tokens whose bar has a price, in the order of their first prints. The list is valid until the next call. */
  endInterval(now: Millis, dropping: (token: TokenId) => void): Uint32Array {
    const { everyMs } = this.width
    const printed = this.#printed
    const count = this.#printedCount
    this.closesAt = (Math.floor(now / everyMs) + 1) * everyMs
    this.closedTo = this.closesAt - everyMs
    this.#printedCount = 0
    if (count > 0) this.#closePrinted(dropping)
    const bits = this.#printedBits
    let closed = 0
    for (let index = 0; index < count; index++) {
      const token = printed[index] as TokenId
      if (((bits[token >>> 5] as number) & (1 << (token & 31))) !== 0) printed[closed++] = token
    }
    bits.fill(0)
    return printed.subarray(0, closed)
  }

  /** Tokens that the last `endInterval` returned, in the order of their numbers. Their memory is read fastest in this
   *  order. The list is valid until the next interval ends. */
  get inMemoryOrder(): Uint32Array {
    return this.#inMemoryOrder.subarray(0, this.#closedCount)
  }

  /** Closes the bars of the tokens with prints, in the order of their memory. Clears the bits of tokens without a
   *  price. */
  #closePrinted(dropping: (token: TokenId) => void): void {
    const bits = this.#printedBits
    let closed = 0
    for (let word = 0; word < bits.length; word++)
      for (let left = bits[word] as number; left !== 0; left &= left - 1) {
        const bit = left & -left
        const token = word * 32 + (31 - Math.clz32(bit))
        if (this.drops(token)) dropping(token)
        if (this.close(token)) this.#inMemoryOrder[closed++] = token
        else bits[word] = (bits[word] as number) & ~bit
      }
    this.#closedCount = closed
  }

  /** Forgets the current interval. The next call of `endInterval` begins with the interval that contains its time. */
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
    const open = this.#open
    const at = token * BAR_DOUBLES
    const isPriced = (open[at + OPEN] as number) > 0
    if (isPriced) {
      if ((open[at + OPENED] as number) < this.#gaps.lastEnd) this.#markGap(token, at)
      const followers = this.#followers
      for (let index = 0; index < followers.length; index++) (followers[index] as BarFollower).closing(token, open, at)
      this.closed.add(token, open, at, this.keep)
    }
    // The first print of the next bar sets the other numbers.
    open[at + COUNTS] = open[at + VOLUME] = open[at + OPEN] = 0
    return isPriced
  }

  #markGap(token: TokenId, at: number): void {
    const open = this.#open
    if (this.#gaps.covers(token, open[at + OPENED] as number, open[at + CLOSED] as number))
      open[at + COUNTS] = (open[at + COUNTS] as number) + A_GAP
  }

  /** The bar of a token that closed last. A strategy may keep it. */
  newest(token: TokenId): Bar {
    const { closed } = this
    const number = closed.countOf(token) - 1
    if (this.#shown === undefined || token !== this.#shownToken || number !== this.#shownNumber) {
      this.#shown = this.copy(closed.memoryOf(token), closed.placeOf(token, number))
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

  /** Number of tokens that may have bars: all token numbers are lower. */
  get tokens(): number {
    return this.#open.length / BAR_DOUBLES
  }

  /** End of the last bar of a token, or time of its last print; -Infinity if the token has no bars. */
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

  /** Drops the open bars. Called when the amounts turn out to be in another unit. */
  dropOpen(): void {
    this.#open.fill(0)
    this.#printedCount = 0
    this.#printedBits.fill(0)
  }

  #begin(token: TokenId, at: number, now: Millis): void {
    if (this.isTimed) {
      this.#open[at + OPENED] = this.closedTo
      this.#open[at + CLOSED] = this.closesAt
      this.#printed[this.#printedCount++] = token
      this.#printedBits[token >>> 5] = (this.#printedBits[token >>> 5] as number) | (1 << (token & 31))
    } else this.#open[at + OPENED] = now
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

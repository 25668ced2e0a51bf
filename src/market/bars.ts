import type { Millis } from '../base/units.ts'
import {
  A_GAP,
  A_SELL,
  BAR_DOUBLES,
  type Bar,
  CLOSE,
  CLOSED,
  ClosedBar,
  COUNTS,
  HIGH,
  LOW,
  OPEN,
  OPENED,
  tradesIn,
  VOLUME,
} from './bar.ts'
import { BarHistory, BarStore } from './bar-history.ts'
import type { BarWidth } from './bar-width.ts'
import type { TokenId } from './block.ts'
import type { FeedGaps } from './feed-gaps.ts'
import { type ByToken, setByToken } from './mints.ts'

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
  /** Begin of the current interval of time bars: all earlier ones are closed. NaN for other bars. */
  closedTo: Millis = Number.NaN
  readonly isTimed: boolean
  #followers: readonly BarFollower[] = []
  readonly #gaps: FeedGaps
  #open = new Float64Array(0)
  /** Number of closed bars of each token so far. */
  #counts = new Uint32Array(0)
  /** Tokens with a print in the current interval of a time bar, in the order of their first prints, and their
   *  number. */
  #printed = new Uint32Array(0)
  #printedCount = 0
  readonly #store = new BarStore()
  readonly #histories: ByToken<BarHistory> = []

  constructor(width: BarWidth, gaps: FeedGaps) {
    this.width = width
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
    let closed = 0
    for (let index = 0; index < count; index++) {
      const token = printed[index] as TokenId
      if (this.drops(token)) dropping(token)
      if (this.close(token)) printed[closed++] = token
    }
    return printed.subarray(0, closed)
  }

  /** Begins again with the interval of the next time that `endInterval` is given. */
  rewind(): void {
    if (this.isTimed) this.closesAt = this.closedTo = Number.NEGATIVE_INFINITY
  }

  /** Whether any token has a print in the current interval of a time bar. */
  get hasPrints(): boolean {
    return this.#printedCount > 0
  }

  /** Whether the oldest bars of a token are dropped when its next bar closes. */
  drops(token: TokenId): boolean {
    return this.#histories[token]?.dropsNext(this.keep) === true
  }

  /** Closes the bar of a token. Returns false if the bar has no price; it is then dropped. */
  close(token: TokenId): boolean {
    const open = this.#open
    const at = token * BAR_DOUBLES
    const isPriced = (open[at + OPEN] as number) > 0
    if (isPriced) {
      if (this.#gaps.covers(token, open[at + OPENED] as number, open[at + CLOSED] as number))
        open[at + COUNTS] = (open[at + COUNTS] as number) + A_GAP
      const followers = this.#followers
      for (let index = 0; index < followers.length; index++) (followers[index] as BarFollower).closing(token, open, at)
      const history = this.#histories[token] ?? this.#newHistory(token)
      history.add(open, at, this.keep)
      this.#counts[token] = history.count
    }
    // The other numbers are written by the first print of the next bar.
    open[at + COUNTS] = open[at + VOLUME] = open[at + OPEN] = 0
    return isPriced
  }

  /** The closed bars of a token; undefined before the first. */
  of(token: TokenId): BarHistory | undefined {
    return this.#histories[token]
  }

  /** Number of closed bars of a token so far. */
  countOf(token: TokenId): number {
    return this.#counts[token] ?? 0
  }

  /** The bar of a token that closed last. */
  newest(token: TokenId): Bar {
    const { newestMemory, newestPlace } = this.#histories[token] as BarHistory
    return new ClosedBar(this.width.name, newestMemory, newestPlace)
  }

  holds(token: TokenId): boolean {
    return this.lastAt(token) > Number.NEGATIVE_INFINITY
  }

  /** Number of tokens that may have bars: all token numbers are lower. */
  get tokens(): number {
    return this.#counts.length
  }

  /** End of the last bar of a token, or time of its last print; -Infinity if the token has no bars. */
  lastAt(token: TokenId): Millis {
    const at = token * BAR_DOUBLES
    if ((this.#open[at + COUNTS] ?? 0) > 0) return this.#open[at + CLOSED] as number
    return this.#histories[token]?.closedAt ?? Number.NEGATIVE_INFINITY
  }

  /** Frees the bars of a token without a print in the current interval. */
  forget(token: TokenId): void {
    const at = token * BAR_DOUBLES
    if (at >= this.#open.length) return
    if (token < this.#histories.length) this.#histories[token] = undefined
    this.#counts[token] = 0
    this.#open.fill(0, at, at + BAR_DOUBLES)
  }

  /** Drops the open bars. Called when the amounts turn out to be in another unit. */
  dropOpen(): void {
    this.#open.fill(0)
    this.#printedCount = 0
  }

  #begin(token: TokenId, at: number, now: Millis): void {
    if (this.isTimed) {
      this.#open[at + OPENED] = this.closedTo
      this.#open[at + CLOSED] = this.closesAt
      this.#printed[this.#printedCount++] = token
    } else this.#open[at + OPENED] = now
  }

  #newHistory(token: TokenId): BarHistory {
    const history = new BarHistory(this.#store)
    setByToken(this.#histories, token, history)
    return history
  }

  #grow(token: TokenId): void {
    const tokens = Math.max(1024, 2 ** Math.ceil(Math.log2(token + 1)))
    const [open, counts, printed] = [this.#open, this.#counts, this.#printed]
    this.#open = new Float64Array(tokens * BAR_DOUBLES)
    this.#counts = new Uint32Array(tokens)
    this.#printed = new Uint32Array(tokens)
    this.#open.set(open)
    this.#counts.set(counts)
    this.#printed.set(printed)
  }
}

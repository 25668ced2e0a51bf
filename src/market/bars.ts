import type { Millis } from '../base/units.ts'
import {
  A_GAP,
  A_SELL,
  BAR_DOUBLES,
  type Bar,
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
import { BarHistory } from './bar-history.ts'
import type { BarWidth } from './bar-width.ts'
import type { TokenId } from './block.ts'
import type { FeedGaps } from './feed-gaps.ts'
import { type ByToken, setByToken } from './mints.ts'

/** The bars of one width, of all tokens. The open bar of each token is one cache line in a flat array by token number,
 *  so a print neither hashes nor allocates. */
export class Bars {
  readonly width: BarWidth
  /** Number of closed bars that are kept for each token. */
  keep = 1
  /** End of the current interval of time bars; -Infinity before the first, Infinity for other bars. */
  closesAt: Millis = Number.POSITIVE_INFINITY
  readonly #gaps: FeedGaps
  #open = new Float64Array(0)
  /** Tokens with a print in the current interval of a time bar, in the order of their first prints. */
  #printed: TokenId[] = []
  readonly #histories: ByToken<BarHistory> = []

  constructor(width: BarWidth, gaps: FeedGaps) {
    this.width = width
    this.#gaps = gaps
    this.rewind()
  }

  /** Adds a print. `price`: the robust price after it, 0 if there is none. Returns true if the print completes a bar of
   *  trades or of a volume; the caller then calls `close`. */
  print(token: TokenId, isSell: boolean, sol: number, price: number, now: Millis): boolean {
    const at = token * BAR_DOUBLES
    if (at >= this.#open.length) this.#grow(token)
    const open = this.#open
    const counts = open[at + COUNTS] as number
    if (counts === 0) this.#begin(token, now)
    open[at + COUNTS] = counts + (isSell ? A_SELL : 1)
    const volume = (open[at + VOLUME] as number) + sol
    open[at + VOLUME] = volume
    if (price > 0) {
      if (open[at + OPEN] === 0) open[at + OPEN] = open[at + HIGH] = open[at + LOW] = price
      else if (price > (open[at + HIGH] as number)) open[at + HIGH] = price
      else if (price < (open[at + LOW] as number)) open[at + LOW] = price
      open[at + CLOSE] = price
    }
    const { everyMs, trades, volumeSol } = this.width
    if (everyMs < Number.POSITIVE_INFINITY) return false
    open[at + CLOSED] = now
    return volume >= volumeSol || (trades < Number.POSITIVE_INFINITY && tradesIn(counts) + 1 >= trades)
  }

  /** Ends the current interval of time bars, and returns the tokens whose bar must be closed. The next interval is the
   *  one that contains `now`. */
  nextInterval(now: Millis): readonly TokenId[] {
    const { everyMs } = this.width
    const printed = this.#printed
    if (printed.length > 0) this.#printed = []
    this.closesAt = (Math.floor(now / everyMs) + 1) * everyMs
    return printed
  }

  /** Begins again with the interval of the next time that `nextInterval` is given. */
  rewind(): void {
    if (this.width.everyMs < Number.POSITIVE_INFINITY) this.closesAt = Number.NEGATIVE_INFINITY
  }

  /** Begin of the current interval of time bars: all earlier ones are closed. */
  get closedTo(): Millis {
    return this.closesAt - this.width.everyMs
  }

  /** Whether any token has a print in the current interval of a time bar. */
  get hasPrints(): boolean {
    return this.#printed.length > 0
  }

  /** Whether the oldest bars of a token are dropped when its next bar closes. */
  drops(token: TokenId): boolean {
    const history = this.#histories[token]
    return history !== undefined && history.firstAfterNext(this.keep) > history.first
  }

  /** Closes the bar of a token. Returns false if the bar has no price; it is then dropped. */
  close(token: TokenId): boolean {
    const open = this.#open
    const at = token * BAR_DOUBLES
    const isPriced = (open[at + OPEN] as number) > 0
    if (isPriced) {
      if (this.#gaps.covers(token, open[at + OPENED] as number, open[at + CLOSED] as number))
        open[at + COUNTS] = (open[at + COUNTS] as number) + A_GAP
      this.#historyOf(token).add(open, at, this.keep)
    }
    open.fill(0, at, at + BAR_DOUBLES)
    return isPriced
  }

  /** The closed bars of a token; undefined before the first. */
  of(token: TokenId): BarHistory | undefined {
    return this.#histories[token]
  }

  /** The bar of a token that closed last. */
  newest(token: TokenId): Bar {
    const history = this.#histories[token] as BarHistory
    return history.at(history.count - 1)
  }

  holds(token: TokenId): boolean {
    return this.lastAt(token) > Number.NEGATIVE_INFINITY
  }

  /** Number of tokens that may have bars: all token numbers are lower. */
  get tokens(): number {
    return Math.max(this.#histories.length, this.#open.length / BAR_DOUBLES)
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
    if (this.#histories[token] !== undefined) this.#histories[token] = undefined
    if (at < this.#open.length) this.#open.fill(0, at, at + BAR_DOUBLES)
  }

  /** Drops the open bars. Called when the amounts turn out to be in another unit. */
  dropOpen(): void {
    this.#open.fill(0)
    this.#printed = []
  }

  #begin(token: TokenId, now: Millis): void {
    const at = token * BAR_DOUBLES
    if (this.width.everyMs === Number.POSITIVE_INFINITY) this.#open[at + OPENED] = now
    else {
      this.#open[at + OPENED] = this.closesAt - this.width.everyMs
      this.#open[at + CLOSED] = this.closesAt
      this.#printed.push(token)
    }
  }

  #historyOf(token: TokenId): BarHistory {
    const known = this.#histories[token]
    if (known !== undefined) return known
    const history = new BarHistory(this.width.name)
    setByToken(this.#histories, token, history)
    return history
  }

  #grow(token: TokenId): void {
    const grown = new Float64Array(Math.max(1024, 2 ** Math.ceil(Math.log2(token + 1))) * BAR_DOUBLES)
    grown.set(this.#open)
    this.#open = grown
  }
}

import { DAY, endOfDay, type Millis } from '../base/units.ts'
import { type Block, RowKind, type TokenId } from '../market/block.ts'
import type { Mints, TokenHolder } from '../market/mints.ts'
import { isSized } from '../market/price.ts'
import type { UnitSettings } from '../market/unit-proof.ts'
import { UnitProof } from '../market/unit-proof.ts'
import { type Reserves, reservesAt } from '../solana/pool-depth.ts'
import { EstimatedPools } from './estimated-pools.ts'

/** Upper bound of a plausible price, SOL per token; nothing is filled above it. */
const MAX_PRICE = 1_000
/** A print that differs from the robust price by this factor is noise until others confirm it. */
const NOISE_FACTOR = 2
/** Number of prints after which the robust price has followed a sale that emptied the pool, or a silence. */
const PRINTS_TO_FOLLOW = 3

/** Prices that an order could meet while it was under way: the first robust price, then the worst sized print.
 *  Outlying single prints do not count. */
export interface PricePath {
  readonly first: number
  low: number
  high: number
  /** Number of sized prints. */
  prints: number
}

/** The market as paper executors see it: robust price and pool of every token, and its price path while an order
 *  follows it. All executors of a process share one market. A row costs a few nanoseconds while no order follows its
 *  token. */
export class PaperMarket implements TokenHolder {
  readonly #mints: Mints
  readonly #proof: UnitProof
  readonly #pools = new EstimatedPools()
  readonly #paths = new Map<TokenId, PricePath[]>()
  /** Price after a sale that emptied the pool, or read from a quiet pool, and the number of prints for which it
   *  applies. */
  readonly #emptied = new Map<TokenId, { readonly price: number; prints: number }>()
  /** Prices of pools that were read since the token's last print. */
  readonly #read = new Map<TokenId, { readonly price: number; readonly at: Millis }>()
  /** 1 for each token that one of the maps above contains: a lookup in an array is faster than one in a map. */
  #watched = new Uint8Array(1024)
  readonly #keepers: ((mint: string) => boolean)[] = []
  #dayEnds: Millis = Number.NEGATIVE_INFINITY

  constructor(mints: Mints, units: UnitSettings) {
    this.#mints = mints
    this.#proof = new UnitProof(units)
  }

  /** Adds a predicate that is asked before a mint is forgotten. */
  addKeeper(isKept: (mint: string) => boolean): void {
    this.#keepers.push(isKept)
  }

  holds(token: TokenId): boolean {
    return this.#watched[token] === 1 || this.#pools.holds(token)
  }

  /** Adds rows. Each row must be added once, in order, and before an order that was decided on it is executed. */
  observe(block: Block, from: number, to: number): void {
    if (!this.#proof.proved) this.#prove(block, from, to)
    this.#makeRoom(block.mints.length)
    const { time } = block
    while ((time[to - 1] as number) >= this.#dayEnds) {
      let day = from
      while ((time[day] as number) < this.#dayEnds) day++
      this.#pools.fold(block, from, day, this.#watched, this.#attend)
      this.#nextDay(time[day] as number)
      from = day
    }
    this.#pools.fold(block, from, to, this.#watched, this.#attend)
  }

  /** Forgets tokens without prints in the present and the previous day. */
  #nextDay(now: Millis): void {
    this.#dayEnds = endOfDay(now)
    const since = this.#dayEnds - 2 * DAY
    this.#pools.drop(since, (token) => {
      if (this.#isNeeded(token)) return true
      this.#emptied.delete(token)
      this.#unwatch(token)
      return false
    })
    for (const [token, { at }] of this.#read) {
      if (at >= since || this.#isNeeded(token)) continue
      this.#read.delete(token)
      this.#unwatch(token)
    }
  }

  #isNeeded(token: TokenId): boolean {
    const mint = this.#mints.list[token] as string
    return this.#paths.has(token) || this.#keepers.some((isKept) => isKept(mint))
  }

  #prove({ kind, amount, size, price }: Block, from: number, to: number): void {
    for (let row = from; row < to && !this.#proof.proved; row++) {
      const sol = amount[row] as number
      const paid = sol / (size[row] as number)
      if ((kind[row] as number) <= RowKind.sell && isSized(sol, paid)) this.#proof.fold(paid, price[row] as number)
    }
  }

  /** Marks an interruption of the feed: nothing is filled at older prices. `keys` are subscription keys; `trades`
   *  covers all tokens. */
  interrupted(keys: readonly string[]): void {
    const tokens = keys.includes('trades')
      ? [...this.#emptied.keys()]
      : keys.flatMap((key) => this.#mints.find(key) ?? [])
    if (keys.includes('trades')) this.#pools.forgetAll()
    for (const token of tokens) {
      this.#pools.forget(token)
      this.#emptied.delete(token)
      this.#unwatch(token)
    }
  }

  /** A price read from the pool; it applies until the next print. */
  pooled(mint: string, price: number, at: Millis): void {
    if (price > MAX_PRICE) return
    // A token that was bought before this start may have no print since.
    const token = this.#mints.intern(mint)
    this.#read.set(token, { price, at })
    this.#emptied.delete(token)
    this.#makeRoom(token + 1)
    this.#watch(token)
    for (const path of this.#paths.get(token) ?? []) {
      path.low = Math.min(path.low, price)
      path.high = Math.max(path.high, price)
    }
  }

  /** Robust price, SOL per token; undefined if there is none. */
  price(mint: string): number | undefined {
    const token = this.#mints.find(mint)
    return token === undefined ? undefined : this.#priceOf(token)
  }

  /** Robust price, or the lower price that an emptied pool was left at or that was read from the pool. */
  salePrice(mint: string): number | undefined {
    const token = this.#mints.find(mint)
    const price = token === undefined ? undefined : this.#priceOf(token)
    if (token === undefined || price === undefined) return undefined
    return Math.min(price, this.#emptied.get(token)?.price ?? price)
  }

  /** Price for the valuation of a sale when there is no print since a gap: the last one before the gap. */
  markPrice(mint: string): number | undefined {
    const token = this.#mints.find(mint)
    return this.salePrice(mint) ?? (token === undefined ? undefined : this.#credible(this.#pools.lastPrice(token)))
  }

  /** The pool at `price` with the depth of the upper quartile, and the ratio of the quartiles; undefined if the depth
   *  is not estimated. */
  deeper(mint: string, price: number): { readonly reserves: Reserves; readonly spread: number } | undefined {
    const token = this.#mints.find(mint)
    const band = token === undefined ? undefined : this.#pools.band(token)
    return band && { reserves: reservesAt(price, band.high), spread: band.high / band.low }
  }

  /** The mint's pool at `price`. */
  reserves(mint: string, price: number): Reserves {
    const token = this.#mints.find(mint)
    return reservesAt(price, token === undefined ? undefined : this.#pools.product(token))
  }

  /** Whether the depth of the pool is known: always on the curve, else after some prints. */
  isDeep(mint: string): boolean {
    const token = this.#mints.find(mint)
    return token !== undefined && this.#pools.isMeasured(token)
  }

  /** Whether the token seems unsellable: for a minute many buys and no sale. */
  isTrap(mint: string, now: Millis): boolean {
    const token = this.#mints.find(mint)
    return token !== undefined && this.#pools.isTrap(token, now)
  }

  /** Time of the last sized print or pool reading; -Infinity if there is none. */
  printedAt(mint: string): Millis {
    const token = this.#mints.find(mint)
    if (token === undefined) return Number.NEGATIVE_INFINITY
    return this.#read.get(token)?.at ?? this.#pools.printedAt(token)
  }

  /** Follows the mint's price until `unfollow`; undefined if it has no price. */
  follow(mint: string): PricePath | undefined {
    const token = this.#mints.find(mint)
    const price = token === undefined ? undefined : this.#priceOf(token)
    if (token === undefined || price === undefined) return undefined
    const path: PricePath = { first: price, low: this.salePrice(mint) ?? price, high: price, prints: 0 }
    const paths = this.#paths.get(token)
    if (paths === undefined) this.#paths.set(token, [path])
    else paths.push(path)
    this.#watch(token)
    return path
  }

  unfollow(mint: string, path: PricePath): void {
    const token = this.#mints.find(mint)
    const paths = token === undefined ? undefined : this.#paths.get(token)
    if (token === undefined || paths === undefined) return
    const at = paths.indexOf(path)
    if (at >= 0) paths.splice(at, 1)
    if (paths.length > 0) return
    this.#paths.delete(token)
    this.#unwatch(token)
  }

  #priceOf(token: TokenId): number | undefined {
    return this.#read.get(token)?.price ?? this.#credible(this.#pools.price(token))
  }

  #credible(price: number | undefined): number | undefined {
    return this.#proof.proved && price !== undefined && price <= MAX_PRICE ? price : undefined
  }

  readonly #attend = (token: TokenId, print: number, sol: number, side: number): void => {
    if (this.#watched[token] === 1) this.#followed(token, print)
    if (side === RowKind.sell) this.#sold(token, print, sol)
  }

  #followed(token: TokenId, print: number): void {
    const read = this.#read.get(token)
    if (read !== undefined) {
      this.#read.delete(token)
      // The robust price still dates from before the silence.
      this.#emptied.set(token, { price: read.price, prints: PRINTS_TO_FOLLOW })
    }
    const emptied = this.#emptied.get(token)
    if (emptied !== undefined && --emptied.prints === 0) {
      this.#emptied.delete(token)
      this.#unwatch(token)
    }
    const paths = this.#paths.get(token)
    const price = paths === undefined ? undefined : this.#priceOf(token)
    if (paths === undefined || price === undefined) return
    const isNoise = print > price * NOISE_FACTOR || print * NOISE_FACTOR < price
    for (const path of paths) {
      path.prints++
      path.low = Math.min(path.low, price, isNoise ? price : print)
      path.high = Math.max(path.high, price, isNoise ? price : print)
    }
  }

  /** A sale that takes half of a pool or more is not noise: the price after it applies before another print confirms
   *  it. */
  #sold(token: TokenId, price: number, sol: number): void {
    const left = this.#pools.leftBehind(token, price, sol)
    if (left === undefined) return
    this.#emptied.set(token, { price: left, prints: PRINTS_TO_FOLLOW })
    this.#watch(token)
    for (const path of this.#paths.get(token) ?? []) path.low = Math.min(path.low, left)
  }

  #watch(token: TokenId): void {
    this.#watched[token] = 1
  }

  #makeRoom(tokens: number): void {
    if (tokens <= this.#watched.length) return
    const grown = new Uint8Array(2 ** Math.ceil(Math.log2(tokens)))
    grown.set(this.#watched)
    this.#watched = grown
  }

  #unwatch(token: TokenId): void {
    if (!this.#paths.has(token) && !this.#emptied.has(token) && !this.#read.has(token)) this.#watched[token] = 0
  }
}

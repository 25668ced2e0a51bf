import { DAY, endOfDay, type Millis } from '../base/units.ts'
import type { FillModel } from '../engine/accounting/fill-assumptions.ts'
import { type Block, RowKind, type TokenId } from '../market/block.ts'
import type { Mints, TokenHolder } from '../market/mints.ts'
import { isSized } from '../market/price.ts'
import type { UnitSettings } from '../market/unit-proof.ts'
import { UnitProof } from '../market/unit-proof.ts'
import { type Reserves, reservesAt } from '../solana/pool-depth.ts'
import { EstimatedPools } from './estimated-pools.ts'
import { PricePath } from './price-path.ts'

/** Constant product of a pool that is so large that no order changes a relevant digit of its price. An example is an
 *  order of 1e5 SOL in a pool of 1e12 SOL. */
const NO_IMPACT_PRODUCT = 1e40
/** Highest plausible price, SOL per token. No order is filled at a higher price. */
const MAX_PRICE = 1_000
type PoolModel = Pick<FillModel, 'impact' | 'noisePercent'>

/** Lowest price that a token's pool may have after the token's last trade, and the values from which this price was
 *  computed. */
interface Left {
  readonly prints: number
  readonly product: number
  readonly isExact: boolean
  readonly model: PoolModel
  readonly low: number
}

/** The market from which paper executors fill orders: the robust price and the pool of every token, and the price path
 *  of a token while an order follows it. All executors of a process share one market. A row costs a few nanoseconds
 *  unless an order follows its token. */
export class PaperMarket implements TokenHolder {
  readonly #mints: Mints
  readonly #proof: UnitProof
  readonly #pools = new EstimatedPools()
  readonly #paths = new Map<TokenId, PricePath[]>()
  /** For each pool, the last price that was read from it, and the number of prints that the token had at that time. */
  readonly #read = new Map<TokenId, { readonly price: number; readonly at: Millis; readonly prints: number }>()
  /** Cached results of `#leftBy`. A gap or a reading of the token's pool removes the entry of the token. */
  readonly #left = new Map<TokenId, Left>()
  /** For each token, 1 while an order follows it. A lookup in this array is faster than one in a map. */
  #watched = new Uint8Array(1024)
  readonly #keepers: ((mint: string) => boolean)[] = []
  #dayEnds: Millis = Number.NEGATIVE_INFINITY

  constructor(mints: Mints, units: UnitSettings) {
    this.#mints = mints
    this.#proof = new UnitProof(units)
  }

  /** Adds a function that is called before a mint is forgotten. The mint is kept if the function returns true. */
  addKeeper(isKept: (mint: string) => boolean): void {
    this.#keepers.push(isKept)
  }

  holds(token: TokenId): boolean {
    return this.#paths.has(token) || this.#read.has(token) || this.#pools.holds(token)
  }

  /** Adds rows. Each row must be added once, in order, and before the execution of an order that was decided on it. */
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

  /** Forgets the tokens that have no print in the present and the previous day. */
  #nextDay(now: Millis): void {
    this.#dayEnds = endOfDay(now)
    this.#left.clear()
    const since = this.#dayEnds - 2 * DAY
    for (const [token, { at }] of this.#read) if (at < since && !this.#isNeeded(token)) this.#read.delete(token)
    this.#pools.drop(since, (token) => this.#read.has(token) || this.#isNeeded(token))
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

  /** Marks an interruption of the feed, so that no order is filled at a price from before it. `keys` are subscription
   *  keys; `trades` covers all tokens. */
  interrupted(keys: readonly string[]): void {
    this.#left.clear()
    if (keys.includes('trades')) this.#pools.forgetAll()
    else for (const key of keys) this.#forget(this.#mints.find(key))
  }

  #forget(token: TokenId | undefined): void {
    if (token !== undefined) this.#pools.forget(token)
  }

  /** Adds a price that was read from the pool. It applies until the token's next print. */
  pooled(mint: string, price: number, at: Millis): void {
    if (price > MAX_PRICE) return
    // A token that was bought before this start may have had no print since, so its mint may not be interned yet.
    const token = this.#mints.intern(mint)
    this.#read.set(token, { price, at, prints: this.#pools.count(token) })
    this.#left.delete(token)
    this.#makeRoom(token + 1)
    for (const path of this.#paths.get(token) ?? []) path.settle(price, price)
  }

  /** Returns the robust price, SOL per token; undefined if there is none. */
  price(mint: string): number | undefined {
    const token = this.#mints.find(mint)
    return token === undefined ? undefined : this.#priceOf(token)
  }

  /** Returns the lower one of two prices: the robust price, and the lowest price that the pool may have after the last
   *  trade. Returns undefined if there is no robust price. */
  salePrice(mint: string, model: PoolModel): number | undefined {
    const token = this.#mints.find(mint)
    const price = token === undefined ? undefined : this.#priceOf(token)
    if (token === undefined || price === undefined) return undefined
    return Math.min(price, this.#leftBy(token, model))
  }

  /** Returns the lowest price that the token's pool may have after its last trade. The result is kept until the next
   *  print of the token. */
  #leftBy(token: TokenId, model: PoolModel): number {
    const prints = this.#pools.count(token)
    const product = this.#pools.product(token)
    const isExact = this.#pools.isOnCurve(token)
    const known = this.#left.get(token)
    if (known?.prints === prints && known.product === product && known.isExact === isExact && known.model === model)
      return known.low
    const { low } = this.#pathOf(token, model).first
    this.#left.set(token, { prints, product, isExact, model, low })
    return low
  }

  /** Returns the price at which a sale is valued. If there was no print since a gap, this is the last price before the
   *  gap. undefined if there is no price at all. */
  markPrice(mint: string, model: PoolModel): number | undefined {
    const token = this.#mints.find(mint)
    return (
      this.salePrice(mint, model) ?? (token === undefined ? undefined : this.#credible(this.#pools.lastPrice(token)))
    )
  }

  /** Returns the pool at `price` with the upper quartile of its estimated depth. `spread`: the upper quartile divided
   *  by the lower quartile. Returns undefined if the depth is not estimated. */
  deeper(mint: string, price: number): { readonly reserves: Reserves; readonly spread: number } | undefined {
    const token = this.#mints.find(mint)
    const band = token === undefined ? undefined : this.#pools.band(token)
    return band && { reserves: reservesAt(price, band.high), spread: band.high / band.low }
  }

  /** Returns the mint's pool at `price`. */
  reserves(mint: string, price: number, { impact }: PoolModel): Reserves {
    const token = this.#mints.find(mint)
    if (impact === 'none') return reservesAt(price, NO_IMPACT_PRODUCT)
    return reservesAt(price, token === undefined ? undefined : this.#pools.product(token))
  }

  /** Whether the depth of the pool is known. On the curve this is always true; in a pool, after some prints. */
  isDeep(mint: string): boolean {
    const token = this.#mints.find(mint)
    return token !== undefined && this.#pools.isMeasured(token)
  }

  /** Whether the token seems unsellable, because it has many buys and too few sales. */
  isTrap(mint: string, { honeypot }: Pick<FillModel, 'honeypot'>): boolean {
    const token = this.#mints.find(mint)
    return token !== undefined && this.#pools.isTrap(token, honeypot)
  }

  /** Returns the SOL that was traded in the token. */
  volume(mint: string): number {
    const token = this.#mints.find(mint)
    return token === undefined ? 0 : this.#pools.volume(token)
  }

  /** Returns the time of the last print above the minimum size, or of the last reading of the pool; -Infinity if there
   *  is none. */
  printedAt(mint: string): Millis {
    const token = this.#mints.find(mint)
    if (token === undefined) return Number.NEGATIVE_INFINITY
    return Math.max(this.#read.get(token)?.at ?? Number.NEGATIVE_INFINITY, this.#pools.printedAt(token))
  }

  /** Starts to follow the mint's price, until `unfollow`. Returns undefined if the mint has no price. */
  follow(mint: string, model: PoolModel): PricePath | undefined {
    const token = this.#mints.find(mint)
    const price = token === undefined ? undefined : this.#priceOf(token)
    if (token === undefined || price === undefined) return undefined
    const path = this.#pathOf(token, model)
    const paths = this.#paths.get(token)
    if (paths === undefined) this.#paths.set(token, [path])
    else paths.push(path)
    this.#watched[token] = 1
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
    this.#watched[token] = 0
  }

  /** Returns the price of the token. A price read from the pool takes precedence until the next print. undefined if
   *  there is none. */
  #priceOf(token: TokenId): number | undefined {
    const read = this.#read.get(token)
    return read !== undefined && read.prints === this.#pools.count(token)
      ? read.price
      : this.#credible(this.#pools.price(token))
  }

  #credible(price: number | undefined): number | undefined {
    return this.#proof.proved && price !== undefined && price <= MAX_PRICE ? price : undefined
  }

  /** Returns a price path that begins now. */
  #pathOf(token: TokenId, { impact, noisePercent }: PoolModel): PricePath {
    const count = this.#pools.count(token)
    const isFree = impact === 'none'
    const path = new PricePath({
      product: isFree ? NO_IMPACT_PRODUCT : this.#pools.product(token),
      isExact: isFree || this.#pools.isOnCurve(token),
      explained: 1 + noisePercent / 100,
    })
    const read = this.#read.get(token)
    if (read === undefined) this.#pools.retrace(token, path, 0, count)
    else {
      path.settle(read.price, read.price)
      this.#pools.retrace(token, path, read.prints, count)
    }
    path.begin()
    return path
  }

  readonly #attend = (token: TokenId, price: number, net: number): void => {
    for (const path of this.#paths.get(token) ?? []) path.print(price, net)
  }

  #makeRoom(tokens: number): void {
    if (tokens <= this.#watched.length) return
    const grown = new Uint8Array(2 ** Math.ceil(Math.log2(tokens)))
    grown.set(this.#watched)
    this.#watched = grown
  }
}

import { type Block, RowKind, type TokenId } from '../core/block.ts'
import type { UnitSettings } from '../core/messages.ts'
import type { Mints } from '../core/mints.ts'
import { Prices } from '../core/price.ts'
import type { Millis } from '../core/units.ts'

/** Beyond any pool's depth, SOL a token: what claims it is no price to fill at. */
const MOST_PRICE = 1_000
const NEVER: Millis = Number.NEGATIVE_INFINITY

/** The robust prices between two moments: what an order could meet while it was under way. */
export interface PricePath {
  readonly first: number
  low: number
  high: number
}

/** The market as paper executors see it: the robust price of every token, and its path while somebody follows it. One for all executors
 *  of a process. It costs a few nanoseconds a row while nobody does. */
export class PaperMarket {
  readonly #mints: Mints
  readonly #prices: Prices
  readonly #paths = new Map<TokenId, Set<PricePath>>()
  /** 1 while the token is in `#paths`: an array is looked up faster for every row than a map. */
  #followed = new Uint8Array(1024)
  /** When a token was last printed with a size that counts. */
  #printedAt = new Float64Array(1024).fill(NEVER)

  constructor(mints: Mints, units: UnitSettings) {
    this.#mints = mints
    this.#prices = new Prices(units)
  }

  /** Folds rows in: each once, in order, and before an order that was decided on them is executed. */
  observe(block: Block, from: number, to: number): void {
    const { kind, token: tokens, time } = block
    for (let row = from; row < to; row++) {
      if ((kind[row] as number) > RowKind.sell) continue
      const token = tokens[row] as number
      if (!this.#prices.fold(block, row, token)) continue
      if (token >= this.#printedAt.length) this.#grow(token)
      this.#printedAt[token] = time[row] as number
      if (this.#followed[token] === 1) this.#widen(token)
    }
  }

  /** The robust price, SOL a token; undefined where there is none. */
  price(mint: string): number | undefined {
    const token = this.#mints.find(mint)
    return token === undefined ? undefined : this.#priceOf(token)
  }

  /** When the mint was last printed with a size that counts; -Infinity where it never was. */
  printedAt(mint: string): Millis {
    const token = this.#mints.find(mint)
    return token === undefined ? NEVER : (this.#printedAt[token] ?? NEVER)
  }

  /** The path of the mint's price from now until `unfollow`; undefined while it has no price. */
  follow(mint: string): PricePath | undefined {
    const token = this.#mints.find(mint)
    const price = token === undefined ? undefined : this.#priceOf(token)
    if (token === undefined || price === undefined) return undefined
    const path: PricePath = { first: price, low: price, high: price }
    const paths = this.#paths.get(token)
    if (paths === undefined) this.#paths.set(token, new Set([path]))
    else paths.add(path)
    this.#followed[token] = 1
    return path
  }

  unfollow(mint: string, path: PricePath): void {
    const token = this.#mints.find(mint)
    const paths = token === undefined ? undefined : this.#paths.get(token)
    if (token === undefined || paths === undefined) return
    paths.delete(path)
    if (paths.size > 0) return
    this.#paths.delete(token)
    this.#followed[token] = 0
  }

  #priceOf(token: TokenId): number | undefined {
    const price = this.#prices.at(token)
    return price !== undefined && price <= MOST_PRICE ? price : undefined
  }

  #widen(token: TokenId): void {
    const price = this.#priceOf(token)
    if (price === undefined) return
    for (const path of this.#paths.get(token) ?? []) {
      if (price < path.low) path.low = price
      if (price > path.high) path.high = price
    }
  }

  #grow(token: TokenId): void {
    const size = 2 ** Math.ceil(Math.log2(token + 2))
    const followed = new Uint8Array(size)
    followed.set(this.#followed)
    this.#followed = followed
    const printedAt = new Float64Array(size).fill(NEVER)
    printedAt.set(this.#printedAt)
    this.#printedAt = printedAt
  }
}

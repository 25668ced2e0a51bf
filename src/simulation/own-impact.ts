import type { FillModel } from '../engine/accounting/fill-assumptions.ts'
import type { Reserves } from '../solana/pool-depth.ts'

/** Largest number of tokens whose impact is remembered. */
const MOST_TOKENS = 1_000

/** Amounts by which the orders of an account have moved the pool of a token. */
interface Moved {
  /** SOL that the account's buys put into the pool, less the SOL that its sales took out; at least 0. */
  bought: number
  /** Tokens that the account's sales put into the pool, less the tokens that its buys took out; at least 0. */
  sold: number
  /** Traded volume of the token at the account's last order, SOL. */
  volume: number
  depth: number
}

/** The impact of an account's own earlier orders on its later orders. The tape does not contain the earlier orders, so
 *  its prices do not show their impact. The impact only makes prices worse for the account: earlier buys raise the
 *  price of a buy, and earlier sales lower the price of a sale, as if all were one order. A sale reduces the impact of
 *  earlier buys, and a buy reduces the impact of earlier sales. The impact halves each time that other traders have
 *  traded `halvesAfterPools` times the SOL in the pool. */
export class OwnImpact {
  readonly #moved = new Map<string, Moved>()
  readonly #halvesAfterPools: number

  constructor({ impactHalvesAfterPools }: Pick<FillModel, 'impactHalvesAfterPools'>) {
    this.#halvesAfterPools = impactHalvesAfterPools
  }

  /** Returns the pool as the account's next order on this side finds it: `pool`, moved by the account's earlier orders.
   *  `volume`: SOL that other traders have traded in the token so far. */
  on(side: 'buy' | 'sell', mint: string, volume: number, pool: Reserves): Reserves {
    const moved = this.#moved.get(mint)
    if (moved === undefined) return pool
    const product = pool.sol * pool.tokens
    if (side === 'buy') {
      const sol = pool.sol + moved.bought * this.#left(moved, volume)
      return { sol, tokens: product / sol }
    }
    const tokens = pool.tokens + moved.sold * this.#left(moved, volume)
    return { sol: product / tokens, tokens }
  }

  /** Adds an order of an earlier process. `traded`: the amounts that the order moved, without fees. `product`: the
   *  constant product of the pool. The depth of the pool is computed from `traded` and `product`. */
  recall(side: 'buy' | 'sell', mint: string, volume: number, traded: Reserves, product: number): void {
    const moved = this.#moved.get(mint)
    const left = moved === undefined ? 0 : this.#left(moved, volume)
    const { sol, tokens } = traded
    const met = side === 'buy' ? sideOf(sol, tokens, product) : sideOf(tokens, sol, product)
    const own = met - left * (side === 'buy' ? (moved?.bought ?? 0) : (moved?.sold ?? 0))
    const depth = side === 'buy' ? own : product / own
    // If fewer prints are known now than at the time of the fill, the product may be wrong and the depth implausible.
    this.add(side, mint, volume, traded, depth > 0 && depth < Number.POSITIVE_INFINITY ? depth : Math.sqrt(product))
  }

  /** Prepares the volumes that are stored with earlier orders for a new market, whose volumes start at 0: subtracts the
   *  volume of the previous market. `volumeOf` returns the volume of a mint in the previous market. */
  restartVolumes(volumeOf: (mint: string) => number): void {
    for (const [mint, moved] of this.#moved) moved.volume -= volumeOf(mint)
  }

  /** Adds an order that moved these amounts, which exclude fees. `depth`: SOL in the pool before the order. */
  add(side: 'buy' | 'sell', mint: string, volume: number, { sol, tokens }: Reserves, depth: number): void {
    const before = this.#moved.get(mint)
    const left = before === undefined ? 0 : this.#left(before, volume)
    const sign = side === 'buy' ? 1 : -1
    const bought = Math.max(0, (before?.bought ?? 0) * left + sign * sol)
    const sold = Math.max(0, (before?.sold ?? 0) * left - sign * tokens)
    this.#moved.delete(mint)
    this.#moved.set(mint, { bought, sold, volume, depth })
    if (this.#moved.size > MOST_TOKENS) this.#moved.delete(this.#moved.keys().next().value as string)
  }

  /** Returns the share of an impact that remains after the volume that others have traded since. If the market has
   *  forgotten the token, its volume restarts at 0, and the whole impact remains. */
  #left(moved: Moved, volume: number): number {
    return 2 ** -(Math.max(0, volume - moved.volume) / (moved.depth * this.#halvesAfterPools))
  }
}

/** Returns one reserve of a pool before a trade that put `paid` into this reserve and took `got` out of the other
 *  reserve. */
function sideOf(paid: number, got: number, product: number): number {
  return (Math.sqrt(paid * paid + (4 * paid * product) / got) - paid) / 2
}

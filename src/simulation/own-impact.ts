import type { FillModel } from '../engine/accounting/fill-assumptions.ts'
import type { Reserves } from '../solana/pool-depth.ts'

/** Number of tokens whose impact is remembered. */
const MOST_TOKENS = 1_000

/** What an account's own orders have moved in a token's pool. */
interface Moved {
  /** SOL that its buys put in, less what its sales took out; at least 0. */
  bought: number
  /** Tokens that its sales put in, less what its buys took out; at least 0. */
  sold: number
  /** Volume of the token, and SOL in its pool, at the last order. */
  volume: number
  depth: number
}

/** An account's own impact, as its next orders meet it: the tape does not contain these orders, so its prices do not
 *  show them. An impact counts only against the account: earlier buys raise the price of a buy, earlier sales lower
 *  the price of a sale, as if the parts were one order, and an order of the other side takes it back. It halves each
 *  time that the others have traded `halvesAfterPools` times the SOL of the pool. */
export class OwnImpact {
  readonly #moved = new Map<string, Moved>()
  readonly #halvesAfterPools: number

  constructor({ impactHalvesAfterPools }: Pick<FillModel, 'impactHalvesAfterPools'>) {
    this.#halvesAfterPools = impactHalvesAfterPools
  }

  /** `pool` as an order of this side meets it. `volume`: SOL that the others have traded in the token so far. */
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

  /** Adds an order that moved these amounts, without fees. `depth`: SOL in the pool before it. */
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

  /** Share of an impact that is left. A token that was forgotten starts again at no volume. */
  #left(moved: Moved, volume: number): number {
    return 2 ** -(Math.max(0, volume - moved.volume) / (moved.depth * this.#halvesAfterPools))
  }
}

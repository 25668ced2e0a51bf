import {
  LAMPORTS_PER_SOL,
  type Lamports,
  solToLamports,
  type TokenAmount,
  wholeTokens,
  ZERO,
} from '../../base/units.ts'
import { CURVE_PRODUCT, GRADUATION_PRICE, POOL_PRODUCT, reservesAt, solFor } from '../../solana/pool-depth.ts'
import type { EngineState } from '../engine-state.ts'
import type { ExitWatch } from '../exits/exit-watch.ts'
import { isUnsellable, type Position } from './position.ts'

/** A token that nobody printed with a size that counts for so long, and whose pool nobody read, is taken for dead. */
export const DEAD_AFTER_MS = 600_000

/** Beyond any pool's depth: a print that claims more is a broken one. So is a sum of them that claims more. */
export const MOST_VALUE = solToLamports(1e6)

/** So many base units at `price`, impact and fees aside; undefined where no price can make them worth so much. */
export function valueAt(price: number, tokens: TokenAmount, decimals: number): Lamports | undefined {
  const sol = price * wholeTokens(tokens, decimals)
  return sol * LAMPORTS_PER_SOL <= MOST_VALUE ? solToLamports(sol) : undefined
}

/** What selling all of a position at `price` would bring, SOL: impact and the venue's fee taken off, the network's not;
 *  nothing where tries to sell it have failed; undefined without a price. */
export function liquidationSol(position: Position, price: number | undefined): number | undefined {
  if (position.tokens === 0n || isUnsellable(position)) return 0
  if (price === undefined) return undefined
  const hasGraduated = Math.max(price, position.highPrice) >= GRADUATION_PRICE
  const reserves = reservesAt(price, hasGraduated ? POOL_PRODUCT : CURVE_PRODUCT)
  return solFor(wholeTokens(position.tokens, position.decimals), reserves)
}

/** What limits take positions to be worth. */
export class Liquidation {
  readonly #state: EngineState
  readonly #watch: ExitWatch

  constructor(state: EngineState, watch: ExitWatch) {
    this.#state = state
    this.#watch = watch
  }

  /** What selling all of it now would bring; nothing for a token that is dead; undefined where nobody can know, for
   *  there is no price yet, or not again since a gap. */
  of(position: Position): Lamports | undefined {
    const isQuiet = this.#state.now - this.#watch.printedAt(position) > DEAD_AFTER_MS
    return isQuiet && this.#watch.poolPriceOf(position) === undefined ? ZERO : this.atLastPrice(position)
  }

  /** The same, though nobody may have printed it for long. What was read of its pool since it was is newer. */
  atLastPrice(position: Position): Lamports | undefined {
    const price = this.#watch.poolPriceOf(position) ?? this.#state.price(position.mint)
    const sol = liquidationSol(position, price)
    return sol === undefined ? undefined : solToLamports(Math.min(sol, MOST_VALUE / LAMPORTS_PER_SOL))
  }

  /** SOL that is at risk in it: what it cost, or what it has become worth where that is more. */
  atRisk(position: Position): Lamports {
    const value = this.atLastPrice(position) ?? ZERO
    return value > position.costLamports ? value : position.costLamports
  }
}

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

/** A token counts as dead after this time without a sized print and without a reading of its pool. */
export const DEAD_AFTER_MS = 600_000

/** Upper bound of a value, above the depth of every pool. A higher value comes from a broken print, so values and their
 *  sums are capped here. */
export const MOST_VALUE = solToLamports(1e6)

/** Returns the value of base units at `price` (SOL per token), without impact and fees; undefined if the value is
 *  implausible. */
export function valueAt(price: number, tokens: TokenAmount, decimals: number): Lamports | undefined {
  const sol = price * wholeTokens(tokens, decimals)
  return sol * LAMPORTS_PER_SOL <= MOST_VALUE ? solToLamports(sol) : undefined
}

/** Returns the proceeds in SOL of selling a whole position at `price`, after price impact and venue fee, before network
 *  fees. 0 if sales of the position failed; undefined without a price. */
export function liquidationSol(position: Position, price: number | undefined): number | undefined {
  if (position.tokens === 0n || isUnsellable(position)) return 0
  if (price === undefined) return undefined
  const hasGraduated = Math.max(price, position.highPrice) >= GRADUATION_PRICE
  const reserves = reservesAt(price, hasGraduated ? POOL_PRODUCT : CURVE_PRODUCT)
  return solFor(wholeTokens(position.tokens, position.decimals), reserves)
}

/** Values of positions for the limits. */
export class Liquidation {
  readonly #state: EngineState
  readonly #watch: ExitWatch

  constructor(state: EngineState, watch: ExitWatch) {
    this.#state = state
    this.#watch = watch
  }

  /** Returns the proceeds of selling a position now: 0 for a dead token, undefined if there is no price or none since a
   *  gap. */
  of(position: Position): Lamports | undefined {
    const isQuiet = this.#state.now - this.#watch.printedAt(position) > DEAD_AFTER_MS
    return isQuiet && this.#watch.poolPriceOf(position) === undefined ? ZERO : this.atLastPrice(position)
  }

  /** Returns the proceeds at the last known price, regardless of its age. A reading of the pool is used first, because
   *  it is newer than the last print. */
  atLastPrice(position: Position): Lamports | undefined {
    const price = this.#watch.poolPriceOf(position) ?? this.#state.price(position.mint)
    const sol = liquidationSol(position, price)
    return sol === undefined ? undefined : solToLamports(Math.min(sol, MOST_VALUE / LAMPORTS_PER_SOL))
  }

  /** Returns the lamports at risk in a position: the higher of its cost and its value. */
  atRisk(position: Position): Lamports {
    const value = this.atLastPrice(position) ?? ZERO
    return value > position.costLamports ? value : position.costLamports
  }
}

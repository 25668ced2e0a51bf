import {
  LAMPORTS_PER_SOL,
  type Lamports,
  lamportsToSol,
  solToLamports,
  type TokenAmount,
  wholeTokens,
  ZERO,
} from '../../base/units.ts'
import { CURVE_PRODUCT, hasLeftCurve, POOL_PRODUCT, reservesAt, solFor, VENUE_FEE } from '../../solana/pool-depth.ts'
import type { EngineState } from '../engine-state.ts'
import type { ExitWatch, Held } from '../exits/exit-watch.ts'
import type { QuoteFees } from '../settings.ts'
import { isUnsellable, type Position } from './position.ts'

/** A token counts as dead after this time without a print above the minimum size and without a reading of its pool. */
export const DEAD_AFTER_MS = 600_000

/** Largest value that Sluice assigns to a position; it exceeds the SOL of every pool. A higher computed value comes
 *  from a wrong print. Values and sums of values are therefore capped at this value. */
export const MOST_VALUE = solToLamports(1e6)

/** Returns the value of base units at `price` (SOL per token), without impact and fees; undefined if the value is
 *  implausible. */
export function valueAt(price: number, tokens: TokenAmount, decimals: number): Lamports | undefined {
  const sol = price * wholeTokens(tokens, decimals)
  return sol * LAMPORTS_PER_SOL <= MOST_VALUE ? solToLamports(sol) : undefined
}

/** Returns the proceeds in SOL of selling a whole position at `price`, after price impact and the fees of venue and
 *  service, before network fees. 0 if the position counts as unsellable, because its sales failed; undefined without a
 *  price. */
export function liquidationSol(
  position: Position,
  price: number | undefined,
  fees?: Pick<QuoteFees, 'venuePercent' | 'servicePercent'>,
): number | undefined {
  if (position.tokens === 0n || isUnsellable(position)) return 0
  if (price === undefined) return undefined
  const reserves = reservesAt(price, hasLeftCurve(price, position.highPrice) ? POOL_PRODUCT : CURVE_PRODUCT)
  const tokens = wholeTokens(position.tokens, position.decimals)
  if (fees === undefined) return solFor(tokens, reserves, VENUE_FEE)
  return solFor(tokens, reserves, fees.venuePercent / 100) * (1 - fees.servicePercent / 100)
}

/** Values of positions, for limits and strategies. */
export class Liquidation {
  readonly #state: EngineState
  readonly #watch: ExitWatch
  readonly #feesOf: (position: Position) => QuoteFees | undefined

  /** `feesOf`: returns the fees of a sale of a position. */
  constructor(state: EngineState, watch: ExitWatch, feesOf: (position: Position) => QuoteFees | undefined) {
    this.#state = state
    this.#watch = watch
    this.#feesOf = feesOf
  }

  /** Returns the proceeds of selling a position now. Returns 0 if the token has had no print for `DEAD_AFTER_MS` and no
   *  recent reading of its pool. Returns undefined if the feed has given no price yet, or none since its last gap. */
  of(position: Position): Lamports | undefined {
    const held = this.#watch.find(position)
    if (held !== undefined && this.#state.now - held.printedAt > DEAD_AFTER_MS && this.#poolPriceOf(held) === undefined)
      return ZERO
    return this.#worth(position, held)
  }

  /** Returns the proceeds at the last known price, regardless of its age. A reading of the pool is used first, because
   *  it is newer than the last print. */
  atLastPrice(position: Position): Lamports | undefined {
    return this.#worth(position, this.#watch.find(position))
  }

  #worth(position: Position, held: Held | undefined): Lamports | undefined {
    if (held === undefined) return this.at(position, this.#state.price(position.mint))
    const price = this.#poolPriceOf(held) ?? this.#lowerPrice(held)
    return price === undefined ? this.at(position, undefined) : held.worth.at(position, price, this.#valueAt)
  }

  #poolPriceOf({ pool }: Held): number | undefined {
    return pool?.at(this.#state.now)
  }

  /** Returns the value that strategies see, SOL: the proceeds at the last known price. Older journals used the robust
   *  price, without a reading of the pool. */
  shownSol(position: Position): number | undefined {
    if (!this.#state.hasMarks) return liquidationSol(position, this.#state.price(position.mint))
    const value = this.atLastPrice(position)
    return value === undefined ? undefined : lamportsToSol(value)
  }

  /** Returns the proceeds at `price`, SOL per token. */
  at(position: Position, price: number | undefined): Lamports | undefined {
    const sol = liquidationSol(position, price, this.#state.hasMarks ? this.#feesOf(position) : undefined)
    return sol === undefined ? undefined : solToLamports(Math.min(sol, MOST_VALUE / LAMPORTS_PER_SOL))
  }

  readonly #valueAt = (position: Position, price: number): Lamports | undefined => this.at(position, price)

  /** Returns the lower of the robust price and the exit price. A few wrong prints of routed trades can lift the robust
   *  price, so a rise counts only when the slower exit price has followed. A fall counts immediately. */
  #lowerPrice({ token, price: ofExits }: Held): number | undefined {
    const price = this.#state.prices.at(token)
    if (price === undefined || Number.isNaN(ofExits) || !this.#state.hasMarks) return price
    return Math.min(price, ofExits)
  }

  /** Returns the lamports at risk in a position: the higher of its cost and its value. */
  atRisk(position: Position): Lamports {
    const value = this.atLastPrice(position) ?? ZERO
    return value > position.costLamports ? value : position.costLamports
  }
}

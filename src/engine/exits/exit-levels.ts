import type { Lamports, Millis } from '../../base/units.ts'
import type { Owner } from '../accounting/by-mint.ts'
import type { Position } from '../accounting/position.ts'
import { type ExitRules, flattenSeconds, isAbove, priceAbove, targetAt } from './exit-settings.ts'

// These functions return the price or the time at which each exit acts. `exit-rules.ts` uses them for its decisions,
// and views show their results. If a position has no such exit, or if the exit is not active yet, the price is NaN,
// because every comparison with NaN is false.

export function stopPriceLevel({ stopPrice = Number.NaN }: ExitRules): number {
  return stopPrice
}

export function stopLossLevel({ stopLossPercent }: ExitRules, averagePrice: number): number {
  return stopLossPercent === undefined ? Number.NaN : averagePrice * (1 - stopLossPercent / 100)
}

export function trailingLevel(
  { trailingPercent, trailingArmPercent = 0 }: ExitRules,
  averagePrice: number,
  highPrice: number,
): number {
  return trailingPercent !== undefined && isAbove(highPrice, averagePrice, trailingArmPercent)
    ? highPrice * (1 - trailingPercent / 100)
    : Number.NaN
}

export function breakEvenLevel({ breakEvenAtPercent }: ExitRules, averagePrice: number, highPrice: number): number {
  return breakEvenAtPercent !== undefined && isAbove(highPrice, averagePrice, breakEvenAtPercent)
    ? averagePrice
    : Number.NaN
}

/** Tokens that cost nothing have a profit at any price, so their profit is no reason to sell them. */
export function takeProfitLevel({ takeProfitPercent }: ExitRules, averagePrice: number): number {
  return takeProfitPercent !== undefined && averagePrice > 0 ? priceAbove(averagePrice, takeProfitPercent) : Number.NaN
}

export function takeProfitByAgeLevel({ takeProfitByAge }: ExitRules, averagePrice: number, ageMs: Millis): number {
  const target = takeProfitByAge === undefined ? undefined : targetAt(takeProfitByAge, ageMs)
  return target !== undefined && averagePrice > 0 ? priceAbove(averagePrice, target) : Number.NaN
}

export function takeProfitPriceLevel({ takeProfitPrice = Number.NaN }: ExitRules): number {
  return takeProfitPrice
}

/** Time at which a position is sold because of its age; undefined if it has no such exit. */
export function holdEnds({
  openedAt,
  exits: { maxHoldSeconds },
}: Pick<Position, 'openedAt' | 'exits'>): Millis | undefined {
  return maxHoldSeconds === undefined ? undefined : openedAt + millis(maxHoldSeconds)
}

/** Time at which a position counts as idle if its token has no further print; Infinity without such an exit. */
export function idleEnds(printedAt: Millis, { idleSeconds = Number.POSITIVE_INFINITY }: ExitRules): Millis {
  return printedAt + millis(idleSeconds)
}

/** Time at which a position is sold if its token has no further price; Infinity without such an exit. */
export function staleEnds(pricedAt: Millis, exits: ExitRules): Millis {
  return pricedAt + millis(flattenSeconds(exits) ?? Number.POSITIVE_INFINITY)
}

export function millis(seconds: number): Millis {
  return Math.round(seconds * 1000)
}

/** The prices and times that the engine has seen for the token of a position. */
export interface PositionReading {
  /** Proceeds of selling the position at its last known price; undefined without a price. */
  readonly lamports: Lamports | undefined
  /** Price of the exits, SOL per token; undefined before the first print. */
  readonly price: number | undefined
  readonly highPrice: number
  /** `printedAt`: time of the last print above the minimum size. `pricedAt`: time of the last print that updated the
   *  price of the exits. */
  readonly printedAt: Millis
  readonly pricedAt: Millis
}

export interface OwnedReading extends PositionReading, Owner {}

/** An exit, and the price or the time at which it acts. */
export interface ExitLevel {
  /** Key of the exit in `ExitRules`. */
  readonly kind: keyof ExitRules
  readonly price?: number
  readonly at?: Millis
}

/** Returns the exits of a position that can act, in the order in which they decide. A position that is being sold has
 *  none. */
export function exitLevels(
  position: Pick<Position, 'exits' | 'averagePrice' | 'openedAt' | 'steps' | 'tokens' | 'exiting'>,
  { highPrice, printedAt, pricedAt }: Pick<PositionReading, 'highPrice' | 'printedAt' | 'pricedAt'>,
  now: Millis,
): ExitLevel[] {
  const { exits, averagePrice, openedAt, steps, tokens, exiting } = position
  if (tokens === 0n || exiting !== '') return []
  const levels: ExitLevel[] = []
  const at = (kind: keyof ExitRules, price: number): void => {
    if (!Number.isNaN(price)) levels.push({ kind, price })
  }
  at('stopPrice', stopPriceLevel(exits))
  at('stopLossPercent', stopLossLevel(exits, averagePrice))
  at('trailingPercent', trailingLevel(exits, averagePrice, highPrice))
  at('breakEvenAtPercent', breakEvenLevel(exits, averagePrice, highPrice))
  at('takeProfitPercent', takeProfitLevel(exits, averagePrice))
  at('takeProfitByAge', takeProfitByAgeLevel(exits, averagePrice, now - openedAt))
  at('takeProfitPrice', takeProfitPriceLevel(exits))
  const step = exits.takeProfitSteps?.[steps?.taken ?? 0]
  if (step !== undefined && averagePrice > 0) at('takeProfitSteps', priceAbove(averagePrice, step.atPercent))
  const due = (kind: keyof ExitRules, time = Number.POSITIVE_INFINITY): void => {
    if (time !== Number.POSITIVE_INFINITY) levels.push({ kind, at: time })
  }
  due('maxHoldSeconds', holdEnds(position))
  due('idleSeconds', idleEnds(printedAt, exits))
  due('whenStale', staleEnds(pricedAt, exits))
  return levels
}

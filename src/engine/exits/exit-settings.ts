import type { Millis } from '../../base/units.ts'

/** Exits of a position. Percentages refer to the average fill price, which contains the fees of venue and service, but
 *  neither network fees nor rent. The levels are compared with the price of the exits; see `windowPrints`. An absent
 *  key means that the position has no such exit. */
export interface ExitRules {
  /** Sells all at or below this price, SOL per token. Only the options of a buy, or `setExits`, can set it. */
  readonly stopPrice?: number
  /** Percent, above 0 and below 100. Sells all if the price is this far below the average fill price. */
  readonly stopLossPercent?: number
  /** Percent, above 0 and below 100. Sells all if the price is this far below its high since the position opened. */
  readonly trailingPercent?: number
  /** Percent, above 0. The trailing stop acts only after the price was this far above the average fill price. */
  readonly trailingArmPercent?: number
  /** Percent, above 0. Sells all if the price falls back to the average fill price, after it was this far above. */
  readonly breakEvenAtPercent?: number
  /** Percent, above 0. Sells all if the price is this far above the average fill price. */
  readonly takeProfitPercent?: number
  /** Sells all at a profit that falls with the age of the position: seconds since the first fill -> percent. The entry
   *  of the highest age that is reached applies. */
  readonly takeProfitByAge?: TakeProfitByAge
  /** Sells all at or above this price, SOL per token. Only the options of a buy, or `setExits`, can set it. */
  readonly takeProfitPrice?: number
  /** Sells parts of the position at rising profits. The profits of the steps ascend, and together the steps sell at
   *  most 100 % of the tokens that were bought. */
  readonly takeProfitSteps?: readonly TakeProfitStep[]
  /** Seconds, above 0. Sells all after the position was held for this time. */
  readonly maxHoldSeconds?: number
  /** Seconds, at least 1. Sells all after this time without a trade of the token, while the feed is live. */
  readonly idleSeconds?: number
  /** Action for a position that has no current price, because its token is not traded or the feed is stale or down. */
  readonly whenStale?: WhenStale
  /** Number of prints above a minimum size from which the price of the exits is computed. With 5 to 21, the price is
   *  the median of these prints. With 81, the default, it is the mean of their middle half; docs/exits.md describes
   *  which prints it leaves out. */
  readonly windowPrints?: ExitWindow
}

/** Default width of the window of the exit price, in prints. With this width, the exit price ignores single hops of
 *  routed swaps and prints from before a collapse, for the reasons in docs/decisions/0010-exit-price-by-method.md. */
export const DEFAULT_EXIT_WINDOW = 81
/** Allowed widths of the window of the exit price, in prints. All are odd, so that the median is the price of one
 *  print. */
export const EXIT_WINDOWS = [5, 9, 15, 21, DEFAULT_EXIT_WINDOW] as const
export type ExitWindow = (typeof EXIT_WINDOWS)[number]

/** The window of the exit price for positions that set none, as the journal records it at each start. */
export interface RecordedExitPrice {
  readonly rule: 'filtered'
  readonly windowPrints: ExitWindow
  /** `true` if the value of a position is computed from the lower of the robust price and the exit price, and if the
   *  sums of its fills and its best and worst profit are recorded. Absent in older journals, which valued positions at
   *  the robust price and recorded neither. */
  readonly marks?: true
}

export const EXIT_PRICE: RecordedExitPrice = { rule: 'filtered', windowPrints: DEFAULT_EXIT_WINDOW, marks: true }

/** Returns the window of the exit price for positions that set none. `recorded`: the record in the `start` input. Older
 *  journals have no such record; they used the median of 21 prints. */
export function defaultWindow(recorded: RecordedExitPrice | undefined): ExitWindow {
  return recorded?.windowPrints ?? 21
}

/** Whole seconds since the first fill -> percent above the average fill price, at least 0. The percentages do not rise
 *  with the age. Before the lowest age there is no target. */
export type TakeProfitByAge = Readonly<Record<number, number>>

/** One step of `takeProfitSteps`. */
export interface TakeProfitStep {
  /** Percent, above 0. The step sells once the price is this far above the average fill price. */
  readonly atPercent: number
  /** Percent of all tokens bought since the position opened, up to 100. If other sales have already sold tokens, the
   *  step sells that much less. */
  readonly sellPercent: number
}

/** hold: wait for a price. poll: read the token's pool over RPC and use its price. flatten: sell all. */
export const STALE_POLICIES = ['hold', 'poll', 'flatten'] as const

/** Action of the exits for a position whose token has no current price, and the time after which it is taken. */
export interface WhenStale {
  /** `hold`: wait for a price. `poll`: read the token's pool over RPC and use its price. `flatten`: sell all. */
  readonly policy: (typeof STALE_POLICIES)[number]
  /** Seconds without a price after which this action is taken; at least 1. */
  readonly afterSeconds: number
}

/** Returns the target of a position of this age, in percent above the average price; undefined before the lowest age.
 *  JavaScript sorts keys that are whole numbers, so the order in the configuration does not matter. */
export function targetAt(targets: TakeProfitByAge, ageMs: Millis): number | undefined {
  let target: number | undefined
  for (const age in targets) {
    if (Number(age) * 1000 > ageMs) break
    target = targets[age]
  }
  return target
}

/** Whether the price is at least `byPercent` above the average price. */
export function isAbove(price: number, averagePrice: number, byPercent: number): boolean {
  return price >= priceAbove(averagePrice, byPercent)
}

/** Returns the price that is `byPercent` above the average price. */
export function priceAbove(averagePrice: number, byPercent: number): number {
  return averagePrice * (1 + byPercent / 100)
}

/** Returns the times, in seconds, after which a position is sold because its token had no print (`idleSeconds`) or no
 *  price (`whenStale` with the policy `flatten`). */
export function quietLimits(exits: ExitRules): number[] {
  return [exits.idleSeconds, flattenSeconds(exits)].filter((seconds) => seconds !== undefined)
}

/** Returns the seconds without a price after which all is sold; undefined unless `whenStale` has the policy
 *  `flatten`. */
export function flattenSeconds({ whenStale }: ExitRules): number | undefined {
  return whenStale?.policy === 'flatten' ? whenStale.afterSeconds : undefined
}

/** Returns the interval in seconds at which the pool of a silent token is read. The first reading is one interval after
 *  the last print with a price. Returns undefined if the pool is not read. */
export function pollSeconds({ whenStale }: ExitRules): number | undefined {
  return whenStale?.policy === 'poll' ? whenStale.afterSeconds : undefined
}

export function copyExits(exits: ExitRules): ExitRules {
  return copy(exits)
}

/** Whether two sets of exits have the same effect. */
export function sameExits(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  const keys = Object.keys(one)
  if (keys.length !== Object.keys(other).length) return false
  return keys.every((key) => sameExits(one[key as never], other[key as never]))
}

function copy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copy) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item)])) as T
}

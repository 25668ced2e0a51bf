/** The exits of a position. Percent of the average fill price, on the median of the last prints; an absent exit is
 *  absent. The average has the fees of venue and service inside; network fees and rent are not in it. */
export interface ExitRules {
  /** Sell all when the price is this far below the average fill price; above 0, below 100. */
  readonly stopLossPercent?: number
  /** Sell all when the price is this far above it. */
  readonly takeProfitPercent?: number
  /** Sell parts on the way up: ascending, together at most 100 % of what was bought. */
  readonly takeProfitSteps?: readonly TakeProfitStep[]
  /** Sell all when the price is this far below its highest since the position opened; above 0, below 100. */
  readonly trailingPercent?: number
  /** The trailing stop works only from the moment on at which the price was this far above the average fill price. */
  readonly trailingArmPercent?: number
  /** Once the price was this far above the average fill price: sell all when it is back there. */
  readonly breakEvenAtPercent?: number
  /** Of a bracket: sell all when the price is there or below, SOL a token. Only for a single order, as what follows. */
  readonly stopPrice?: number
  /** Sell all when it is there or above. */
  readonly takeProfitPrice?: number
  /** Sell all so long after it opened. */
  readonly maxHoldSeconds?: number
  /** Sell all when nobody has traded the token for so long, while the feed is live. */
  readonly idleSeconds?: number
  /** What to do when there is no price for so long, whatever the reason: a quiet token, or a feed that is stale or
   *  down. */
  readonly whenStale?: WhenStale
  /** Over how many of the last sized prints the price of the exits is the median. Default 21. */
  readonly windowPrints?: (typeof EXIT_WINDOWS)[number]
}

/** Prints that the price of an exit is the median of, where nothing else is said; why:
 *  docs/decisions/0006-exit-price.md. */
export const DEFAULT_EXIT_WINDOW = 21
/** Odd, so that there is a middle one. */
export const EXIT_WINDOWS = [5, 9, 15, 21] as const

export interface TakeProfitStep {
  /** This far above the average fill price. */
  readonly atPercent: number
  /** Of everything that was bought since the position opened; what was sold otherwise counts as sold. Up to 100. */
  readonly sellPercent: number
}

/** hold: wait for a price. poll: have the token's pool read over RPC, and go by that. flatten: sell all. */
export const STALE_POLICIES = ['hold', 'poll', 'flatten'] as const
/** The shortest silence that an exit acts on, and the shortest time between two readings of a pool. */
export const LEAST_QUIET_SECONDS = 1

export interface WhenStale {
  readonly policy: (typeof STALE_POLICIES)[number]
  readonly afterSeconds: number
}

/** Why all of a position has to be sold at `price`, or undefined. What protects comes before what takes a profit. */
export function dueExit(rules: ExitRules, averagePrice: number, highPrice: number, price: number): string | undefined {
  const { stopLossPercent, trailingPercent, trailingArmPercent = 0, breakEvenAtPercent, takeProfitPercent } = rules
  const { stopPrice, takeProfitPrice } = rules
  if (stopPrice !== undefined && price <= stopPrice)
    return `stop: ${price.toPrecision(6)}, ${percent(price / averagePrice)} from the average price`
  if (stopLossPercent !== undefined && price <= averagePrice * (1 - stopLossPercent / 100))
    return `stop-loss: ${percent(price / averagePrice)} from the average price`
  if (
    trailingPercent !== undefined &&
    price <= highPrice * (1 - trailingPercent / 100) &&
    isAbove(highPrice, averagePrice, trailingArmPercent)
  )
    return `trailing stop: ${percent(price / highPrice)} from the high, ${percent(price / averagePrice)} from the average price`
  if (breakEvenAtPercent !== undefined && price <= averagePrice && isAbove(highPrice, averagePrice, breakEvenAtPercent))
    return `break-even: back at the average price after ${percent(highPrice / averagePrice)}`
  // What was had for nothing is in profit at any price; that is no reason to sell it.
  if (takeProfitPercent !== undefined && averagePrice > 0 && isAbove(price, averagePrice, takeProfitPercent))
    return `take-profit: ${percent(price / averagePrice)} on the average price`
  if (takeProfitPrice !== undefined && price >= takeProfitPrice)
    return `take-profit: ${price.toPrecision(6)}, ${percent(price / averagePrice)} on the average price`
  return undefined
}

/** How many steps of the take-profit are reached at `price`, of which `taken` were before. */
export function stepsReached(
  { takeProfitSteps = [] }: ExitRules,
  taken: number,
  averagePrice: number,
  price: number,
): number {
  let reached = taken
  for (let step = takeProfitSteps[reached]; step !== undefined; step = takeProfitSteps[reached]) {
    if (!(averagePrice > 0) || !isAbove(price, averagePrice, step.atPercent)) break
    reached++
  }
  return reached
}

/** After which silences something may be due, seconds. */
export function quietLimits(exits: ExitRules): number[] {
  return [exits.idleSeconds, flattenSeconds(exits)].filter((seconds) => seconds !== undefined)
}

/** After how long without a price all is sold, seconds; undefined: never. */
export function flattenSeconds({ whenStale }: ExitRules): number | undefined {
  return whenStale?.policy === 'flatten' ? whenStale.afterSeconds : undefined
}

/** After how long a silence the pool is read, and how often from then on, seconds; undefined: never. */
export function pollSeconds({ whenStale }: ExitRules): number | undefined {
  return whenStale?.policy === 'poll' ? whenStale.afterSeconds : undefined
}

/** A copy that shares nothing with the original. */
export function copyExits({ takeProfitSteps, whenStale, ...flat }: ExitRules): ExitRules {
  return {
    ...flat,
    ...(takeProfitSteps !== undefined && { takeProfitSteps: takeProfitSteps.map((step) => ({ ...step })) }),
    ...(whenStale !== undefined && { whenStale: { ...whenStale } }),
  }
}

function isAbove(price: number, averagePrice: number, byPercent: number): boolean {
  return price >= averagePrice * (1 + byPercent / 100)
}

function percent(ratio: number): string {
  const value = (ratio - 1) * 100
  return `${value > 0 ? '+' : ''}${value.toFixed(1)} %`
}

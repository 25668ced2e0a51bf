/** The exits of a position. Percent of the average fill price, on the robust price; an absent exit is absent.
 *  They compare prices, fees aside. */
export interface ExitRules {
  /** Sell all when the price is this far below the average fill price; above 0, below 100. */
  readonly stopLossPercent?: number
  /** Sell all when the price is this far above it. */
  readonly takeProfitPercent?: number
  /** Sell all when the price is this far below its highest since the position opened; above 0, below 100. */
  readonly trailingPercent?: number
  /** Sell all so long after it opened. */
  readonly maxHoldSeconds?: number
}

/** Why a position has to be sold at `price`, or undefined. Stop-loss before trailing before take-profit. */
export function dueExit(rules: ExitRules, averagePrice: number, highPrice: number, price: number): string | undefined {
  const { stopLossPercent, trailingPercent, takeProfitPercent } = rules
  if (stopLossPercent !== undefined && price <= averagePrice * (1 - stopLossPercent / 100))
    return `stop-loss: ${percent(price / averagePrice)} from the average price`
  if (trailingPercent !== undefined && price <= highPrice * (1 - trailingPercent / 100))
    return `trailing stop: ${percent(price / highPrice)} from the high, ${percent(price / averagePrice)} from the average price`
  // What was had for nothing is in profit at any price; that is no reason to sell it.
  if (takeProfitPercent !== undefined && averagePrice > 0 && price >= averagePrice * (1 + takeProfitPercent / 100))
    return `take-profit: ${percent(price / averagePrice)} on the average price`
  return undefined
}

function percent(ratio: number): string {
  const value = (ratio - 1) * 100
  return `${value > 0 ? '+' : ''}${value.toFixed(1)} %`
}

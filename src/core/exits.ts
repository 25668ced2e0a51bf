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
  const change = (price / averagePrice - 1) * 100
  if (rules.stopLossPercent !== undefined && change <= -rules.stopLossPercent)
    return `stop-loss: ${percent(change)} from the average price`
  if (rules.trailingPercent !== undefined) {
    const fall = (price / highPrice - 1) * 100
    if (fall <= -rules.trailingPercent)
      return `trailing stop: ${percent(fall)} from the high, ${percent(change)} from the average price`
  }
  if (rules.takeProfitPercent !== undefined && change >= rules.takeProfitPercent)
    return `take-profit: ${percent(change)} on the average price`
  return undefined
}

function percent(value: number): string {
  return `${value > 0 ? '+' : ''}${value.toFixed(1)} %`
}

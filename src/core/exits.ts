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

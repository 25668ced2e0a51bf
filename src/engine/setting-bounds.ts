// Bounds of the numbers in a configuration. They catch typing errors and keep every sum of amounts and times exact.

/** SOL. A smaller amount would round to zero, or to less than any fee. */
export const LEAST_SOL = 0.000001
/** SOL of a limit, a cap or an order. An absent key sets no bound at all. */
export const MOST_SOL = 10_000
/** SOL of a paper wallet. */
export const MOST_PAPER_SOL = 100_000
/** SOL in a pool. */
export const MOST_POOL_SOL = 1_000_000
/** Times are whole milliseconds; a shorter one would round to zero. */
export const LEAST_SECONDS = 0.001
export const LEAST_PERCENT = 0.01
/** Slippage of a buy that the service accepts, percent. */
export const LEAST_SLIPPAGE = 0.1
export const MOST_SLIPPAGE = 50

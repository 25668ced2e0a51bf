// Smallest and largest values of the numbers in a configuration. They catch typing errors, and keep every sum of
// amounts and times exact.

/** Smallest amount of SOL. A smaller amount would round to zero, or would be less than any fee. */
export const LEAST_SOL = 0.000001
/** Largest amount of SOL that a limit or the size of an order may have. A limit whose key is absent is not checked at
 *  all. */
export const MOST_SOL = 10_000
/** Largest balance of a paper wallet, SOL. */
export const MOST_PAPER_SOL = 100_000
/** Largest amount of SOL in a pool that a setting can name. */
export const MOST_POOL_SOL = 1_000_000
/** Shortest time. Times are whole milliseconds, so a shorter time would round to zero. */
export const LEAST_SECONDS = 0.001
export const LEAST_PERCENT = 0.01
/** Range of the slippage that the service accepts for a buy, percent. */
export const LEAST_SLIPPAGE = 0.1
export const MOST_SLIPPAGE = 50

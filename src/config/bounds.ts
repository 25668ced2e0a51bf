// Bounds of the numbers in a YAML file. They catch typing errors, and keep every sum of amounts and times exact.

/** Less would round to nothing, or to a few lamports that no fee fits into. */
export const LEAST_SOL = 0.000001
/** Of a limit, a cap or an order. To set no bound at all, leave the key out. */
export const MOST_SOL = 10_000
/** Of a paper wallet. */
export const MOST_PAPER_SOL = 100_000
/** Of a pool's liquidity. */
export const MOST_POOL_SOL = 1_000_000
/** Times are whole milliseconds; less would round to none. */
export const LEAST_SECONDS = 0.001
export const LEAST_PERCENT = 0.01

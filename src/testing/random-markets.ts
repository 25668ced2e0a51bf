import type { Strategy } from '../engine/strategy.ts'
import { type RandomMarket, type StrategyRig, type StrategyTestOptions, testStrategy } from './strategy-rig.ts'

export interface RandomMarketsOptions extends StrategyTestOptions, Omit<RandomMarket, 'seed'> {
  /** Seeds of the markets; a number n stands for the seeds 1 to n; default 20. @unitless */
  readonly seeds?: number | readonly number[]
}

/** Result of a bot in several random markets. The numbers of rows, orders and fills are sums over all markets. */
export interface MarketsResult {
  /** Number of markets. */
  readonly markets: number
  /** Number of market rows. */
  readonly rows: number
  /** Number of orders. */
  readonly orders: number
  /** Number of fills. */
  readonly fills: number
}

interface Failure {
  readonly seed: number
  readonly rows: number
  readonly error: Error
}

/** Runs a strategy in many random markets. `prepare` receives the rig of each market before its first row, and adds the
 *  properties with `rig.always`. If markets fail, throws an error that names the seed of the one that fails after the
 *  fewest rows. Also throws if the bot has no order in any market, because the properties then prove nothing. */
export function inRandomMarkets<P, S>(
  strategy: Strategy<P, S>,
  { seeds = 20, seconds, launchesPerSecond, ...options }: RandomMarketsOptions,
  prepare: (rig: StrategyRig) => void,
): MarketsResult {
  const list = typeof seeds === 'number' ? Array.from({ length: seeds }, (_, index) => index + 1) : seeds
  const failures: Failure[] = []
  const sums = { markets: list.length, rows: 0, orders: 0, fills: 0 }
  for (const seed of list) {
    const rig = testStrategy(strategy, options)
    prepare(rig)
    try {
      rig.randomMarket({ seed, ...(seconds && { seconds }), ...(launchesPerSecond && { launchesPerSecond }) })
    } catch (error) {
      failures.push({ seed, rows: rig.rows, error: error as Error })
    }
    sums.rows += rig.rows
    sums.orders += rig.orders.length
    sums.fills += rig.fills.length
  }
  const [first, ...others] = failures.toSorted((one, other) => one.rows - other.rows)
  if (first !== undefined) throw withSeeds(first, others, list.length)
  if (sums.orders === 0)
    throw new Error(
      `the bot has no order in ${list.length} random markets with ${sums.rows} rows, so the properties prove nothing; change params, seconds or seeds`,
    )
  return sums
}

function withSeeds({ seed, error }: Failure, others: readonly Failure[], markets: number): Error {
  const more = others.length === 0 ? '' : `; seeds ${others.map((other) => other.seed).join(', ')} fail after more rows`
  error.message += `\n${1 + others.length} of ${markets} markets fail, this one after the fewest rows${more}; to run it alone: seeds: [${seed}]`
  return error
}

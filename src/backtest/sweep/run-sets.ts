import type { Json } from '../../base/json.ts'
import type { BotConfig, Config } from '../../config/config.ts'
import { parseParams } from '../../config/strategies.ts'
import type { Market } from '../../journal/tape/market-tape.ts'
import { runBacktest } from '../run.ts'
import type { SetResult, SweepSet } from './sweep.ts'

/** Number of bots in one engine. Each bot has state for every token. With twice as many bots, the state exceeds a
 *  core's cache, so that a set takes no less time, and twice the memory is used. */
export const SETS_AN_ENGINE = 8

/** The inputs that all sets of a sweep have in common. */
export interface SweepGround {
  readonly config: Config
  /** The bot whose params are swept. */
  readonly bot: BotConfig
  /** First row of the hold-out; undefined if there is none. */
  readonly splitRow: number | undefined
}

/** Returns the params of a bot with some values replaced; undefined if the strategy's schema refuses them. */
export function paramsOf({ strategy, params }: BotConfig, point: Readonly<Record<string, number>>): Json | undefined {
  const parsed = parseParams(strategy.strategy, { ...(params as Record<string, Json>), ...point })
  return parsed.ok ? (JSON.parse(JSON.stringify(parsed.value)) as Json) : undefined
}

/** Runs sets of params as bots of one engine in one pass over the tape, each with an account of its own. Each result
 *  equals that of a separate run, because the bots share only the market, and each has a seed of its own. */
export function runSets(
  { config, bot, splitRow }: SweepGround,
  sets: readonly SweepSet[],
  market: Market,
  progress?: (rows: number) => void,
): SetResult[] {
  const bots = sets.map(({ set, params }) => ({ ...bot, name: `${bot.name}#${set}`, params }))
  const backtest = runBacktest({ ...config, bots }, market, {
    ...{ partial: true, tolerant: true, splitRow },
    ...(progress && { progress }),
  })
  return backtest.bots.map(({ result, valueLamports, splitLamports, threw }, index) => {
    const { set, params } = sets[index] as SweepSet
    const netLamports = result.walletLamports + valueLamports
    return {
      ...{ set, params, threw, netLamports },
      sampleLamports: splitLamports ?? netLamports,
      orders: result.orders,
      buys: result.buys,
      sells: result.sells,
      open: result.positions.size,
      realizedLamports: result.realizedLamports,
      feeLamports: result.feeLamports,
      venueLamports: result.fees.venue,
    }
  })
}

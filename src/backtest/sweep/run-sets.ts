import type { Json } from '../../base/json.ts'
import type { BotConfig, Config } from '../../config/config.ts'
import { parseParams } from '../../config/strategies.ts'
import type { Market } from '../../journal/tape/market-tape.ts'
import { runBacktest } from '../run.ts'
import type { SetResult, SweepSet } from './sweep.ts'

/** Bots of one engine. Each remembers every token: what twice as many know does not fit into a core's cache, and over a
 *  million rows they take as long a set, and twice the memory. */
export const SETS_AN_ENGINE = 8

/** What every set of a sweep has in common. */
export interface SweepGround {
  readonly config: Config
  /** Whose params are varied. */
  readonly bot: BotConfig
  /** Rows before this one are in the sample, the others are held out; undefined: all are in it. */
  readonly splitRow: number | undefined
}

/** The params of a bot with some values in place of its own; undefined where its strategy's schema does not take them
 *  together. */
export function paramsOf({ strategy, params }: BotConfig, point: Readonly<Record<string, number>>): Json | undefined {
  const parsed = parseParams(strategy.strategy, { ...(params as Record<string, Json>), ...point })
  return parsed.ok ? (JSON.parse(JSON.stringify(parsed.value)) as Json) : undefined
}

/** Sets of params side by side, each a bot with an account of its own, in one engine over one pass of the tape. What
 *  comes of each is what would come of it alone: bots share the market and nothing else, and each draws from its own
 *  seed. */
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

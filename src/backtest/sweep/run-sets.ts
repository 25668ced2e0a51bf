import type { Json } from '../../base/json.ts'
import type { BotConfig, Config } from '../../config/config.ts'
import { parseParams } from '../../config/strategies.ts'
import type { Market } from '../../journal/tape/market-tape.ts'
import { runBacktest } from '../run.ts'
import type { SetResult, SweepSet } from './sweep.ts'

/** Bots of one engine. Each has state for every token: with twice as many, the state exceeds a core's cache, so that
 *  each set takes as long, and twice the memory. */
export const SETS_AN_ENGINE = 8

/** Common inputs of all sets of a sweep. */
export interface SweepGround {
  readonly config: Config
  /** The bot whose params are swept. */
  readonly bot: BotConfig
  /** First row of the hold-out; undefined: no hold-out. */
  readonly splitRow: number | undefined
}

/** Params of a bot with some values replaced; undefined if the strategy's schema refuses them. */
export function paramsOf({ strategy, params }: BotConfig, point: Readonly<Record<string, number>>): Json | undefined {
  const parsed = parseParams(strategy.strategy, { ...(params as Record<string, Json>), ...point })
  return parsed.ok ? (JSON.parse(JSON.stringify(parsed.value)) as Json) : undefined
}

/** Runs sets of params as bots of one engine over one pass of the tape, each with its own account. Each result equals
 *  that of a separate run: bots share only the market, and each has its own seed. */
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

import type { BotConfig, Config } from '../../config/config.ts'
import { loadStrategy } from '../../config/strategies.ts'
import { NO_FILTERS } from '../../core/entry-filters.ts'
import type { StartInput } from '../../core/messages.ts'
import { type BotSettings, NO_LIMITS } from '../../core/settings.ts'
import { lamports } from '../../core/units.ts'
import type { FillModel } from '../../simulation/fill-model.ts'

/** The bots of a start, as a configuration that a backtest takes. */
export async function configOf({ config, bots, plan, units, lists }: StartInput, model: FillModel): Promise<Config> {
  return {
    files: [],
    service: {
      ...{ kind: 'remote', baseUrl: '', wsUrl: '', host: bots[0]?.account.service ?? '' },
      ...{ plan, share: 1, lateMs: 0, units: { ...units, priceUpdate: 'auto', sell: 'auto' } },
    },
    chain: { rpc: [], secondOpinionLamports: lamports(0) },
    wallet: {
      caps: { perTransaction: null, perHour: null, perDay: null },
      limits: bots[0]?.walletLimits ?? NO_LIMITS, // of an older journal
    },
    journal: { path: '', keepTapeDays: 1 },
    bots: await Promise.all(bots.map((bot) => botOf(bot, model))),
    lists: new Map(Object.entries(lists ?? {})),
    warnings: [],
    hash: config,
  }
}

async function botOf(settings: BotSettings, { latencyMs, serviceFeePercent }: FillModel): Promise<BotConfig> {
  const { account: _account, executor: _executor, paperLamports, seed, strategy, params, ...rest } = settings
  const { limits, filters } = rest
  return {
    ...rest,
    // What was not there yet in an older journal bound nothing.
    ...{ limits: { ...NO_LIMITS, ...limits }, filters: filters ?? NO_FILTERS },
    ...{ strategy: await loadStrategy(strategy), params, mode: 'paper', executor: 'cloud' },
    paper: { lamports: paperLamports, seed, latencyMs, serviceFeePercent },
    ...{ at: { file: '', line: 0, column: 0 }, exitSources: {}, overriddenExits: [] },
  }
}

import type { BotConfig } from '../../config/config.ts'
import { loadStrategy } from '../../config/strategies.ts'
import { NO_FILTERS } from '../../core/entry-filters.ts'
import { DEFAULT_TOKEN_CHECKS } from '../../core/mint-check.ts'
import { NO_LIMITS } from '../../core/settings.ts'
import type { Lamports } from '../../core/units.ts'

/** Whose orders and fills a probe's are. */
export const PROBE_BOT = 'doctor'
/** Whatever happens to this process, a run on its journal sells what is left after so long. */
export const HOLD_SECONDS = 600

/** A bot that does what it is told, with no more money than that. */
export async function probeBot(amount: Lamports): Promise<BotConfig> {
  return {
    name: PROBE_BOT,
    strategy: await loadStrategy('probe'),
    params: {},
    mode: 'live',
    executor: 'cloud',
    orders: {
      slippagePercent: 15,
      priorityFeeLamports: null,
      ttlMs: 10_000,
      maxEventAgeMs: 60_000,
      maxChasePercent: 50,
    },
    tokenChecks: DEFAULT_TOKEN_CHECKS,
    filters: NO_FILTERS,
    exitOrders: { slippageLadder: [15, 50], priorityFeeLadder: [], retryMs: 3_000 },
    ...{ exits: { maxHoldSeconds: HOLD_SECONDS }, exitSources: {}, overriddenExits: [] },
    limits: { ...NO_LIMITS, maxLamportsPerOrder: amount, maxLamportsPerMint: amount },
    paper: { lamports: amount, seed: 1, latencyMs: { p50: 1_500, p95: 4_000 }, serviceFeePercent: 1 },
    at: { file: '', line: 0, column: 0 },
  }
}

import { lamports, solToLamports } from '../../src/base/units.ts'
import type { BotConfig, Config } from '../../src/config/config.ts'
import { deskFrom } from '../../src/config/convert-sections.ts'
import { DEFAULT_FILL_MODEL } from '../../src/engine/accounting/fill-assumptions.ts'
import { NO_FILTERS } from '../../src/engine/limits/entry-filters.ts'
import { NO_LIMITS } from '../../src/engine/limits/limit-rules.ts'
import type { Plan } from '../../src/engine/settings.ts'
import type { Scenario } from './scenario.ts'
import { type Leash, restless, ticking } from './strategy.ts'

/** The configured time for which a request may still execute after its connection has ended, ms. */
export const LATE_MS = 30_000

/** Names of the wallets of a run with two wallets. */
const NAMES = ['main', 'side']

/** Returns a configuration in the form in which Sluice reads it from a file. The bots trade with one wallet, or
 *  alternately with two. */
export function configOf(scenario: Scenario, leash: Leash, executor: 'cloud' | 'local'): Config {
  const { rounding } = scenario.local
  const named = executor === 'local' && rounding !== undefined ? lamports(rounding.feeLamports) : null
  const strategy = { name: 'restless', file: 'restless.ts', strategy: restless(leash) }
  const timed = { name: 'ticking', file: 'ticking.ts', strategy: ticking(scenario.timers) }
  const strategies = [
    ...Array.from({ length: Math.max(scenario.bots, scenario.wallets) }, () => strategy),
    ...(scenario.timers === 'none' ? [] : [timed]),
  ]
  const bots = strategies.map((strategy, index): BotConfig => {
    return {
      ...{ name: `bot ${index}`, strategy, params: {}, mode: 'live', executor, exits: { maxHoldSeconds: 20 } },
      ...{ exitSources: {}, overriddenExits: [] },
      ...(scenario.wallets > 1 && { wallet: NAMES[index % scenario.wallets] as string }),
      orders: {
        slippagePercent: 5,
        priorityFeeLamports: named,
        ttlMs: 2_000,
        maxEventAgeMs: 3_000,
        maxChasePercent: 5,
      },
      tokenChecks: { when: 'off', allow: [] }, // token checks would change the traces of the recorded seeds
      exitOrders: { slippageLadder: [5, 15, 30, 50], priorityFeeLadder: [], retryMs: 3_000 },
      limits: NO_LIMITS,
      filters: NO_FILTERS,
      paper: {
        ...DEFAULT_FILL_MODEL,
        lamports: lamports(0),
        seed: scenario.seed + index,
        latencyMs: { p50: 1, p95: 1 },
      },
      at: { file: '', line: 1, column: 1 },
    }
  })
  return {
    files: [],
    service: {
      kind: 'remote',
      baseUrl: 'https://service.invalid/api',
      wsUrl: 'wss://service.invalid',
      host: 'service.invalid',
      plan: scenario.plans !== undefined ? 'auto' : planOf(scenario),
      share: scenario.plans?.share ?? 1,
      units: { tradePrice: 'sol', tradeAmount: 'sol', priceUpdate: 'sol', sell: 'tokens' },
      lateMs: LATE_MS,
    },
    chain: { rpc: [], secondOpinionLamports: lamports(200_000_000) },
    // The configuration sets no minimum balance, because that would change the recorded traces of the seeds.
    wallets: (scenario.wallets > 1 ? NAMES : ['']).map((name) => ({
      ...{ name, caps: { perTransaction: null, perHour: null, perDay: null } },
      limits: { ...NO_LIMITS, minBalanceLamports: lamports(0) },
    })),
    journal: { path: '', keepTapeDays: 1, archive: false },
    desk: deskFrom(undefined, ''),
    bots,
    lists: new Map(),
    warnings: [],
    hash: 'simulated',
  }
}

function planOf({ requestsPerMinute }: Scenario): Plan {
  const bounds = { connections: 5, messagesPerSecond: 50, maxBuyLamports: solToLamports(100) }
  return { name: 'simulated', requestsPerMinute, ...bounds }
}

import { expect, test } from 'vitest'
import { solToLamports } from '../../src/base/units.ts'
import type { BotConfig, Config } from '../../src/config/config.ts'
import { NO_FILTERS } from '../../src/engine/limits/entry-filters.ts'
import { NO_LIMITS } from '../../src/engine/limits/limit-rules.ts'
import { planNeeds } from '../../src/live/plan-needs.ts'

const plan = (requestsPerMinute: number) => ({
  ...{ name: 'custom', requestsPerMinute, connections: 2, messagesPerSecond: 10 },
  maxBuyLamports: solToLamports(100),
})

function config(positions: (number | null)[], more: object = {}, mode = 'live', executor = 'cloud'): Config {
  const bots = positions.map((maxOpenPositions) => {
    const limits = { ...NO_LIMITS, maxOpenPositions }
    return {
      mode,
      executor,
      limits,
      filters: NO_FILTERS,
      strategy: { strategy: { keys: ['trades'] } },
    } as unknown as BotConfig
  })
  return {
    ...{ bots, service: { kind: 'sandbox', plan: plan(100), share: 1 }, wallets: [{ name: '', limits: NO_LIMITS }] },
    ...{ chain: { rpc: [{ sendsPerSecond: 2 }] }, ...more },
  } as unknown as Config
}

// Computed by hand: of the requests that the plan allows per minute, a fifth is available to exits immediately. The
// other four fifths become available during the minute.
test.each<[string, Config, positions: number | null, seconds: number | null]>([
  ['the requests that are kept for exits sell 20 positions at once', config([12, 8]), 20, 0],
  ['a position that needs another request is sold within the first minute', config([21]), 21, 60],
  ['selling 221 positions takes several minutes', config([221]), 221, 180],
  [
    'with half of the plan, the requests that are kept for exits do not suffice',
    config([31], { service: { kind: 'sandbox', plan: plan(100), share: 0.5 } }),
    31,
    60,
  ],
  [
    'the limit of the wallet limits the number of positions',
    config([30, 30], { wallets: [{ name: '', limits: { ...NO_LIMITS, maxOpenPositions: 20 } }] }),
    20,
    0,
  ],
  ['the number of positions is unknown if one bot has no limit', config([5, null]), null, null],
  [
    'the limit of the wallet applies if the bot has no limit',
    config([null], { wallets: [{ name: '', limits: { ...NO_LIMITS, maxOpenPositions: 5 } }] }),
    5,
    0,
  ],
  ['with local signing, the RPC limits sales to two sends a second', config([15], {}, 'live', 'local'), 15, 8],
  ['paper bots without a named wallet do not share a wallet', config([15, 10], {}, 'paper'), 25, 60],
])('the time to sell all positions: %s', (_what, given, positions, flattenSeconds) => {
  expect(planNeeds(given)).toMatchObject({ positions, flattenSeconds })
})

test('the needs of a configuration are the requests, connections and keys of the plan that it uses', () => {
  expect(planNeeds(config([1, 2], { service: { kind: 'sandbox', plan: plan(60), share: 0.5 } }))).toMatchObject({
    ...{ requestsPerMinute: 30, keptForExits: 6, sockets: 1, connections: 2, keys: 1 },
  })
  const creator = { ...NO_LIMITS, maxLamportsPerCreator: solToLamports(1) }
  // A limit on the SOL per creator needs a second subscription key, `newTokens`.
  expect(planNeeds(config([1], { wallets: [{ name: '', limits: creator }] })).keys).toBe(2)
})

import { expect, test } from 'vitest'
import type { BotConfig } from '../../src/config/config.ts'
import { breakEvenPercent, usualBuyOf, worstCaseOf } from '../../src/config/worst-case.ts'
import { worstCost } from '../../src/core/risk.ts'
import { type Limits, NO_LIMITS } from '../../src/core/settings.ts'
import { solToLamports } from '../../src/core/units.ts'

const sol = solToLamports

function bot(limits: Partial<Limits>, more: object = {}): BotConfig {
  const orders = { slippagePercent: 10, priorityFeeLamports: sol(0.001) }
  return { orders, exits: {}, params: {}, limits: { ...NO_LIMITS, ...limits }, ...more } as unknown as BotConfig
}

/** What the engine reserves for a buy of 0.1 SOL. */
const ONE_BUY = worstCost(sol(0.1), 10, sol(0.001))

test.each<[string, BotConfig, object]>([
  ['no limits: what the service takes', bot({}), { largestBuy: sol(100), perHour: null, exposure: null, loss: null }],
  ['one order', bot({ maxLamportsPerOrder: sol(0.1) }), { perOrder: ONE_BUY, perHour: null }],
  [
    'an hour, in whole orders',
    bot({ maxLamportsPerOrder: sol(0.1), maxLamportsPerHour: sol(1) }),
    { perHour: 10 * ONE_BUY },
  ],
  [
    'an hour below an order',
    bot({ maxLamportsPerOrder: sol(1), maxLamportsPerHour: sol(0.1) }),
    { largestBuy: sol(0.1), perHour: ONE_BUY },
  ],
  ['positions', bot({ maxLamportsPerOrder: sol(0.1), maxOpenPositions: 3 }), { exposure: sol(0.3), loss: 3 * ONE_BUY }],
  [
    'positions of two orders each',
    bot({ maxLamportsPerOrder: sol(0.1), maxLamportsPerMint: sol(0.2), maxOpenPositions: 3 }),
    { exposure: sol(0.6), loss: 6 * ONE_BUY },
  ],
  [
    'nothing is kept longer than two hours',
    bot({ maxLamportsPerOrder: sol(0.1), maxLamportsPerHour: sol(1) }, { exits: { maxHoldSeconds: 7200 } }),
    { exposure: sol(2) },
  ],
])('%s', (_what, config, worst) => {
  expect(worstCaseOf(config, 'auto')).toMatchObject(worst)
})

test('the plan bounds a buy too', () => {
  const plan = { name: 'custom', requestsPerMinute: 1, connections: 1, messagesPerSecond: 1, maxBuyLamports: sol(5) }
  expect(worstCaseOf(bot({}), plan).largestBuy).toBe(sol(5))
})

test.each([
  [0.05, 0.0005, 8.79],
  [0.1, 0.0005, 5.66],
  [1, 0.0005, 2.84],
  [100, 0, 2.53],
])('a buy of %f SOL at a fee of %f breaks even at %f %%', (size, fee, percent) => {
  expect(breakEvenPercent(sol(size), sol(fee))).toBeCloseTo(percent, 1)
})

test('fees are judged by the size that the strategy buys, else by the largest allowed', () => {
  const usual = (config: BotConfig) => usualBuyOf(config, worstCaseOf(config, 'auto'))
  expect(usual(bot({ maxLamportsPerOrder: sol(1) }, { params: { sizeSol: 0.1 } }))).toBe(sol(0.1))
  expect(usual(bot({ maxLamportsPerOrder: sol(1) }, { params: { sizeSol: 3 } }))).toBe(sol(1))
  expect(usual(bot({ maxLamportsPerOrder: sol(1) }))).toBe(sol(1))
  expect(usual(bot({}))).toBeNull()
})

import { expect, test } from 'vitest'
import { solToLamports } from '../../src/base/units.ts'
import type { BotConfig } from '../../src/config/config.ts'
import { breakEvenPercent, usualBuyOf, worstCaseOf, worstTogether } from '../../src/config/worst-case.ts'
import { type Limits, NO_LIMITS, type WalletLimits } from '../../src/engine/limits/limit-rules.ts'

const sol = solToLamports

function bot(limits: Partial<Limits>, more: object = {}): BotConfig {
  const orders = { slippagePercent: 10, priorityFeeLamports: sol(0.001) }
  return { orders, exits: {}, params: {}, limits: { ...NO_LIMITS, ...limits }, ...more } as unknown as BotConfig
}

const wallet = (limits: object = {}) => ({ ...NO_LIMITS, ...limits })
/** Lamports: the highest priority fee, the base fee, the rent of the token account, and what a builder may add by
 *  rounding. */
const FEES = 10_000_000 + 5_000 + 2_039_280 + 6
/** The fees of one buy: one lamport more than `FEES`, because Sluice rounds the amount up. */
const each = FEES + 1

// Computed by hand: the SOL of the limit x 1.01 for the service's fee x 1.5 for a slippage of 50 % (or the configured
// slippage), plus the fees of the buys. Each buy has 0.001 SOL (or the configured minimum).
test.each<[string, Partial<Limits>, Partial<WalletLimits>, object]>([
  [
    'without limits, the largest amount that the service accepts limits one order',
    {},
    {},
    { largestBuy: sol(100), perOrder: sol(151.5) + each, perHour: null, perDay: null, exposure: null, loss: null },
  ],
  [
    'a limit on the amount of one order',
    { maxLamportsPerOrder: sol(0.1) },
    {},
    { perOrder: sol(0.1515) + each, perHour: null },
  ],
  [
    'a limit on the amount and on the slippage of one order',
    { maxLamportsPerOrder: sol(0.1), maxSlippagePercent: 20 },
    {},
    { perOrder: sol(0.1212) + each },
  ],
  [
    'a limit per hour is spent in the smallest buys that the service accepts: a thousand',
    { maxLamportsPerHour: sol(1) },
    {},
    { perHour: sol(1.515) + 1000 * each, perDay: sol(24 * 1.515) + 24_000 * each },
  ],
  [
    'a limit per hour is spent in the smallest buys that the limits allow: twenty',
    { maxLamportsPerHour: sol(1), minLamportsPerOrder: sol(0.05), maxSlippagePercent: 20 },
    {},
    { perHour: sol(1.212) + 20 * each, perDay: sol(24 * 1.212) + 480 * each },
  ],
  [
    'an hour across midnight may spend the limits of two days',
    { maxLamportsPerHour: sol(2), maxLamportsPerDay: sol(0.5), minLamportsPerOrder: sol(0.1) },
    {},
    { largestBuy: sol(0.5), perHour: sol(1.515) + 10 * each, perDay: sol(0.7575) + 5 * each },
  ],
  [
    'a limit on the number of positions does not limit the loss, because a strategy may add to a position',
    { maxLamportsPerOrder: sol(0.1), maxOpenPositions: 3 },
    {},
    { exposure: null, loss: null },
  ],
  [
    'limits on the number and the size of positions limit the loss',
    { maxLamportsPerMint: sol(0.2), maxOpenPositions: 3, minLamportsPerOrder: sol(0.1) },
    {},
    { largestBuy: sol(0.2), exposure: sol(0.6), loss: sol(0.909) + 6 * each },
  ],
  [
    'a limit on the total cost of all positions limits the loss',
    { maxExposureLamports: sol(0.5), minLamportsPerOrder: sol(0.1) },
    {},
    { exposure: sol(0.5), loss: sol(0.7575) + 5 * each },
  ],
  [
    'the tighter limit of a bot and its wallet applies',
    { maxLamportsPerOrder: sol(1), maxLamportsPerHour: sol(2), maxOpenPositions: 2, maxLamportsPerMint: sol(1) },
    { maxLamportsPerOrder: sol(0.3), maxLamportsPerHour: sol(1), maxExposureLamports: sol(0.4) },
    { largestBuy: sol(0.3), perOrder: sol(0.4545) + each, perHour: sol(1.515) + 1000 * each, exposure: sol(0.4) },
  ],
])('the worst case of a bot: %s', (_what, limits, shared, worst) => {
  expect(worstCaseOf(bot(limits), wallet(shared), 'auto')).toMatchObject(worst)
})

test('the worst case of all bots of a wallet follows from the sum of their limits or from the limits of the wallet', () => {
  const one = bot({ maxLamportsPerHour: sol(1), maxLamportsPerOrder: sol(0.1), minLamportsPerOrder: sol(0.1) })
  const other = bot({ maxLamportsPerHour: sol(2), maxLamportsPerOrder: sol(0.5), minLamportsPerOrder: sol(0.2) })
  const worst = (shared: object) => worstTogether([one, other], wallet(shared), 'auto')
  expect(worst({})).toMatchObject({ perOrder: sol(0.7575) + each, perHour: sol(4.545) + 30 * each, exposure: null })
  expect(worst({ maxLamportsPerHour: sol(1.5) })).toMatchObject({ perHour: sol(2.2725) + 15 * each })
  expect(worst({ maxLamportsPerDay: sol(2) })).toMatchObject({
    ...{ perHour: sol(4.545) + 30 * each, perDay: sol(3.03) + 20 * each },
  })
  expect(worst({ maxExposureLamports: sol(1) })).toMatchObject({ exposure: sol(1), loss: sol(1.515) + 10 * each })
})

test('the plan of the service limits the largest buy', () => {
  const plan = { name: 'custom', requestsPerMinute: 1, connections: 1, messagesPerSecond: 1, maxBuyLamports: sol(5) }
  expect(worstCaseOf(bot({}), NO_LIMITS, plan).largestBuy).toBe(sol(5))
})

test.each([
  [0.05, 0.0005, 8.79],
  [0.1, 0.0005, 5.66],
  [1, 0.0005, 2.84],
  [100, 0, 2.53],
])('a buy of %f SOL with a priority fee of %f SOL breaks even at a gain of %f %%', (size, fee, percent) => {
  expect(breakEvenPercent(sol(size), sol(fee))).toBeCloseTo(percent, 1)
})

test("the break-even is computed for the strategy's size of a buy, otherwise for the largest allowed buy", () => {
  const usual = (config: BotConfig) => usualBuyOf(config, worstCaseOf(config, NO_LIMITS, 'auto'))
  expect(usual(bot({ maxLamportsPerOrder: sol(1) }, { params: { sizeSol: 0.1 } }))).toBe(sol(0.1))
  expect(usual(bot({ maxLamportsPerOrder: sol(1) }, { params: { sizeSol: 3 } }))).toBe(sol(1))
  expect(usual(bot({ maxLamportsPerOrder: sol(1) }))).toBe(sol(1))
  expect(usual(bot({}))).toBeNull()
})

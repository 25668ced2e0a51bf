import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { runBacktest } from '../../src/backtest/run.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { changedNumbers } from '../support/changed-numbers.ts'
import { journalPath } from '../support/journal-samples.ts'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()

const CONFIG = {
  service: {
    baseUrl: 'https://s.example/api',
    wsUrl: 'wss://s.example/api/data',
    plan: { requestsPerMinute: 600, connections: 10, messagesPerSecond: 100, maxBuySol: 100 },
    share: 0.5,
  },
  paper: { balanceSol: 10, seed: 1, serviceFeePercent: 1, latency: { p50Seconds: 1, p95Seconds: 4 } },
  bots: [
    {
      name: 'dips',
      strategy: 'dip-buyer',
      params: { dropPercent: 10, sizeSol: 0.05 },
      exits: {
        stopLossPercent: 20,
        takeProfitPercent: 30,
        takeProfitSteps: [{ atPercent: 15, sellPercent: 30 }],
        trailingPercent: 25,
        trailingArmPercent: 10,
        breakEvenAtPercent: 5,
        maxHoldSeconds: 300,
        idleSeconds: 60,
        whenStale: { policy: 'flatten', afterSeconds: 30 },
      },
      orders: { slippagePercent: 5, priorityFeeSol: 0.001, ttlSeconds: 2, maxEventAgeSeconds: 3, maxChasePercent: 5 },
      exitOrders: { slippageLadder: [5, 15], priorityFeeLadderSol: [0.0001, 0.001], retrySeconds: 3 },
      filters: { minLiquiditySol: 1, maxPoolSharePercent: 10 },
      limits: { maxSolPerOrder: 1, maxSolPerHour: 5, maxOpenPositions: 5, maxDailyLossSol: 1, maxLosingStreak: 9 },
    },
  ],
}

test('a backtest with any numbers that the configuration check accepts ends with integer amounts', async () => {
  const path = journalPath()
  await writeTape(path, [{ time: T0, items: noisyMarket(2_000, 3, T0) }])
  let [run, orders] = [0, 0]
  await fc.assert(
    fc.asyncProperty(changedNumbers(CONFIG), async (config) => {
      const file = folder.write('any.yaml', stringify(config))
      const loaded = await loadConfig([file])
      fc.pre(loaded.ok)
      const reader = openReader(path)
      const { bots } = runBacktest(loaded.config, reader.market(), { partial: false })
      reader.close()
      run++
      for (const { result, startLamports } of bots) {
        const { walletLamports, realizedLamports, feeLamports } = result
        for (const amount of [startLamports, walletLamports, realizedLamports, feeLamports])
          expect(amount).toSatisfy(Number.isSafeInteger)
        orders += result.orders
      }
    }),
    { numRuns: 30 },
  )
  expect(orders).toBeGreaterThan(run)
})

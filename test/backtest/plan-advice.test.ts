import { expect, test } from 'vitest'
import { advisePlan } from '../../src/backtest/plan-advice.ts'
import { runBacktest } from '../../src/backtest/run.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import type { Market } from '../../src/journal/tape/market-tape.ts'
import { journalPath } from '../support/journal-samples.ts'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()

/** Buys every token that it does not hold and sells it a second later. */
const EAGER = folder.write(
  'eager.ts',
  `import { defineStrategy, z } from 'sluice'
export default defineStrategy({ name: 'eager', about: '', params: z.object({}), keys: ['trades'], start: (_params, bot) => ({
  onTrade(_trade, token) { if (token.price !== undefined && !token.position) bot.buy(token, { sol: 0.01, reason: 'because' }) } }) })
`,
)

async function withMarket<T>(bots: number, plan: unknown, run: (config: Config, market: Market) => T): Promise<T> {
  const path = journalPath()
  await writeTape(path, [{ time: T0, items: noisyMarket(1_800, 3, T0, 40) }])
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data', plan }
  const eager = Array.from({ length: bots }, (_, index) => ({
    name: `eager${index}`,
    strategy: EAGER,
    exits: { maxHoldSeconds: 1 },
  }))
  const loaded = await loadConfig([folder.write('plan.yaml', JSON.stringify({ service, bots: eager }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const reader = openReader(path)
  try {
    return run(loaded.config, reader.market())
  } finally {
    reader.close()
  }
}

test('if bots share a request budget, exits wait with the plan Standard and do not wait with Premium', async () => {
  await withMarket(12, 'auto', (config, market) => {
    const { runs, advised, peakPerMinute } = advisePlan(config, market, false)
    expect(runs.map(({ plan }) => plan.name)).toEqual(['Standard', 'Premium'])
    const [standard, premium] = runs as [(typeof runs)[number], (typeof runs)[number]]
    expect(standard.use.lateExits).toBeGreaterThan(0)
    expect(standard.use.refused).toBeGreaterThan(0)
    expect(standard.use.peakPerMinute).toBeLessThanOrEqual(100)
    expect(premium.use).toMatchObject({ delayed: 0, lateExits: 0, refused: 0, peakPerMinute })
    expect(advised).toBe(premium)
    expect(peakPerMinute).toBeGreaterThan(100)
    expect(peakPerMinute).toBeLessThan(1_000)
    expect(premium.lostLamports).toBe(0)
    // What the Standard plan loses is the result with Premium minus the result with Standard.
    expect(standard.lostLamports).toBe(premium.netLamports - standard.netLamports)
    const alone = runBacktest({ ...config, service: { ...config.service, plan: 'premium' } }, market, {
      partial: false,
    })
    const net = alone.bots.reduce((sum, { result, valueLamports }) => sum + result.walletLamports + valueLamports, 0)
    expect(premium.netLamports).toBe(net)
  })
})

test('the advice includes the configured plan, and recommends no plan if none is large enough', async () => {
  const few = { requestsPerMinute: 10, connections: 1, messagesPerSecond: 10 }
  await withMarket(1, few, (config, market) => {
    const { runs, advised } = advisePlan(config, market, false)
    expect(runs.map(({ plan }) => plan.requestsPerMinute)).toEqual([10, 100, 1_000])
    expect(runs[0]?.use.lateExits).toBeGreaterThan(0)
    expect(advised?.plan.requestsPerMinute).toBeGreaterThan(10)
  })
  const tenth = (config: Config) => ({ ...config, service: { ...config.service, share: 0.1 } })
  await withMarket(12, 'auto', (config, market) =>
    expect(advisePlan(tenth(config), market, false).advised).toBeUndefined(),
  )
})

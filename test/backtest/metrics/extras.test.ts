import { expect, test } from 'vitest'
import { z } from 'zod'
import { extrasOf } from '../../../src/backtest/further-runs.ts'
import { beatenPercent, errorPercent, randomEntries } from '../../../src/backtest/metrics/extras.ts'
import { Ghosts, type MissedEntry } from '../../../src/backtest/metrics/ghosts.ts'
import { type Backtest, runBacktest } from '../../../src/backtest/run.ts'
import { seededRandom } from '../../../src/base/random.ts'
import { loadConfig } from '../../../src/config/load.ts'
import type { FillModel } from '../../../src/engine/accounting/fill-assumptions.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { Mints } from '../../../src/market/mints.ts'
import { stressed } from '../../../src/simulation/fill-model.ts'
import { journalPath } from '../../support/journal-samples.ts'
import { noisyMarket, writeTape } from '../../support/recorded-tape.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()

async function extras(bot: object, seeds = 10) {
  const exits = { stopLossPercent: 20, takeProfitPercent: 30, maxHoldSeconds: 60 }
  const limits = { maxSolPerOrder: 0.05, maxOpenPositions: 4 }
  const { base, twice, found, rows } = await extrasFor(
    [{ name: 'dips', strategy: 'dip-buyer', exits, limits, ...bot }],
    seeds,
  )
  return { base, twice, found: found.get('dips'), rows }
}

function netOf(bot: Backtest['bots'][number] | undefined): number {
  return bot === undefined ? Number.NaN : (bot.result.walletLamports + bot.valueLamports) / 1e9
}

async function extrasFor(bots: readonly object[], seeds: number, count = 3_000) {
  const path = journalPath()
  await writeTape(path, [{ time: T0, items: noisyMarket(count, 3, T0) }])
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const loaded = await loadConfig([folder.write('bots.yaml', JSON.stringify({ service, bots }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const reader = openReader(path)
  try {
    const market = reader.market()
    const base: Backtest = runBacktest(loaded.config, market, { partial: false, logged: true })
    const twice = runBacktest(loaded.config, market, { partial: true, model: (assumed) => stressed(assumed, 2) })
    const rows: number[] = []
    const options = { progress: (done: number) => rows.push(done), model: (assumed: FillModel) => assumed, seeds }
    return { base, twice, found: extrasOf(loaded.config, market, base, options), rows }
  } finally {
    reader.close()
  }
}

test('the further runs of a backtest (`--runs`) vary costs, sizes and entries', async () => {
  const { base, twice, found, rows } = await extras({ params: { sizeSol: 0.05 } })
  const [bot] = base.bots as [Backtest['bots'][number]]
  const net = netOf(bot)
  expect(found?.sizes.map(({ factor }) => factor)).toEqual([0.5, 1, 2, 5])
  expect(found?.sizes[1]).toMatchObject({ netSol: net, trades: bot.result.log?.money.trips.length })
  for (const run of found?.sizes ?? []) expect(run.trades, `size ${run.factor}`).toBeGreaterThan(5)
  for (const { factor, netSol, percentOfBought, trades } of found?.sizes ?? []) {
    const bought = (netSol / (percentOfBought ?? 0)) * 100
    expect(bought / trades, `size ${factor}`).toBeCloseTo(0.05 * factor, 9)
  }
  expect(found?.stress).toMatchObject([{ factor: 2, netSol: netOf(twice.bots[0]) }, { factor: 4 }])
  expect(found?.stress[0]?.netSol).not.toBe(net)
  const [atOnce, unlimited] = found?.freed ?? []
  expect(atOnce).toMatchObject({ of: 'delay' })
  expect(unlimited).toMatchObject({ of: 'limits' })
  expect(unlimited?.buys).toBeGreaterThan(bot.result.buys)
  const { random } = found ?? {}
  expect(random).toMatchObject({ seeds: 10 })
  expect(random?.beatenErrorPercent).toBe(errorPercent(random?.beatenPercent as number, 10))
  expect(random?.p5Sol).toBeLessThan(random?.medianSol as number)
  expect(random?.medianSol).toBeLessThan(random?.p95Sol as number)
  expect(random?.tradesPerSeed).toBeGreaterThan(0.8 * bot.result.buys)
  expect(random?.tradesPerSeed).toBeLessThan(1.2 * bot.result.buys)
  expect(random?.entriesPercent).toBeCloseTo((net / (bot.result.boughtLamports / 1e9)) * 100, 9)
  expect(rows.at(-1)).toBe((8 + 2) * 3_000)
  expect(random?.entriesSol).toBe(net) // the strategy never sells
  expect((await extras({ params: { sizeSol: 0.05 } })).found).toEqual(found)
})

test("random entries are sold by exits alone, and are compared with the strategy's entries sold by the same exits", async () => {
  const params = { minVolumeSol: 0, minSlopePercent: 0, fast: 2, slow: 25, sampleSeconds: 0 }
  const { base, found } = await extras({ strategy: 'momentum', params })
  const [bot] = base.bots as [Backtest['bots'][number]]
  const sold = [...(bot.result.log?.orders.values() ?? [])].filter(({ reason }) => reason.includes('fell below'))
  expect(sold.length).toBeGreaterThan(5)
  const net = netOf(bot)
  expect(found?.random?.entriesSol).not.toBe(net)
  expect(found?.random?.beatenPercent).toBeLessThan(100)
})

/** Returns a substitute for a strategy's `bot`, with seeded random numbers. It buys only while `accepts` is true. */
function stub(accepts: () => boolean) {
  const random = seededRandom(1)
  const buys: { sol: number; exits: unknown }[] = []
  const bot = {
    random: () => random.next(),
    buy: (_token: unknown, options: { sol: number; exits: unknown }) => {
      if (accepts()) buys.push(options)
      return { ok: accepts() }
    },
  } as never
  return { bot, buys }
}

const TOKEN = { price: 1 } as never

test("each random entry gets the exits of one of the bot's positions", () => {
  const kinds = [{ stopLossPercent: 1 }, { takeProfitPercent: 2 }]
  const strategy = randomEntries({ params: z.object({}), sol: 1, entries: 50, trades: 200, exits: kinds })
  const { bot, buys } = stub(() => true)
  const { onTrade } = strategy.start({}, bot)
  for (let row = 0; row < 200; row++) onTrade?.({} as never, TOKEN)
  expect(buys.length).toBeGreaterThan(20)
  expect(new Set(buys.map(({ exits }) => exits))).toEqual(new Set(kinds))
})

test('a random entry that is refused or not filled is tried again', () => {
  const strategy = randomEntries({ params: z.object({}), sol: 1, entries: 100, trades: 10_000, exits: [{}] })
  let row = 0
  const { bot, buys } = stub(() => row % 1_000 > 600) // places are taken for most of the time
  const { onTrade, onOrder } = strategy.start({}, bot)
  let missed = 0
  for (; row < 10_000; row++) {
    const before = buys.length
    onTrade?.({} as never, TOKEN)
    if (buys.length === before || missed >= 50) continue
    missed++
    onOrder?.({ side: 'buy', state: 'failed' } as never, TOKEN)
  }
  expect(buys.length - missed).toBeGreaterThan(85)
  expect(buys.length - missed).toBeLessThan(115)
})

test.each([
  [2, [1, 3], 50],
  [2, [2, 2, 2], 50],
  [2, [0, 1, 2, 3], 62.5],
  [0, [1, 2], 0],
])('a result of %d, compared with the results %j, is better than %d percent of them', (own, values, percent) => {
  expect(beatenPercent(own, values)).toBe(percent)
})

test.each([
  [50, 10, 26.19],
  [50, 100, 9.61],
  [0, 100, 2.64],
  [100, 100, 2.64],
])('a share of %d percent in %d random draws has an error of %d percentage points', (percent, count, error) => {
  expect(errorPercent(percent, count)).toBeCloseTo(error, 2)
})

test('the 95 % interval contains the true percentage in about 95 % of the samples', () => {
  const random = seededRandom(1)
  const count = 40
  for (const truth of [5, 30, 50, 90]) {
    let covered = 0
    for (let sample = 0; sample < 2_000; sample++) {
      let points = 0
      for (let draw = 0; draw < count; draw++) if (random.next() * 100 < truth) points++
      const centre = ((points + 2) / (count + 4)) * 100
      if (Math.abs(centre - truth) <= errorPercent((points / count) * 100, count)) covered++
    }
    expect(covered / 2_000, `${truth} %`).toBeGreaterThan(0.93)
  }
})

/** Number of bots that buy at random. With more bots, the test takes longer and its 95 % interval is narrower. */
const BLIND_BOTS = Number(process.env.SLUICE_BLIND_BOTS ?? 4)
const BLIND_SEEDS = Number(process.env.SLUICE_BLIND_SEEDS ?? 5)

test('a bot that buys at random beats half of the random entries, whether its limit of open positions refuses buys or not', async () => {
  const strategy = folder.write(
    'blind.ts',
    `import { defineStrategy, z } from 'sluice'
export default defineStrategy({ name: 'blind', about: '', params: z.object({}), keys: ['trades'], start: (_params, bot) => ({
  onTrade(_trade, token) {
    if (token.position || token.price === undefined || bot.random() > 0.05) return
    bot.buy(token, { sol: 0.05, reason: 'blind' })
  } }) })`,
  )
  const bots = Array.from({ length: BLIND_BOTS }, (_, n) => ({
    ...{ name: `blind-${n}`, strategy, exits: { stopLossPercent: 20, maxHoldSeconds: 20 } },
    limits: { maxOpenPositions: n % 2 === 0 ? 2 : 8 },
  }))
  const { found } = await extrasFor(bots, BLIND_SEEDS, 1_000)
  const beaten = [...found.values()].map(({ random }) => random?.beatenPercent ?? Number.NaN)
  const middle = beaten.reduce((sum, one) => sum + one, 0) / beaten.length
  // For bots that buy at random, `beatenPercent` is uniformly distributed, with a standard deviation of 100 / root(12).
  expect(Math.abs(middle - 50), beaten.join(' ')).toBeLessThan((1.96 * 100) / Math.sqrt(12 * BLIND_BOTS))
})

test('a bot without buys has no random entries', async () => {
  const { found } = await extras({ params: { sizeSol: 0.06 } }) // above its limit
  expect(found?.random).toBeNull()
  expect(found?.sizes.every(({ trades, percentOfBought }) => trades === 0 && percentOfBought === null)).toBe(true)
})

const COSTS = { venueFeePercent: 0, serviceFeePercent: 0, networkFeeLamports: 1_000, deadAfterMs: 600_000 }

test.each([
  [
    'sold at its profit target',
    { takeProfitPercent: 50 },
    [
      [1, 1.2],
      [2, 1.6],
      [3, 0.1],
    ],
    0.6,
  ],
  [
    'sold at its stop-loss',
    { stopLossPercent: 20 },
    [
      [1, 0.9],
      [2, 0.5],
      [3, 5],
    ],
    -0.5,
  ],
  [
    'sold after its maximum holding time',
    { maxHoldSeconds: 2 },
    [
      [1, 1.1],
      [2, 1.3],
      [3, 5],
    ],
    0.3,
  ],
  [
    'the position would have been held to the end of the tape',
    {},
    [
      [1, 1.1],
      [2, 1.4],
    ],
    0.4,
  ],
  [
    'the position would have been sold in parts, then at its stop-loss',
    { takeProfitSteps: [{ atPercent: 20, sellPercent: 50 }], stopLossPercent: 20 },
    [
      [1, 1.5],
      [2, 0.5],
    ],
    -0.001, // one more fee
  ],
  [
    'the position would have been sold because its token had no trade for three seconds',
    { idleSeconds: 3 },
    [
      [1, 1.5],
      [5, 0.2],
    ],
    0.5,
  ],
  [
    'the position would have been sold at a profit target that depends on the age of the position',
    { takeProfitByAge: { 0: 100, 2: 20 } },
    [
      [1, 1.5],
      [4, 1.4],
      [5, 0.2],
    ],
    0.4,
  ],
  [
    'the position would have been worthless, because its token had no more trades',
    {},
    [
      [1, 1.1],
      [-700, 1],
    ],
    -1,
  ],
])('the result of a missed entry: %s', (_what, exits, prices, share) => {
  const mints = new Mints()
  const token = mints.intern('A')
  const entry: MissedEntry = {
    bot: 'b',
    mint: 'A',
    time: T0,
    lamports: 1_000_000,
    exits: { windowPrints: 5, ...exits },
  }
  const ghosts = new Ghosts(mints, [entry], new Map([['b', COSTS]]))
  ghosts.price(token, T0 - 1, 9e-8, 9e-8) // before the time of the entry
  ghosts.price(mints.intern('B'), T0, 9e-8, 9e-8)
  ghosts.price(token, T0, 5e-8, 5e-8)
  for (const [second = 0, factor = 1] of prices.filter(([at = 0]) => at > 0))
    ghosts.price(token, T0 + second * 1000, 5e-8 * factor, 5e-8 * factor)
  const dead = prices.find(([at = 0]) => at < 0)
  const net = ghosts.end(T0 + (dead === undefined ? 5 : 700) * 1000).get('b') as number
  // The comparison is not exact, because a buy of 0.001 SOL moves the price of the pool by about 0.001 %.
  expect((net + 2_000) / 1_000_000).toBeCloseTo(share, 3)
})

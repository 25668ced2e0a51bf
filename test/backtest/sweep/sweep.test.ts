import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runBacktest } from '../../../src/backtest/run.ts'
import { paramsOf, runSets } from '../../../src/backtest/sweep/run-sets.ts'
import { setsOf } from '../../../src/backtest/sweep/run-sweep.ts'
import type { SetResult, SweepSet } from '../../../src/backtest/sweep/sweep.ts'
import { SweepThreads } from '../../../src/backtest/sweep/threads.ts'
import type { Config } from '../../../src/config/config.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import type { Market } from '../../../src/journal/tape/market-tape.ts'
import { chunksOf, SharedMarket } from '../../../src/journal/tape/shared-tape.ts'
import { openTape } from '../../../src/journal/tape-files.ts'
import { conditionParams } from '../../support/condition-draws.ts'
import { journalPath } from '../../support/journal-samples.ts'
import { feed, noisyMarket, writeTape } from '../../support/recorded-tape.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const ROWS = 6_000
const folder = temporaryFolder()

/**
 * A strategy that draws random numbers, reads rarely used columns, keeps events, sets timers, has state, and uses mints
 * that are not on the tape.
 */
const CURIOUS = `import { defineStrategy, z } from 'sluice'
export default defineStrategy({ name: 'curious', about: '', keys: ['trades'],
  params: z.object({ chance: z.number().min(0).max(1), sizeSol: z.number().min(0.001).max(1).default(0.02) }),
  token: () => ({ first: undefined }),
  start: (params, bot) => { bot.every('look', 60); return {
    onTrade(trade, token) {
      token.state.first ??= trade
      bot.token('a mint that nobody trades')
      if (token.position || token.price === undefined || bot.random() > params.chance / 50) return
      if (trade.marketCap > 0 && token.state.first.trader !== 'x' && bot.fills().length < 90)
        bot.buy(token, { sol: params.sizeSol, reason: 'drawn' })
    },
    onTimer() { const [held] = bot.positions(); if (held) bot.sell(held.mint, { percent: 50, reason: 'half of it' }) },
  } },
})
`

/** A strategy whose bars depend on its params, so that each param set has other bars. */
const BARRED = `import { defineStrategy, ema, z } from 'sluice'
export default defineStrategy({ name: 'barred', about: '', keys: ['trades'],
  params: z.object({ seconds: z.number().min(1), trades: z.number().min(1) }),
  bars: ({ seconds, trades }) => ({ [seconds + 's']: 20, [trades + ' trades']: { keep: 5, silent: 'gap' } }),
  indicators: ({ seconds }) => ({ average: ema(seconds + 's', 3) }),
  start: (_params, bot) => ({ onBar(bar, token) {
    const { average } = token.indicators
    if (average === undefined || token.position || token.bars(bar.width).length < 3) return
    if (bar.close < average) bot.buy(token, { sol: 0.02, reason: 'below the average' })
  } }) })
`

/** Returns the configuration with the given bot, and the path of a tape. */
async function prepared(bot: object): Promise<{ config: Config; path: string }> {
  const path = journalPath()
  const items = noisyMarket(ROWS, 5, T0)
  const down = { time: T0 + 300_000, input: feed('down', []) }
  const live = { time: T0 + 300_000, input: feed('live', ['trades', 'newTokens', 'priceUpdates']) }
  const gap = {
    time: T0 + 300_000,
    input: { kind: 'gap', from: T0 + 299_000, to: T0 + 300_000, keys: ['trades'] } as const,
  }
  await writeTape(path, [
    { time: T0, items: [...items.slice(0, 3_000), down, live, gap, ...items.slice(3_001)] },
    { time: T0 + 1_000_000, items: noisyMarket(2_000, 6, T0 + 1_000_000) },
  ])
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const file = folder.write(
    'sweep.yaml',
    JSON.stringify({
      service,
      bots: [{ exits: { stopLossPercent: 20, trailingPercent: 15, maxHoldSeconds: 200 }, ...bot }],
    }),
  )
  const loaded = await loadConfig([file])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  return { config: loaded.config, path }
}

function setsFor({ bots: [bot] }: Config, points: readonly Record<string, number>[]): SweepSet[] {
  return points.map((point, index) => ({ set: index + 1, params: paramsOf(bot as never, point) as never }))
}

/** Returns the result of a param set in a backtest of its own. */
function alone(config: Config, market: Market, { set, params }: SweepSet, splitRow: number): SetResult {
  const [bot] = config.bots as [Config['bots'][number]]
  const { bots } = runBacktest({ ...config, bots: [{ ...bot, params }] }, market, { partial: true, splitRow })
  const [{ result, valueLamports, splitLamports }] = bots as [(typeof bots)[number]]
  return {
    ...{
      set,
      params,
      threw: '',
      netLamports: result.walletLamports + valueLamports,
      sampleLamports: splitLamports ?? 0,
    },
    ...{ orders: result.orders, buys: result.buys, sells: result.sells, open: result.positions.size },
    ...{ realizedLamports: result.realizedLamports, feeLamports: result.feeLamports, venueLamports: result.fees.venue },
  }
}

const dips = {
  bot: { name: 'dips', strategy: 'dip-buyer', params: { sizeSol: 0.05 } },
  points: [5, 10, 20].map((dropPercent) => ({ dropPercent })),
}
const curious = {
  bot: { name: 'curious', strategy: folder.write('curious.ts', CURIOUS), params: { chance: 0.5 } },
  points: [0.1, 0.5, 1].map((chance) => ({ chance })),
}
const barred = {
  bot: { name: 'barred', strategy: folder.write('barred.ts', BARRED), params: { seconds: 5, trades: 7 } },
  points: [
    { seconds: 2, trades: 7 },
    { seconds: 15, trades: 7 },
    { seconds: 15, trades: 3 },
  ],
}

/** Random conditions with averages whose lengths differ between the param sets. */
const conditions = {
  bot: {
    name: 'conditions',
    strategy: './test/support/condition-teller.ts',
    params: { ...fc.sample(conditionParams, { seed: 5, numRuns: 1 })[0], buysEvery: 3, notes: false },
    exits: { stopLossPercent: 9, takeProfitPercent: 10, maxHoldSeconds: 60 },
  },
  points: [2, 4, 6].map((window) => ({ window })),
}

test.each([
  ['a shipped strategy', dips],
  ['a strategy that draws random numbers and sets timers', curious],
  ['a strategy whose bars depend on its params', barred],
  ['a strategy of random conditions', conditions],
])(
  'a param set has the same result in its own backtest, in one engine with other sets, over shared memory and in threads: %s',
  async (_, { bot, points }) => {
    const { config, path } = await prepared(bot)
    const [base] = config.bots as [Config['bots'][number]]
    const reader = openReader(path)
    const own = openTape([path], { mapped: false })
    try {
      const market = reader.market()
      const splitRow = 5_000
      const ground = { config, bot: base, splitRow }
      const sets = setsFor(config, points)
      const expected = sets.map((set) => alone(config, market, set, splitRow))
      expect(expected.reduce((sum, { orders }) => sum + orders, 0)).toBeGreaterThan(50)
      expect(new Set(expected.map(({ netLamports }) => netLamports)).size).toBe(sets.length)
      expect(runSets(ground, sets, market)).toEqual(expected)

      const chunks = chunksOf(market)
      const shared = new SharedMarket({
        ...market,
        next: () => chunks.next().value ?? undefined,
        own: () => own,
      })
      expect(runSets(ground, sets, shared)).toEqual(expected)
      own.close() // would throw during a read

      if (['dips', 'barred'].includes(bot.name)) return // threads take a second to start, so two strategies are enough
      const parts = [sets.filter((_set, index) => index % 2 === 0), sets.filter((_set, index) => index % 2 === 1)]
      const threads = new SweepThreads(ground, { paths: [path], market }, parts.length)
      try {
        // The second pass uses the threads of the first pass. State of the first pass must not affect it.
        for (const pass of [parts, parts.toReversed()]) {
          const inThreads = await threads.run(pass, () => {})
          expect(inThreads.sort((one, other) => one.set - other.set)).toEqual(expected)
        }
      } finally {
        await threads.end()
      }
    } finally {
      reader.close()
    }
  },
)

describe('settings', () => {
  const BOT = { name: 'dips', strategy: 'dip-buyer', params: { dropPercent: 5, sizeSol: 0.05 } }
  const FIRST = { exits: { stopLossPercent: 20, maxHoldSeconds: 200 }, limits: { maxOpenPositions: 5 } }
  const POINTS = [
    { dropPercent: 5, 'exits.stopLossPercent': 2, 'limits.maxOpenPositions': 1 },
    { dropPercent: 10, 'exits.stopLossPercent': 2, 'orders.slippagePercent': 40 },
    { 'exits.stopLossPercent': 60, 'limits.maxOpenPositions': 3, 'exits.maxHoldSeconds': 20 },
  ]

  test('a param set has the same result, in one engine and in threads, as a backtest of a file with these settings', async () => {
    const { config, path } = await prepared({ ...BOT, ...FIRST })
    const [bot] = config.bots as [Config['bots'][number]]
    const reader = openReader(path)
    try {
      const market = reader.market()
      const ground = { config, bot, splitRow: 5_000 }
      const { sets, refused, varied } = await setsOf(ground, POINTS)
      expect({ sets: sets.length, refused }).toEqual({ sets: 3, refused: 0 })
      const inOneEngine = runSets(ground, sets, market, undefined, varied)
      const threads = new SweepThreads(ground, { paths: [path], market }, 2)
      const inThreads = await threads.run([sets.slice(0, 2), sets.slice(2)], () => {}).finally(() => threads.end())
      const expected = []
      for (const point of POINTS) expected.push(await resultOfFile(point, market))
      expect(new Set(expected.map((one) => JSON.stringify(one))).size).toBe(3)
      expect(inOneEngine).toMatchObject(expected)
      expect(inThreads).toMatchObject(expected)
    } finally {
      reader.close()
    }
  })

  async function resultOfFile(point: Record<string, number>, market: Market): Promise<object> {
    const { dropPercent = 5, ...settings } = point
    const bot: Record<string, Record<string, unknown>> = { ...structuredClone(FIRST) }
    for (const [name, value] of Object.entries(settings)) {
      const [section = '', key = ''] = name.split('.')
      bot[section] = { ...bot[section], [key]: value }
    }
    const { config } = await prepared({ ...BOT, ...bot, params: { dropPercent, sizeSol: 0.05 } })
    const [{ result, valueLamports }] = runBacktest(config, market, { partial: true }).bots as [
      ReturnType<typeof runBacktest>['bots'][number],
    ]
    return { netLamports: result.walletLamports + valueLamports, orders: result.orders, buys: result.buys }
  }

  test('a combination of settings that the configuration refuses counts as refused, and if all are refused, the errors are named', async () => {
    const { config } = await prepared({ ...BOT, ...FIRST })
    const [bot] = config.bots as [Config['bots'][number]]
    const [good, bad] = [
      { 'orders.slippagePercent': 5 },
      { 'limits.maxSlippagePercent': 3, 'orders.slippagePercent': 5 },
    ]
    expect(await setsOf({ config, bot }, [good, bad])).toMatchObject({ sets: [{ set: 1 }], refused: 1 })
    await expect(setsOf({ config, bot }, [bad])).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('no combination of these settings is valid'),
    })
    const strategy = await prepared({ ...BOT, exits: 'strategy' })
    const [own] = strategy.config.bots as [Config['bots'][number]]
    await expect(setsOf({ config: strategy.config, bot: own }, [{ 'exits.stopLossPercent': 5 }])).rejects.toThrow(
      'bot dips has `exits: strategy`: write its exits as separate keys',
    )
  })
})

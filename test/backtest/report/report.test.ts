import { describe, expect, test } from 'vitest'
import { BotLog } from '../../../src/backtest/bot-log.ts'
import type { BotResult } from '../../../src/backtest/bot-result.ts'
import { Ghosts } from '../../../src/backtest/metrics/ghosts.ts'
import { planUseOf } from '../../../src/backtest/metrics/plan-use.ts'
import { Excursions, TapeStudy } from '../../../src/backtest/metrics/tape-study.ts'
import { reportOf } from '../../../src/backtest/report/build-report.ts'
import { reportPage } from '../../../src/backtest/report/page.ts'
import { runBacktest } from '../../../src/backtest/run.ts'
import { backtestText } from '../../../src/commands/research/backtest-text.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { netOf } from '../../../src/engine/accounting/round-trip.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { Mints } from '../../../src/market/mints.ts'
import { anOrder } from '../../support/gateway-world.ts'
import { journalPath } from '../../support/journal-samples.ts'
import { blockOf, type MarketRow } from '../../support/market-rows.ts'
import { noisyMarket, writeTape } from '../../support/recorded-tape.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()
const exits = { stopLossPercent: 20, takeProfitPercent: 30, trailingPercent: 15, maxHoldSeconds: 300 }
const bots = [
  { name: 'dips', strategy: 'dip-buyer', params: { dropPercent: 15, sizeSol: 0.05 }, exits },
  { name: 'trend', strategy: 'momentum', params: { minVolumeSol: 0 }, exits: { maxHoldSeconds: 100_000 } },
]

const backtest = () => backtestOf(bots, noisyMarket(12_000, 3, T0))

async function backtestOf(bots: readonly object[], items: readonly MarketRow[]) {
  const path = journalPath()
  await writeTape(path, [{ time: T0, items }])
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const loaded = await loadConfig([folder.write('bots.yaml', JSON.stringify({ service, bots }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const reader = openReader(path)
  try {
    const market = reader.market()
    const plain = runBacktest(loaded.config, market, { partial: false })
    const logged = runBacktest(loaded.config, market, { partial: false, logged: true })
    return {
      plain,
      logged,
      report: reportOf(loaded.config, market, logged, { extras: new Map(), calibration: undefined }),
    }
  } finally {
    reader.close()
  }
}

test('the totals of a report agree with each other, and a run without a log of its orders has the same results', async () => {
  const { plain, logged, report } = await backtest()
  for (const [index, { result, startLamports, valueLamports, equity }] of logged.bots.entries()) {
    const before = plain.bots[index]
    expect(sumsOf(result)).toEqual(before && sumsOf(before.result))
    expect(before?.result.log).toBeUndefined()

    const log = result.log as BotLog
    const net = result.walletLamports + valueLamports
    const { trips, strayFeeLamports } = log.money
    expect(trips.length).toBeGreaterThan(10)
    expect(trips.reduce((sum, trip) => sum + netOf(trip), 0) - strayFeeLamports).toBe(net)
    expect(equity.end).toBe(startLamports + net)
    expect(equity.curve.at(-1)?.time).toBe(logged.to) // the chart ends with the tape
    expect(equity.curve.length).toBeGreaterThan(1_000)
    expect(equity.curve.length).toBeLessThan(2_100)

    const bot = report.bots[index]
    expect(bot).toMatchObject({ netSol: net / 1e9, orders: result.orders, buys: result.buys, sells: result.sells })
    expect(bot?.grossSol).toBeCloseTo((bot?.netSol ?? 0) + (bot?.costs ?? []).reduce((sum, { sol }) => sum + sol, 0), 9)
    for (const groups of [
      bot?.byEntry,
      bot?.byExit,
      bot?.byToken,
      bot?.byDay,
      bot?.byWeek,
      [bot?.inSample, bot?.holdOut],
    ]) {
      expect(groups?.reduce((sum, group) => sum + (group?.trades ?? 0), 0)).toBe(trips.length)
      const sum = groups?.reduce((total, group) => total + (group?.netSol ?? 0), 0)
      expect(sum).toBeCloseTo((net + strayFeeLamports) / 1e9, 9)
    }
    expect(bot?.fills).toHaveLength(result.buys + result.sells)
    expect(Object.values(bot?.missedEntries ?? {}).reduce((sum, count) => sum + count, 0)).toBe(
      [...log.orders.values()].filter(({ side, filledAt }) => side === 'buy' && filledAt === null).length,
    )
  }
  expect(report.tape).toMatchObject({ rows: 12_000, gaps: 1, coveragePercent: { trades: 100 } })
  expect(report.tape.noisePercent).toBeLessThan(5)
  expect(report.tape.pricedTokens).toBe(8)
  for (const { worstPercent, bestPercent } of report.bots.flatMap(({ trips }) => trips)) {
    expect(worstPercent).toBeLessThanOrEqual(0)
    expect(bestPercent).toBeGreaterThanOrEqual(0)
  }
  for (const points of Object.values(report.prices)) expect(points.length).toBeLessThanOrEqual(401)
  expect(JSON.stringify((await backtest()).report)).toBe(JSON.stringify(report))
})

test('a position that cannot be sold counts as 0, with the reason of its exit and an alarm', async () => {
  const mint = '6Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump'
  const trap = Array.from({ length: 200 }, (_, row): MarketRow => {
    return { kind: 'buy', time: T0 + row * 1_000, mint, price: (row < 30 ? 1 : 0.8) * 1e-7, sol: 0.1 }
  })
  const bot = { name: 'trapped', strategy: 'dip-buyer', params: { dropPercent: 15 }, exits: { maxHoldSeconds: 60 } }
  const { logged, report } = await backtestOf([bot], trap)
  const [result] = report.bots
  const why = expect.stringMatching(/^cannot be sold, tried [4-9] times: held for 60 s$/)
  expect(result?.trips).toMatchObject([{ closedAt: null, valueSol: 0, exitReason: why }])
  expect(result?.byExit).toMatchObject([{ name: 'cannot be sold, tried n times', trades: 1 }])
  expect(report.alarms).toEqual([expect.stringMatching(`^trapped: UNSELLABLE, ${mint}: 3 sales in a row have failed`)])
  const text = backtestText(logged)
  expect(text).toContain('worth 0 SOL if sold now; 1 of the positions cannot be sold')
  expect(text).toContain('UNSELLABLE')
})

test("the terminal summary has the figures of the report's first page", async () => {
  const { logged, report } = await backtest()
  const text = backtestText(logged, undefined, report)
  const { tape, hashes } = report
  expect(text).toContain(`first to last price of 8 tokens: mean ${tape.marketChangePercent?.toFixed(1)} %`)
  expect(text).toContain(`${tape.noisePercent?.toFixed(1)} % of the prints are noise`)
  expect(text).toContain('stress, other sizes and random entries were not played (--runs 100 plays them)')
  expect(reportPage(report)).toContain('not run (add --runs 100)')
  for (const hash of [hashes.tape, hashes.config, hashes.code, hashes.sluice, ...Object.values(hashes.strategies)])
    expect(text).toContain(hash.slice(0, 8))
  for (const { endedAtZeroPercent, inSample, holdOut } of report.bots)
    for (const part of [`${endedAtZeroPercent?.toFixed(1)} % of the trades as total losses`, inSample, holdOut])
      expect(text).toContain(typeof part === 'string' ? part : `${part.trades} trades ${part.netSol.toFixed(4)} SOL`)
})

describe('a tape', () => {
  const rows = noisyMarket(500, 9, T0)
  const study = (cuts: number[], some = rows) => {
    const mints = new Mints()
    const watchers = { ghosts: new Ghosts(mints, [], new Map()), excursions: new Excursions(mints, []) }
    const found = new TapeStudy(mints, { tradePrice: 'sol', tradeAmount: 'sol' }, new Map(), watchers)
    for (const [at, from] of cuts.entries()) {
      const part = some.slice(from, cuts[at + 1])
      found.rows(blockOf(part, mints), 0, part.length)
    }
    return { sized: found.sizedPrints, noise: found.noisePrints, change: found.marketChange() }
  }

  test('the figures of a tape do not depend on how its rows are divided into blocks', () => {
    const whole = study([0])
    expect(study([0, 1, 77, 400])).toEqual(whole)
    expect(whole.sized).toBeGreaterThan(300)
  })

  test('prints at more than twice or less than half the robust price are noise', () => {
    const at = (price: number) => ({ time: T0, mint: 'A', price })
    expect(study([0], [1, 1, 1, 2.1, 1.9, 0.4, 1].map(at))).toMatchObject({ sized: 4, noise: 2 })
  })

  test('the market change runs from the first robust price of each token to its last', () => {
    const prints = (mint: string, prices: number[]) => prices.map((price) => ({ time: T0, mint, price }))
    const rows = [
      ...prints('A', [1, 1, 1, 3, 3, 3, 3, 3]), // 1 to 3
      ...prints('B', [4, 4, 4, 2, 2, 2, 2, 2]), // 4 to 2
      ...prints('C', [1, 1, 1]),
      ...prints('D', [9, 9]), // never a robust price
    ]
    expect(study([0, 13], rows).change).toEqual({ tokens: 3, mean: 0.5, median: 0 })
    expect(study([0], prints('D', [9, 9])).change).toEqual({ tokens: 0, mean: null, median: null })
  })
})

test("the plan's use has the busiest minute, the number of orders that waited, and how long they waited", () => {
  const log = new BotLog('bot')
  const order = (id: string, side: 'buy' | 'sell', time: number, sentAt: number | null) => {
    log.order(anOrder({ id, side, class: side === 'buy' ? 'entry' : 'exit', time }))
    const known = log.orders.get(id)
    if (known !== undefined) known.sentAt = sentAt
    if (sentAt !== null) log.requestTimes.push(sentAt)
  }
  order('o1', 'buy', 0, 0)
  order('o2', 'buy', 10_000, 10_500)
  order('o3', 'sell', 58_000, 59_999)
  order('o4', 'sell', 60_000, 60_000)
  order('o5', 'buy', 61_000, null)
  log.moved('o5', 'refused', 'LIMIT_WAIT')
  expect(planUseOf(log, 6)).toEqual({
    ...{ requests: 4, peakPerMinute: 3, peakPercent: 50, delayed: 2, lateExits: 1, refused: 1 },
    ...{ medianDelayMs: 1_249.5, longestDelayMs: 1_999 },
  })
})

/** Returns everything in a result except its log and its name. */
function sumsOf(result: BotResult) {
  const { orders, buys, sells, polls, refused, ended, fees, positions } = result
  const { walletLamports, realizedLamports, feeLamports } = result
  return { orders, buys, sells, polls, refused, ended, fees, positions, walletLamports, realizedLamports, feeLamports }
}

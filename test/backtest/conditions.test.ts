import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRandom } from '../../src/base/random.ts'
import { conditionParams as params, sharedParams } from '../support/condition-draws.ts'
import teller from '../support/condition-teller.ts'
import { journalPath } from '../support/journal-samples.ts'
import type { MarketRow } from '../support/market-rows.ts'
import { feed } from '../support/recorded-tape.ts'
import { runs } from '../support/runs.ts'
import { simulateRun } from '../support/simulated-run.ts'
import {
  backtested,
  decided,
  expectReplayed,
  interrupted,
  KEYS,
  marketOf,
  recorded,
  T0,
  tellerConfig,
  textsOf,
  toldByBot,
} from '../support/teller-runs.ts'

const RUNS = runs(2)

const seed = fc.integer({ min: 1, max: 1e6 })
const configOf = (...given: readonly object[]) => tellerConfig(teller.name, ...given)

test('a condition in `when` is true at the same bars as a hand-written test in onBar, in a live run, its replay and its backtest', async () => {
  await fc.assert(
    fc.asyncProperty(params, seed, async (given, seedOfIt) => {
      const random = seededRandom(seedOfIt)
      const items = interrupted(marketOf(seedOfIt, 400), random)
      const path = journalPath()
      const config = await configOf(given)
      const live = { timerLateMs: () => 1 + random.integer(80), rowsABlock: () => 1 + random.integer(6) }
      await simulateRun(path, { time: T0, items, config, durable: false, ...live })
      const notes = textsOf(recorded(path))
      expect(textsOf(backtested(path, config))).toEqual(notes)
      expect(textsOf(backtested(path, await configOf({ ...given, byHand: true })))).toEqual(notes)
      await expectReplayed(path)
      expect(notes).not.toEqual([])
    }),
    { numRuns: RUNS },
  )
})

test('conditions are true at the same bars with and without a restart', async () => {
  await fc.assert(
    fc.asyncProperty(params, seed, async (given, seedOfIt) => {
      const random = seededRandom(seedOfIt)
      const market = interrupted(marketOf(seedOfIt, 400), random)
      const { time: stop } = market[market.length - 100 - random.integer(50)] as MarketRow
      const end = stop + random.integer(20_000)
      const again = end + 1 + random.integer(60_000)
      const path = journalPath()
      const config = await configOf(given)
      const part = (begin: number, until: number) => ({
        ...{ time: begin, config, durable: false },
        items: market.filter(({ time }) => time >= begin && time <= until),
      })
      const first = part(T0, stop)
      await simulateRun(path, { ...first, items: [...first.items, { time: end, input: feed('live', KEYS) }] })
      await simulateRun(path, part(again, Number.POSITIVE_INFINITY))
      const isSeen = ({ time }: { readonly time: number }): boolean => time <= end || time > again
      const seen = textsOf(backtested(path, config).filter(isSeen))
      expect(textsOf(recorded(path).filter(isSeen))).toEqual(seen)
      expect(textsOf(backtested(path, await configOf({ ...given, byHand: true })).filter(isSeen))).toEqual(seen)
      await expectReplayed(path)
    }),
    { numRuns: RUNS },
  )
})

test('the replay of a run that buys on conditions, and was restarted, makes the same decisions', async () => {
  await fc.assert(
    fc.asyncProperty(params, seed, async (given, seedOfIt) => {
      const rows = marketOf(seedOfIt, 300)
      const cut = (rows[100 + seededRandom(seedOfIt).integer(100)] as MarketRow).time
      const path = journalPath()
      const config = await configOf({ ...given, buysEvery: 2 })
      for (const [time, items] of [
        [T0, rows.filter((row) => row.time < cut)],
        [cut + 20_000, rows.filter((row) => row.time >= cut + 20_000)],
      ] as const)
        await simulateRun(path, { time, items, config, durable: false, rowsACommit: 7 })
      await expectReplayed(path)
    }),
    { numRuns: RUNS },
  )
})

test('a bot with conditions makes the same decisions with and without a handler of trades', async () => {
  let orders = 0
  await fc.assert(
    fc.asyncProperty(params, seed, async (given, seedOfIt) => {
      const path = journalPath()
      const config = await configOf({ ...given, buysEvery: 3 })
      const items = interrupted(marketOf(seedOfIt, 300), seededRandom(seedOfIt))
      await simulateRun(path, { time: T0, items, config, durable: false })
      const decisions = decided(path, config)
      expect(decisions).toEqual(decided(path, await configOf({ ...given, buysEvery: 3, handlesTrades: true })))
      orders += decisions.filter((text) => text.includes('"order"')).length
    }),
    { numRuns: RUNS },
  )
  expect(orders).toBeGreaterThan(0)
})

test('bots that share bars, indicators and conditions see the same as each of them alone, also after one of them has ended', async () => {
  let ended = 0
  await fc.assert(
    fc.asyncProperty(sharedParams, fc.integer({ min: 1, max: 60 }), seed, async (drawn, throwsAt, seedOfIt) => {
      const path = journalPath()
      const [first, ...others] = drawn as [object, ...object[]]
      const given = [{ ...first, throwsAt }, ...others]
      const items = interrupted(marketOf(seedOfIt, 300), seededRandom(seedOfIt))
      await simulateRun(path, { time: T0, items, config: await configOf(given[0] as object), durable: false })
      const together = [...toldByBot(path, await configOf(...given)).values()]
      for (const [index, params] of given.entries())
        expect(together[index]).toEqual([...toldByBot(path, await configOf(params)).values()][0])
      if (together[0]?.some((text) => text.includes('STRATEGY_THREW'))) ended++
      expect(Math.min(...together.map(({ length }) => length))).toBeGreaterThan(0)
    }),
    { numRuns: 2 * RUNS },
  )
  expect(ended).toBeGreaterThan(0)
})

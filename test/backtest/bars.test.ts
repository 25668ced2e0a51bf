import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRandom } from '../../src/base/random.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import type { SegmentItem } from '../../src/journal/tape/recorded-segments.ts'
import { Mints } from '../../src/market/mints.ts'
import { journalPath } from '../support/journal-samples.ts'
import type { MarketRow } from '../support/market-rows.ts'
import { feed } from '../support/recorded-tape.ts'
import { runs } from '../support/runs.ts'
import { simulateRun } from '../support/simulated-run.ts'
import {
  backtested,
  expectReplayed,
  interrupted,
  KEYS,
  marketOf,
  recorded,
  T0,
  tellerConfig,
  textsOf,
} from '../support/teller-runs.ts'

const RUNS = runs(2)
const configOf = (given: object) => tellerConfig('bar-teller', given)

const kept = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.record({ keep: fc.integer({ min: 1, max: 40 }), silent: fc.constantFrom('fill', 'gap') }),
)
const params = fc.record({
  bars: fc
    .uniqueArray(fc.constantFrom('1s', '7s', '15s', '1m', '1 trade', '10 trades', '0.5 SOL', '5 SOL'), {
      minLength: 1,
      maxLength: 4,
    })
    .chain((widths) => fc.record(Object.fromEntries(widths.map((width) => [width, kept])))),
  window: fc.integer({ min: 2, max: 12 }),
  readsEvery: fc.integer({ min: 1, max: 60 }),
})
const seed = fc.integer({ min: 1, max: 1e6 })

test('a run whose timers are late, its replay and its backtest have the same bars, bar lists and indicators', async () => {
  await fc.assert(
    fc.asyncProperty(params, seed, async (given, seedOfIt) => {
      const random = seededRandom(seedOfIt)
      const items = interrupted(marketOf(seedOfIt, 400), random)
      const path = journalPath()
      const config = await configOf(given)
      await simulateRun(path, { time: T0, items, config, durable: false, timerLateMs: () => 1 + random.integer(80) })
      const notes = recorded(path)
      expect(notes.length).toBeGreaterThan(10)
      expect(textsOf(notes)).toEqual(textsOf(backtested(path, config)))
      await expectReplayed(path)
    }),
    { numRuns: RUNS },
  )
})

test('after a restart, the bars equal those of a run without a restart, and requests during the warm-up are discarded', async () => {
  await fc.assert(
    fc.asyncProperty(params, seed, async (given, seedOfIt) => {
      const random = seededRandom(seedOfIt)
      const market = interrupted(marketOf(seedOfIt, 400), random)
      const { time: stop } = market[market.length - 50 - random.integer(50)] as MarketRow
      const end = stop + random.integer(20_000) // the recording may go on after its last row
      const again = end + 1 + random.integer(60_000)
      const path = journalPath()
      const config = await configOf({ ...given, readsEvery: 1 })
      const part = (begin: number, end: number) => ({
        ...{ time: begin, config, durable: false },
        items: market.filter(({ time }) => time >= begin && time <= end),
      })
      const first = part(T0, stop)
      await simulateRun(path, { ...first, items: [...first.items, { time: end, input: feed('live', KEYS) }] })
      await simulateRun(path, part(again, Number.POSITIVE_INFINITY))
      const seen = backtested(path, config).filter(({ time }) => time <= end || time > again)
      const notes = recorded(path).filter(({ time }) => time <= end || time > again)
      expect(textsOf(notes)).toEqual(textsOf(seen))
      await expectReplayed(path)
    }),
    { numRuns: RUNS },
  )
})

test('the replay of a run that buys at bars, and that was killed and started again, makes the same decisions', async () => {
  let orders = 0 // over all runs, because few wide bars may be too few for a buy
  await fc.assert(
    fc.asyncProperty(params, seed, async (given, seedOfIt) => {
      const rows = marketOf(seedOfIt, 300)
      const random = seededRandom(seedOfIt)
      const cut = (rows[100 + random.integer(100)] as MarketRow).time
      const path = journalPath()
      const config = await configOf({ ...given, buysEvery: 3, everySeconds: 5 })
      const timerLateMs = (): number => 1 + random.integer(80)
      for (const [time, items] of [
        [T0, rows.filter((row) => row.time < cut)],
        [cut + 20_000, rows.filter((row) => row.time >= cut + 20_000)],
      ] as const)
        await simulateRun(path, { time, items, config, durable: false, timerLateMs, rowsACommit: 7 })
      await expectReplayed(path)
      const reader = openReader(path)
      const items = reader.segments().flatMap((segment) => [...reader.replay(segment, new Mints())])
      orders += items.filter(isOrder).length
      reader.close()
    }),
    { numRuns: RUNS },
  )
  expect(orders).toBeGreaterThan(0)
})

const isOrder = (item: SegmentItem): boolean => item.kind === 'output' && item.output.kind === 'order'

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRandom } from '../../src/base/random.ts'
import teller from '../support/condition-teller.ts'
import type { Tree } from '../support/condition-tree.ts'
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

const kept = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.record({ keep: fc.integer({ min: 1, max: 40 }), silent: fc.constantFrom('fill', 'gap') }),
)

/** Random conditions over these widths. Operands that are compared have the same unit, so that many conditions are
 *  true at some bars. */
function conditionsOver(widths: readonly string[]): fc.Arbitrary<Tree> {
  const width = fc.constantFrom(...widths)
  const price = fc.oneof(
    fc.tuple(fc.constant('figure'), width, fc.constantFrom('open', 'high', 'low', 'close')),
    ...['ema', 'sma'].map((name) => width.map((of) => ['value', `${name} ${of}`, ''] as const)),
    fc
      .tuple(width, fc.constantFrom('lower', 'middle', 'upper'))
      .map(([of, field]) => ['value', `bands ${of}`, field] as const),
  )
  const change = fc
    .tuple(width, fc.constantFrom('macd', 'signal', 'histogram'))
    .map(([of, field]) => ['value', `macd ${of}`, field] as const)
  const count = fc.oneof(
    fc.integer({ min: 0, max: 3 }),
    width.map((of) => ['value', `rising ${of}`, ''] as const),
    fc.tuple(fc.constant('figure'), width, fc.constantFrom('trades', 'buys', 'sells', 'volumeSol')),
    width.map((of) => ['value', `volume ${of}`, ''] as const),
    fc.tuple(fc.constant('over'), price, price),
  )
  const sum = fc.oneof(
    price,
    fc.tuple(fc.constant('plus'), price, change),
    fc.tuple(fc.constant('times'), price, count),
  )
  const difference = fc.oneof(change, fc.constant(0), fc.tuple(fc.constant('minus'), price, price))
  const pair = fc.oneof(fc.tuple(sum, sum), fc.tuple(difference, difference), fc.tuple(count, count))
  const kind = fc.constantFrom('above', 'below', 'crosses', 'crossesAbove', 'crossesBelow')
  const comparison = fc.tuple(kind, pair).map(([of, [a, b]]) => [of, a, b] as const)
  return fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { weight: 3, arbitrary: comparison as fc.Arbitrary<Tree> },
      { weight: 1, arbitrary: tie('tree').map((part) => ['not', part] as const) },
      {
        weight: 2,
        arbitrary: fc
          .tuple(fc.constantFrom('all', 'any'), fc.array(tie('tree'), { minLength: 1, maxLength: 3 }))
          .map(([of, parts]) => [of, ...parts] as const),
      },
    ),
  })).tree
}

/** Whether a tree reads a bar at all. */
const reads = (tree: Tree): boolean => /figure|value/.test(JSON.stringify(tree))

const params = fc
  .uniqueArray(fc.constantFrom('1s', '7s', '15s', '1m', '1 trade', '10 trades', '0.5 SOL'), {
    minLength: 1,
    maxLength: 3,
  })
  .chain((widths) =>
    fc.record({
      bars: fc.record(Object.fromEntries(widths.map((width) => [width, kept]))),
      window: fc.integer({ min: 2, max: 6 }),
      conditions: fc
        .array(conditionsOver(widths).filter(reads), { minLength: 3, maxLength: 6 })
        // One condition is true at each bar, so that every run has notes.
        .map((trees) => [...trees, ['above', ['figure', widths[0] as string, 'close'], 0] as const])
        .map((trees) => Object.fromEntries(trees.map((tree, index) => [`c${index}`, tree]))),
    }),
  )
const seed = fc.integer({ min: 1, max: 1e6 })
const configOf = (given: object) => tellerConfig(teller.name, given)

test('conditions are true where the same tests by hand in onBar are: live with late timers, replayed, in a backtest', async () => {
  await fc.assert(
    fc.asyncProperty(params, seed, async (given, seedOfIt) => {
      const random = seededRandom(seedOfIt)
      const items = interrupted(marketOf(seedOfIt, 400), random)
      const path = journalPath()
      const config = await configOf(given)
      await simulateRun(path, { time: T0, items, config, durable: false, timerLateMs: () => 1 + random.integer(80) })
      const notes = textsOf(recorded(path))
      expect(textsOf(backtested(path, config))).toEqual(notes)
      expect(textsOf(backtested(path, await configOf({ ...given, byHand: true })))).toEqual(notes)
      await expectReplayed(path)
      expect(notes).not.toEqual([])
    }),
    { numRuns: RUNS },
  )
})

test('after a restart, conditions are true where they are without one', async () => {
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

test('a run that buys where conditions are true, and is started again, is repeated by its replay', async () => {
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

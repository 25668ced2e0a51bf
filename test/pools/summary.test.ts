import { expect, test } from 'vitest'
import type { Comparison } from '../../bench/pools/compare.ts'
import { recordOf } from '../../bench/pools/record.ts'
import { misses, roughMisses, summaryOf } from '../../bench/pools/summary.ts'

const NONE = { refused: 0, fillable: 0, resultLamports: 0 }

/** Returns runs of one bot, each with 100 SOL traded. `differences`: simulated minus exact profit of each run, SOL. */
function runsOf(bot: string, differences: readonly number[]): Comparison[] {
  return differences.map((difference, seed) => ({
    ...{ bot, seed, place: 'middle', fills: 10, tradedLamports: 100e9, ledgers: new Map(), refusals: NONE },
    ...{ simulatedLamports: 5e9 + difference * 1e9, exactLamports: 5e9 },
  }))
}

const spread = (middle: number): number[] => Array.from({ length: 20 }, (_, at) => middle + (at % 2 === 0 ? 1 : -1))

test("the upper bound of a bot's mean difference is the end of the interval of Student's t-distribution over the seeds", () => {
  const [summary] = summaryOf(runsOf('a', spread(-0.3)))
  expect(summary?.differenceSol).toBeCloseTo(-0.3, 9)
  // With 20 seeds (19 degrees of freedom), the interval ends 2.093 standard errors above the mean. The standard
  // deviation of these differences is sqrt(20 / 19).
  expect(summary?.upperSol).toBeCloseTo(-0.3 + (2.093 * Math.sqrt(20 / 19)) / Math.sqrt(20), 3)
  expect(summary?.pessimismPercent).toBeCloseTo(0.3, 9)
})

test('a bot misses the goal if its simulated profit may be above the exact one, even if it is below on average', () => {
  expect(misses(summaryOf(runsOf('a', spread(-0.3))))).toHaveLength(1)
  expect(misses(summaryOf(runsOf('a', spread(-0.6))))).toEqual([])
})

test('a simulated profit that is too low breaks the goal only for the bot with random entries, from 3 % on', () => {
  expect(misses(summaryOf(runsOf('random-entries', spread(-3.1))))).toEqual([
    'random-entries, middle of the slot: the model is too pessimistic by 3.10 % of the SOL traded; 3 % are allowed',
  ])
  expect(misses(summaryOf(runsOf('random-entries', spread(-2.9))))).toEqual([])
  expect(misses(summaryOf(runsOf('a', spread(-50))))).toEqual([])
})

test('with two seeds, a bot misses the goal if its simulated profit is too high by more than 3 % of the SOL traded', () => {
  expect(roughMisses(summaryOf(runsOf('a', [4, 3])))).toHaveLength(1)
  expect(roughMisses(summaryOf(runsOf('a', [3, 2])))).toEqual([])
})

test('the record names the bots whose simulated profit may be too high, or the closest bot if there is none', () => {
  const summaries = summaryOf([
    ...runsOf('a', spread(-2)),
    ...runsOf('b', spread(-1)),
    ...runsOf('random-entries', spread(-2.5)),
  ])
  const record = recordOf(summaries, { seeds: 20, date: '2026-11-23', code: 'c0de' })
  expect(record).toMatchObject({ seeds: 20, code: 'c0de', bots: 3, fills: 600, flattered: [], upperBot: 'b' })
  expect(record.upperPercent).toBeCloseTo(-1 + 0.48, 2)
  expect(record.randomPessimismPercent).toBeCloseTo(2.5, 9)
  const both = summaryOf([...runsOf('random-entries', [1, 1]), ...runsOf('a', spread(0))])
  const flattering = recordOf(both, { seeds: 2, date: '', code: '' })
  expect(flattering.flattered).toEqual(['random-entries', 'a'])
})

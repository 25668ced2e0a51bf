import { describe, expect, test } from 'vitest'
import { compareRuns, firstDifference, type RunFacts } from '../../../src/backtest/report/comparison.ts'
import type { Decision } from '../../../src/engine/replay/compare-decisions.ts'

const facts = (made: Record<string, string>, results: Record<string, Record<string, number>>): RunFacts => ({
  source: 'report',
  made: new Map(Object.entries(made)),
  results: new Map(Object.entries(results).map(([bot, numbers]) => [bot, new Map(Object.entries(numbers))])),
})

test('the comparison of two runs lists different facts, also facts of only one run, and both results of each bot', () => {
  const a = facts({ code: 'x', plan: 'Standard', 'bot size': '1' }, { bot: { net: 1, orders: 3 }, gone: { net: 2 } })
  const b = facts({ code: 'x', plan: 'Premium' }, { bot: { net: 4, orders: 3 } })
  expect(compareRuns(a, b)).toEqual({
    differences: [
      { what: 'plan', a: 'Standard', b: 'Premium' },
      { what: 'bot size', a: '1', b: null },
    ],
    notes: [],
    bots: [
      {
        bot: 'bot',
        results: [
          { what: 'net', a: 1, b: 4 },
          { what: 'orders', a: 3, b: 3 },
        ],
      },
      { bot: 'gone', results: [{ what: 'net', a: 2, b: null }] },
    ],
  })
})

test('facts that only a report or only a journal can contain do not count as differences', () => {
  const report = facts({ code: 'x', tape: 't' }, {})
  const journal: RunFacts = { ...facts({ code: 'y', 'bot mode': 'paper' }, {}), source: 'journal' }
  expect(compareRuns(report, journal).differences).toEqual([{ what: 'code', a: 'x', b: 'y' }])
})

describe('the comparison names the first decision that differs', () => {
  const at = (time: number, more: Partial<Decision> = {}): Decision => ({
    ...{ time, kind: 'order', bot: 'b', mint: 'm', code: '', reason: 'r', ...more },
  })

  test.each<[string, Decision[], Decision[], number, number | null, number | null]>([
    ['both runs make the same decisions', [at(1), at(2)], [at(1), at(2)], 2, null, null],
    ['both runs make no decision', [], [], 0, null, null],
    ['one run makes one more decision', [at(1)], [at(1), at(2)], 1, null, 2],
    ['a decision has another time', [at(1), at(2)], [at(1), at(3)], 1, 2, 3],
    ['a decision has another reason', [at(1, { reason: 'x' })], [at(1)], 0, 1, 1],
    ['a decision belongs to another bot', [at(1, { bot: 'x' })], [at(1)], 0, 1, 1],
    ['a decision has another code', [at(1), at(2, { code: 'LIMIT' })], [at(1), at(2)], 1, 2, 2],
    ['a decision belongs to another mint', [at(1, { mint: 'x' })], [at(1)], 0, 1, 1],
    ['a decision has another kind', [at(1, { kind: 'note' })], [at(1)], 0, 1, 1],
  ])('the first different decision of two runs: %s', (_name, a, b, equal, first, second) => {
    const found = firstDifference(a, b)
    expect([found.equal, found.a?.time ?? null, found.b?.time ?? null]).toEqual([equal, first, second])
  })
})

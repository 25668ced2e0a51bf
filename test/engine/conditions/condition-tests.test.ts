import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Test } from '../../../src/engine/conditions/condition.ts'
import type { Estimates } from '../../../src/engine/conditions/condition-numbers.ts'
import { ConditionTests } from '../../../src/engine/conditions/condition-tests.ts'
import { IndicatorMemory } from '../../../src/engine/indicators/indicator-memory.ts'
import type { NumberIndicator } from '../../../src/engine/indicators/number-indicator.ts'
import { sma } from '../../../src/index.ts'

const NEXT = 2 ** -52
/** Bars. Each bar opens at `of` x 10^(`size` / 6). Its close is higher by `bits` steps of the last bit of a double. */
const values = fc.array(
  fc.record({
    size: fc.integer({ min: -30, max: 30 }),
    of: fc.integer({ min: 1, max: 7 }),
    bits: fc.integer({ min: -2, max: 2 }),
  }),
  { minLength: 60, maxLength: 200 },
)

test('averages that are equal, or differ only in their last bits, are compared by their exact values', () => {
  let [ties, estimated] = [0, 0]
  fc.assert(
    fc.property(values, fc.integer({ min: 2, max: 40 }), (all, bars) => {
      const means = [sma('1m', bars, 'open'), sma('1m', bars, 'close')] as unknown as NumberIndicator<number>[]
      const memory = new IndicatorMemory(means)
      const read = new Float64Array(2)
      const estimates = new Float64Array(4)
      const by = { estimateAll: memory.estimateAll.bind(memory) }
      const numberOf = (name: string): number => {
        memory.load(0, Number(name), 0, read, 0)
        return read[0] as number
      }
      const rangeOf = (place: number): readonly [number, number] => {
        memory.estimateAll(0, [0, 1], estimates, 0)
        return [estimates[2 * place] as number, estimates[2 * place + 1] as number]
      }
      const testsOf = (isEstimated: boolean): ConditionTests<undefined> => {
        const tests = new ConditionTests<undefined>()
        const [left, right] = ['0', '1'].map((name) => ({ kind: 'indicator', name, field: '' }) as const)
        for (const kind of ['above', 'below', 'crosses'] as const)
          tests.add(
            undefined,
            { name: kind, test: { kind, left, right } as Test },
            {
              figure: () => ({ key: '', load: () => {} }),
              indicator: (name) => ({
                key: name,
                load: (token, to, at) => memory.load(token, Number(name), 0, to, at),
                ...(isEstimated && { estimated: { by, index: Number(name) } }),
              }),
            },
          )
        return tests
      }
      const [exact, quick] = [testsOf(false), testsOf(true)]
      for (const [count, { size, of, bits }] of all.entries()) {
        const open = of * 10 ** (size / 6)
        memory.add(0, Float64Array.of(open, open, open, open * (1 + bits * NEXT), 0, 1, 0, 0), 0)
        const results = [exact, quick].map((tests) =>
          Array.from({ length: tests.test(0) }, (_, index) => tests.nameOf(index)),
        )
        expect(results[1]).toEqual(results[0])
        if (count + 1 < bars) continue
        const ranges = means.map((_mean, place) => rangeOf(place))
        for (const [place, [lowest, highest]] of ranges.entries()) {
          expect(numberOf(`${place}`)).toBeGreaterThanOrEqual(lowest)
          expect(numberOf(`${place}`)).toBeLessThanOrEqual(highest)
          if (lowest < highest) estimated++
        }
        if (numberOf('0') === numberOf('1')) ties++
      }
    }),
    { numRuns: 50 },
  )
  expect(Math.min(ties, estimated)).toBeGreaterThan(10)
})

test('only the numbers that a condition reads are estimated', () => {
  const asked: (readonly number[])[] = []
  const by: Estimates = {
    estimateAll(_token, indexes, to, at) {
      asked.push(indexes)
      to.set([5, 5], at)
    },
  }
  const table = new ConditionTests<undefined>()
  const left = { kind: 'indicator', name: 'average', field: '' } as const
  table.add(
    undefined,
    { name: 'when', test: { kind: 'above', left, right: { kind: 'number', value: 4 } } },
    {
      figure: () => ({ key: '', load: () => {} }),
      indicator: (key) => ({ key, load: () => {}, estimated: { by, index: 7 } }),
    },
  )
  expect(table.test(0)).toBe(1)
  expect(asked).toEqual([[7]])
})

test('true conditions are listed in the order in which they were added, whether they are simple or combined', () => {
  const table = new ConditionTests<string>()
  const source = { figure: () => ({ key: '', load: () => {} }), indicator: (key: string) => ({ key, load: () => {} }) }
  const number = (value: number) => ({ kind: 'number', value }) as const
  const below = { kind: 'below', left: number(1), right: number(2) } as const
  const above = { kind: 'above', left: number(3), right: number(2) } as const
  const added: [string, Test][] = [
    ['first', { kind: 'all', of: [above, below] }],
    ['second', above],
    ['false', { kind: 'not', of: [above] }],
    ['third', below],
    ['fourth', { kind: 'any', of: [above] }],
    ...Array.from({ length: 60 }, (_, index): [string, Test] => [`more ${index}`, index % 2 === 0 ? below : above]),
  ]
  for (const [name, test] of added) table.add(name, { name, test }, source)
  const found = Array.from({ length: table.test(0) }, (_, index) => [table.ownerOf(index), ...table.nameOf(index)])
  expect(found).toEqual(added.filter(([name]) => name !== 'false').map(([name]) => [name, name]))
})

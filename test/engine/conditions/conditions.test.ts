import { expect, test } from 'vitest'
import {
  above,
  all,
  below,
  bollinger,
  type Condition,
  crosses,
  crossesAbove,
  crossesBelow,
  defineStrategy,
  figure,
  not,
  over,
  sma,
  times,
  z,
} from '../../../src/index.ts'
import { testStrategy } from '../../../src/testing.ts'

const PRICE = 1e-7

/**
 * Plays bars of one trade with these closes, in units of `PRICE`. Returns the closes of the bars at which the condition
 * was true. The condition reads the closes and their averages.
 */
function heldAt(closes: readonly number[], when: (of: ReturnType<typeof operands>) => Condition): number[] {
  const held: number[] = []
  const strategy = defineStrategy({
    ...{ name: 'held', about: '', params: z.object({}), keys: ['trades'], bars: { '1 trade': 1 } },
    indicators: () => ({ average: sma('1 trade', 2), bands: bollinger('1 trade', 2, 1) }),
    when: ({ average, bands }) => when(operands(average, bands)),
    start: () => ({ onCondition: ({ close }) => void held.push(Math.round(close / PRICE)) }),
  })
  const rig = testStrategy(strategy)
  // The robust price is the median of five prints. Each close is therefore printed until it is the robust price.
  for (const close of closes) rig.settle(close * PRICE, { sol: 1 })
  return [...new Set(held)]
}

const operands = <A, B>(average: A, bands: B) => ({ close: figure('1 trade'), average, bands })

test.each<[string, (of: ReturnType<typeof operands>) => Condition, readonly number[]]>([
  ['above', ({ close }) => above(close, 3 * PRICE), [5, 4]],
  ['below', ({ close }) => below(close, 3 * PRICE), [1, 2]],
  ['not', ({ close }) => not(below(close, 3 * PRICE)), [3, 5, 4]],
  ['all', ({ close }) => all(above(close, PRICE), below(close, 4 * PRICE)), [3, 2]],
  ['crossesAbove', ({ close }) => crossesAbove(close, 2.5 * PRICE), [3]],
  ['crossesBelow', ({ close }) => crossesBelow(close, times(2, 1.25 * PRICE)), [2]],
  ['crosses', ({ close }) => crosses(over(close, PRICE), 2.5), [3, 2]],
])('%s', (_name, when, expected) => {
  expect(heldAt([1, 3, 5, 4, 2], when)).toEqual(expected)
})

test('a condition is neither true nor false while one of its values is missing or divided by 0', () => {
  const missing = ({ close }: { close: ReturnType<typeof figure> }) => above(over(close, 0), 1)
  expect(heldAt([1, 2, 3], missing)).toEqual([])
  expect(heldAt([1, 2, 3], (of) => not(missing(of)))).toEqual([])
})

test('a condition over two widths is not tested again when the wider bar closes after a pause without prints', () => {
  const held: string[] = []
  const strategy = defineStrategy({
    ...{ name: 'pauses', about: '', params: z.object({}), keys: ['trades'], bars: { '10s': 1, '1m': 1 } },
    when: () => ({
      isAbove: above(figure('10s'), figure('1m')),
      crossed: crossesAbove(figure('10s'), figure('1m')),
    }),
    start: () => ({ onCondition: ({ close }, _token, name) => void held.push(`${name} ${Math.round(close / PRICE)}`) }),
  })
  const rig = testStrategy(strategy)
  for (const close of [1, 2, 3]) {
    rig.bar('10s', { close: close * PRICE })
    rig.advance(60)
  }
  // A test at the end of the minute would find equal closes, and the next bar would then cross.
  expect(held).toEqual(['isAbove 2', 'isAbove 3'])
})

test('onCondition is called after onBar, with the name of each true condition, and the indicators include this bar', () => {
  const calls: string[] = []
  const strategy = defineStrategy({
    ...{ name: 'order', about: '', params: z.object({ least: z.number().default(2) }), keys: ['trades'] },
    bars: { '3 trades': 1, '1 trade': 1 },
    indicators: () => ({ average: sma('1 trade', 1), bands: bollinger('1 trade', 2, 1) }),
    when: ({ average, bands }, { least }) => ({
      second: above(average, least * PRICE),
      first: all(not(above(average, least * PRICE)), below(bands.lower, 9)),
    }),
    start: () => ({
      onBar: ({ width }) => void calls.push(width),
      onCondition: ({ close }, { indicators }, name) => {
        const isFirst: boolean = name === 'first'
        calls.push(`${name} ${isFirst} ${close === indicators.average}`)
      },
    }),
  })
  const rig = testStrategy(strategy)
  for (const price of [1, 1, 1, 1, 3, 3, 3]) rig.trade({ price: price * PRICE, sol: 1 })
  expect(calls).toEqual([
    ...['3 trades', '1 trade'],
    ...['1 trade', 'first true true'],
    ...['1 trade', 'first true true'],
    ...['3 trades', '1 trade', 'first true true'],
    ...['1 trade', 'second false true'],
  ])
})

test('a strategy ends at its start if it has conditions but no onCondition, or onCondition but no conditions', () => {
  const plain = { name: 'lone', about: '', params: z.object({}), keys: ['trades'], bars: { '1m': 1 } } as const
  const lone = defineStrategy({ ...plain, when: () => above(figure('1m'), 1), start: () => ({}) })
  const idle = defineStrategy({ ...plain, start: () => ({ onCondition: () => {} }) })
  for (const [strategy, text] of [
    [lone, '`when` declares conditions, but `start` returns no `onCondition`'],
    [idle, '`onCondition` is never called, because the strategy declares no `when`'],
  ] as const)
    expect(() => testStrategy(strategy as never).trade({ price: PRICE })).toThrow(text)
})

test('if the value of an indicator that the strategy defines is no number, the strategy ends at the first bar that needs it', () => {
  const strategy = defineStrategy({
    ...{ name: 'own', about: '', params: z.object({}), keys: ['trades'], bars: { '1 trade': 1 } },
    indicators: () => ({ own: { width: '1 trade', create: () => ({ add() {}, value: { deep: 1 } }) } as const }),
    when: ({ own }) => above((own as never)['shallow'], 1),
    start: () => ({ onCondition() {} }),
  })
  const rig = testStrategy(strategy)
  expect(() => rig.settle(PRICE, { sol: 1 })).toThrow("when: the indicator own has no number 'shallow'")
})

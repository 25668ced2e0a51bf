import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventAge } from '../../src/market/event-age.ts'
import { LiveBlock } from '../../src/market/live-block.ts'
import { Prices } from '../../src/market/price.ts'
import type { UnitSettings } from '../../src/market/unit-proof.ts'

const IN_SOL: UnitSettings = { tradePrice: 'auto', tradeAmount: 'sol' }
const TO_BE_PROVED: UnitSettings = { tradePrice: 'auto', tradeAmount: 'auto' }

interface Print {
  readonly price: number
  readonly sol?: number
  /** The price that the feed quotes with the trade; NaN if there is none. */
  readonly quoted?: number
}

/** Returns the robust price after each print of one token. */
function pricesAfter(prints: readonly Print[], units = IN_SOL, prices = new Prices(units)): (number | undefined)[] {
  const block = new LiveBlock([], Math.max(1, prints.length))
  return prints.map(({ price, sol = 1, quoted = price }, row) => {
    const numbers = { price: quoted, amount: sol, size: sol / price, marketCap: 0, extra: 0, extra2: 0 }
    block.append(row, row, 0, 7, numbers, '', '')
    prices.fold(block, row, 7)
    const at = prices.at(7)
    return at === undefined ? undefined : Number(at.toPrecision(9))
  })
}
const of = (...prices: number[]): Print[] => prices.map((price) => ({ price }))

describe('the robust price', () => {
  const tables: [name: string, prints: Print[], prices: (number | undefined)[]][] = [
    ['needs three prints', of(1, 2, 3), [undefined, undefined, 2]],
    [
      'the robust price is the median of the last five prints',
      of(5, 1, 4, 2, 3, 9, 9),
      [undefined, undefined, 4, 4, 3, 3, 4],
    ],
    [
      'with four or five prints in all, the robust price does not follow the newest two',
      of(1, 1, 1, 9, 9),
      [undefined, undefined, 1, 1, 1],
    ],
    [
      'the robust price follows a jump at its third print',
      of(1, 1, 1, 1, 1, 9, 9, 9),
      [undefined, undefined, 1, 1, 1, 1, 1, 9],
    ],
    [
      'the robust price follows a fall at its third print',
      of(9, 9, 9, 9, 9, 1, 1, 1),
      [undefined, undefined, 9, 9, 9, 9, 9, 1],
    ],
    [
      'single prints do not move the robust price, no matter how wrong they are',
      of(1, 1, 1, 100, 1, 0.01, 1),
      [undefined, undefined, 1, 1, 1, 1, 1],
    ],
  ]
  it.each(tables)('%s', (_name, prints, prices) => {
    expect(pricesAfter(prints)).toEqual(prices)
  })

  const nothing: [name: string, print: Print][] = [
    ['a print below the minimum size', { price: 9, sol: 0.0099 }],
    ['a print of an impossibly large amount', { price: 9, sol: 2e5 }],
    ['a print of a negative amount', { price: 9, sol: -1 }],
    ['a print of an amount of NaN', { price: 9, sol: Number.NaN }],
    ['a print of an infinite amount', { price: 9, sol: Number.POSITIVE_INFINITY }],
    ['a print of 0 tokens', { price: Number.POSITIVE_INFINITY }],
    ['a print of infinitely many tokens', { price: 0 }],
    ['a print of an impossibly high price', { price: 1.1e9 }],
    ['a print of a negative price', { price: -9 }],
    ['a print of a price that is not a number', { price: Number.NaN }],
  ]
  it.each(nothing)('the robust price ignores %s', (_name, print) => {
    expect(pricesAfter([...of(1, 1, 1), print, print, print]).at(-1)).toBe(1)
  })

  it('a print of exactly the minimum size counts', () => {
    expect(pricesAfter([...of(1, 1, 1), ...Array(3).fill({ price: 9, sol: 0.01 })]).at(-1)).toBe(9)
  })

  it('two wrong prints of five, however wrong, do not move the robust price', () => {
    const noise = fc.double({ min: 1e-6, max: 1e6, noNaN: true })
    fc.assert(
      fc.property(fc.array(fc.tuple(noise, noise), { maxLength: 12 }), (pairs) => {
        const prints = [1, 1, 1, ...pairs.flatMap(([one, other]) => [one, other, 1, 1, 1])]
        for (const price of pricesAfter(of(...prints)).slice(2)) expect(price).toBe(1)
      }),
    )
  })

  it('the robust price is the median of the prints in any order, also if some are equal', () => {
    const few = fc.integer({ min: 1, max: 5 })
    fc.assert(
      fc.property(fc.array(few, { minLength: 3, maxLength: 9 }), (prints) => {
        const median = (last: number[]) => last.sort((a, b) => a - b)[(last.length - 1) / 2]
        const expected = prints.map((_, row) => median(prints.slice(...(row < 4 ? [0, 3] : [row - 4, row + 1]))))
        expect(pricesAfter(of(...prints)).slice(2)).toEqual(expected.slice(2))
      }),
      { numRuns: 300 },
    )
  })

  it('the prices of one token, or of all tokens, can be deleted', () => {
    const prices = new Prices(IN_SOL)
    pricesAfter(of(1, 1, 1), IN_SOL, prices)
    prices.forget(8)
    prices.forget(undefined)
    expect(prices.at(7)).toBe(1)
    prices.forget(7)
    expect(prices.at(7)).toBeUndefined()
    expect(pricesAfter(of(2, 2, 2), IN_SOL, prices)).toEqual([undefined, undefined, 2])
    prices.forgetAll()
    expect(prices.at(7)).toBeUndefined()
    expect(prices.at(1e6)).toBeUndefined()
  })
})

describe('the proof of the unit of amounts', () => {
  const proved = (prints: readonly Print[]) => pricesAfter(prints, TO_BE_PROVED).at(-1) !== undefined
  const quoted = (count: number, ratio: number): Print[] => Array(count).fill({ price: 1e-6, quoted: ratio * 1e-6 })

  const tables: [name: string, prints: Print[], isProved: boolean][] = [
    ['the unit is proved if the quoted price is in SOL per token', quoted(20, 1), true],
    ['the unit is not proved with one print too few', quoted(19, 1), false],
    ['the unit is proved if the quoted price is in USD', quoted(20, 150), true],
    ['the unit is proved if the quoted price is in lamports', quoted(20, 1e9), true],
    ['the unit is not proved without quoted prices', quoted(100, Number.NaN), false],
    ['the unit is not proved if the quoted price is 0', quoted(100, 0), false],
    [
      'the unit is not proved if the quoted price changes its unit',
      [...Array(60)].flatMap((_, at) => quoted(1, at % 2 ? 1 : 150)),
      false,
    ],
    [
      'the unit is proved if the quoted price varies by two percent',
      [...Array(40)].flatMap((_, at) => quoted(1, 1 + (at % 3) / 100)),
      true,
    ],
    [
      'the unit is proved in spite of a few prints with another ratio of quoted price to price',
      [...quoted(3, 7), ...quoted(25, 1), ...quoted(2, 9)],
      true,
    ],
    [
      'the unit is not proved if the ratio of the quoted price to the price from the amounts is not constant',
      [...Array(100)].flatMap((_, at) => quoted(1, 1.1 ** at)),
      false,
    ],
  ]
  it.each(tables)('%s', (_name, prints, isProved) => {
    expect(proved(prints)).toBe(isProved)
  })

  const fills: [name: string, prices: [fill: number, decidedOn?: number][], agree: boolean[], ends: boolean][] = [
    ['a fill near the price agrees', [[1.5, 1]], [true], false],
    ['a fill at a thousand times the price disproves the unit', [[1000, 1]], [false], true],
    ['a fill at a thousandth of the price disproves the unit', [[0.001, 1]], [false], true],
    ['a fill near the price at its decision agrees', [[60, 50]], [true], false],
    ['a fill near the present price agrees, even if the price has moved far', [[1, 500]], [true], false],
    [
      'after two fills that agree, one that contradicts does not disprove the unit',
      [[1], [1], [0.001, 1]],
      [true, true, false],
      false,
    ],
    [
      'after two fills that agree, three that contradict disprove the unit',
      [[1], [1], [0.001], [0.001], [0.001]],
      [true, true, false, false, false],
      true,
    ],
  ]
  it.each(fills)('our own fills test the unit: %s', (_name, prices, agree, ends) => {
    const known = new Prices(IN_SOL)
    pricesAfter(of(1, 1, 1), IN_SOL, known)
    expect(prices.map(([fill, decidedOn]) => known.confirm(7, fill, decidedOn))).toEqual(agree)
    expect(known.contradicted).toBe(ends)
    expect(known.at(7)).toBe(ends ? undefined : 1)
  })

  it('after our own fills have disproved the unit, it is never proved again', () => {
    const known = new Prices(TO_BE_PROVED)
    pricesAfter(quoted(30, 1), TO_BE_PROVED, known)
    known.confirm(7, 1, undefined)
    expect(pricesAfter(quoted(60, 1), TO_BE_PROVED, known).at(-1)).toBeUndefined()
    expect(known.contradicted).toBe(true)
  })

  it('a fill of a token without a price is ignored', () => {
    expect(new Prices(IN_SOL).confirm(3, 5, undefined)).toBe(true)
  })
})

describe('the age of an event', () => {
  const rowsWith = (lags: readonly number[]) => ({
    time: Float64Array.from(lags),
    stamp: new Float64Array(lags.length),
  })
  const ageOf = (lags: readonly number[], lag: number): number => {
    const age = new EventAge()
    age.fold(rowsWith(lags), 0, lags.length)
    return age.of(lag)
  }
  it.each([
    ['without earlier events, the usual delay is unknown', [], 5_000, 0],
    ['two events are not enough for a usual delay', [10, 10], 5_000, 0],
    ['an event later than usual is old', [10, 10, 10], 5_010, 5_000],
    ['a clock that is ahead does not change the age', [-4_000, -3_990, -3_980], -3_480, 500],
    ['some late events do not change the usual delay', [10, 20, 30, 4_000, 5_000], 40, 10],
    ['one wrong timestamp does not make other events old', [-7e15, 10, 11, 12, 13], 61, 50],
    ['two wrong timestamps do not make other events old', [-7e15, -7e15, 10, 11, 12], 60, 50],
    ['an event without a timestamp has the age 0', [10, 10, 10], Number.NaN, 0],
    ['an event with a timestamp in the future has the age 0', [10, 10, 10], -90_000, 0],
    ['a delay that is not a number is ignored', [Number.NEGATIVE_INFINITY, 10, 10, 10], 15, 5],
  ])('%s', (_name, lags, lag, age) => {
    expect(ageOf(lags, lag)).toBe(age)
  })
})

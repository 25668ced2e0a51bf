import fc from 'fast-check'
import { expect, test } from 'vitest'
import { IndicatorMemory, type StateInMemory } from '../../../src/engine/indicators/indicator-memory.ts'
import { ema, macd, sma, stochastic, vwap } from '../../../src/index.ts'

/** The averages with the same figure share a ring, which is larger than the ring of a single average. */
const averages = [sma('1m', 3), sma('1m', 70), sma('1m', 16), sma('1m', 20, 'volumeSol'), sma('1m', 1, 'volumeSol')]
const indicators = [ema('1m', 3), ...averages, vwap('1m', 20), stochastic('1m', 18, 5), macd('1m', 2, 4, 3)]
/** Number of tokens. It is larger than the number of tokens that the indicator memory updates in one step. */
const tokens = 70

/** Steps. A step adds a number of bars to one token or to all tokens, one bar after the other; 0 frees the token. */
const steps = fc.array(
  fc.record({
    token: fc.oneof(fc.constant(undefined), fc.nat(4)),
    bars: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 90 })),
  }),
  { minLength: 1, maxLength: 12 },
)

test('indicators of many tokens in one memory have the same values as indicators of each token alone, also after a token was freed', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const memory = new IndicatorMemory(indicators as unknown as StateInMemory[])
      const singles = Array.from({ length: tokens }, () => indicators.map((one) => one.create()))
      let price = 1
      for (const { token, bars } of all) {
        if (bars === 0 && token !== undefined) {
          memory.forget(token)
          singles[token] = indicators.map((one) => one.create())
        }
        for (let bar = 0; bar < bars; bar++) {
          price = ((price * 7.3) % 5) + 1
          const [open, high, low, close, volumeSol] = [price, price + 1, price / 2, price + 0.5, price * 3]
          const doubles = Float64Array.of(open, high, low, close, volumeSol, 1, 0, 60_000)
          const times = { openTime: 0, closeTime: 60_000 }
          const counts = { buys: 1, sells: 0, trades: 1, gap: false }
          const added = token === undefined ? singles.keys() : [token]
          for (const one of added) {
            if (token === undefined) memory.stage(one, doubles, 0)
            else memory.add(one, doubles, 0)
            for (const single of singles[one] ?? [])
              single.add({ width: '1m', ...times, open, high, low, close, volumeSol, ...counts })
          }
          memory.addStaged()
        }
        for (const one of token === undefined ? [0, 63, 64, tokens - 1] : [token])
          for (const [index, single] of (singles[one] ?? []).entries())
            expect(memory.valueOf(one, index)).toEqual(single.value)
      }
    }),
    { numRuns: 60 },
  )
})

test.each([1, 2, 15, 16, 17, 63, 64, 65, 1_000])(
  'an average of %i bars is the mean of the last values, while averages of up to 5,000 bars read the same ring',
  (length) => {
    const memory = new IndicatorMemory([sma('1m', length), sma('1m', 5_000)] as unknown as StateInMemory[])
    const closes: number[] = []
    for (let bar = 0; bar < 9_000; bar++) {
      const close = 1 + ((bar * 7_919) % 1_009)
      closes.push(close)
      memory.add(3, Float64Array.of(close, close, close, close, 1, 1, 0, 60_000), 0)
      // The sums of these whole numbers are exact, so the order of the additions has no effect.
      if (bar % 97 < 2) expect(memory.valueOf(3, 0)).toBe(naiveMean(closes, length))
      if (bar % 997 < 2) expect(memory.valueOf(3, 1)).toBe(naiveMean(closes, 5_000))
    }
  },
)

function naiveMean(values: readonly number[], length: number): number | undefined {
  if (values.length < length) return undefined
  return values.slice(-length).reduce((sum, value) => sum + value, 0) / length
}

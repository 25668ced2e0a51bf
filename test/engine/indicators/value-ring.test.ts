import fc from 'fast-check'
import { expect, test } from 'vitest'
import { IndicatorMemory, type StateInMemory } from '../../../src/engine/indicators/indicator-memory.ts'
import { addToRing, doublesOfRing, estimateMean } from '../../../src/engine/indicators/value-ring.ts'
import { sma } from '../../../src/index.ts'
import { CLOSE } from '../../../src/market/bar.ts'

/** Sizes of a ring, and the number of values that are added to it. */
const rings = fc.record({ size: fc.constantFrom(1, 2, 16, 64, 256), bars: fc.integer({ min: 1, max: 1_000 }) })
/** Values between 1e-12 and 1e12, because a price may fall by a factor of a million within a few bars. */
const value = fc.tuple(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: -12, max: 6 }))

test('the range of an estimated mean contains the mean of the values, and is small', () => {
  fc.assert(
    fc.property(rings, fc.array(value, { minLength: 1, maxLength: 40 }), ({ size, bars }, numbers) => {
      const memory = new Float64Array(doublesOfRing(size))
      const values: number[] = []
      const estimate = new Float64Array(2)
      for (let count = 0; count < bars; count++) {
        const [digits, exponent] = numbers[count % numbers.length] as [number, number]
        values.push(digits * 10 ** exponent)
        addToRing(memory, 0, size, count, CLOSE, Float64Array.of(0, 0, 0, values[count] as number), 0)
        const lengths = [1, 5, 20, size - 1, size].filter((length) => length > 0 && length <= Math.min(size, count + 1))
        for (const length of lengths) {
          estimateMean(memory, 0, size, count + 1, length, estimate, 0)
          const [lowest = 0, highest = 0] = estimate
          const exact = values.slice(-length).reduce((sum, one) => sum + one, 0) / length
          expect(exact).toBeGreaterThanOrEqual(lowest)
          expect(exact).toBeLessThanOrEqual(highest)
          const largest = Math.max(...values.slice(-2 * size))
          expect(highest - lowest).toBeLessThanOrEqual((2e-14 * largest * size * size) / length)
        }
      }
    }),
  )
})

test('a mean does not depend on the bars at which it was read before', () => {
  const reads = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), reads, (length, gaps) => {
      const [often, rarely] = [memoryOf(length), memoryOf(length)]
      let price = 1
      for (const gap of gaps) {
        for (let bar = 0; bar < gap; bar++) {
          price = ((price * 7.3) % 5) + 0.1
          const bars = Float64Array.of(price, price, price, price, 1, 1, 0, 60_000)
          for (const memory of [often, rarely]) memory.add(0, bars, 0)
          often.valueOf(0, 0)
        }
        expect(rarely.valueOf(0, 0)).toBe(often.valueOf(0, 0))
      }
    }),
  )
})

function memoryOf(length: number): IndicatorMemory {
  return new IndicatorMemory([sma('1m', length)] as unknown as StateInMemory[])
}

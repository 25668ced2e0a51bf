import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sampled } from '../../../src/desk/api/samples.ts'

const points = fc.array(fc.record({ step: fc.nat(50), value: fc.double({ noNaN: true, min: 0, max: 1e3 }) }), {
  maxLength: 300,
})

test('a sample of a curve has at most the requested number of points, both ends, and the extremes of each part of the time', () => {
  fc.assert(
    fc.property(points, fc.integer({ min: 2, max: 60 }), (steps, most) => {
      let time = 0
      const times = steps.map(({ step }) => {
        time += step
        return time
      })
      const values = steps.map(({ value }) => value)
      const kept = sampled(times, values, most)
      expect(kept.length).toBeLessThanOrEqual(Math.max(most, 4))
      expect(kept).toEqual([...new Set(kept)].sort((one, other) => one - other))
      if (values.length === 0) return
      expect([kept[0], kept.at(-1)]).toEqual([0, values.length - 1])
      const shown = kept.map((index) => values[index] as number)
      expect([Math.min(...shown), Math.max(...shown)]).toEqual([Math.min(...values), Math.max(...values)])
    }),
  )
})

test('a sample of a curve keeps a single peak between many equal points', () => {
  const times = Array.from({ length: 100_000 }, (_, index) => index)
  const values = times.map((index) => (index === 54_321 ? 1e6 : 1))
  expect(sampled(times, values, 100)).toContain(54_321)
})

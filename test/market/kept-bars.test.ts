import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BAR_DOUBLES, CLOSED } from '../../src/market/bar.ts'
import { KeptBars } from '../../src/market/kept-bars.ts'

const TOKENS = 4

/** Steps. A step adds this number of bars to a token, one after the other; 0 frees the token. */
const steps = fc.array(
  fc.record({ token: fc.nat(TOKENS - 1), bars: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 30 })) }),
  { minLength: 1, maxLength: 15 },
)

function closeAt(bars: KeptBars, place: number): number | undefined {
  return bars.memoryAt(place)[bars.offsetOf(place) + CLOSED]
}

test('the last bars of each token are found by their numbers, also after other tokens were freed', () => {
  fc.assert(
    fc.property(steps, fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(2_000)), (every, keep) => {
      const all = new KeptBars()
      const expected: number[][] = Array.from({ length: TOKENS }, () => [])
      let time = 0
      for (const { token, bars } of every) {
        const own = expected[token] as number[]
        if (bars === 0) {
          all.forget(token)
          own.length = 0
        }
        for (let bar = 0; bar < bars; bar++) {
          if (all.drops(token, keep) !== own.length >= keep)
            throw new Error(`drops() is wrong after ${own.length} bars`)
          all.add(token, new Float64Array(BAR_DOUBLES).fill(++time), 0, keep)
          own.push(time)
        }
        for (const [other, times] of expected.entries()) {
          expect([all.countOf(other), all.closedAt(other)]).toEqual([times.length, times.at(-1) ?? -Infinity])
          expect(all.firstOf(other)).toBe(Math.max(0, times.length - keep))
          const kept = times.slice(-keep)
          const firstOf = times.length - kept.length
          expect(kept.map((_, index) => closeAt(all, all.placeOf(other, firstOf + index)))).toEqual(kept)
          let place = kept.length === 0 ? 0 : all.placeOf(other, firstOf)
          for (const time of kept) {
            if (closeAt(all, place) !== time)
              throw new Error(`placeAfter() does not return the bar after bar ${time - 1}`)
            place = all.placeAfter(place)
          }
        }
      }
    }),
    { numRuns: 40 },
  )
})

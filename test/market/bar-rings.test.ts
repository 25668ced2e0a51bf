import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BAR_DOUBLES, CLOSED } from '../../src/market/bar.ts'
import { BarRings } from '../../src/market/bar-rings.ts'

const TOKENS = 4

/** The numbers of bars that are added to a token, one after the other; 0 frees the token. */
const steps = fc.array(
  fc.record({ token: fc.nat(TOKENS - 1), bars: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 30 })) }),
  { minLength: 1, maxLength: 15 },
)

test('each token has its last bars, by their numbers, also after other tokens were freed', () => {
  fc.assert(
    fc.property(steps, fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(2_000)), (all, keep) => {
      const rings = new BarRings()
      const expected: number[][] = Array.from({ length: TOKENS }, () => [])
      let time = 0
      for (const { token, bars } of all) {
        const own = expected[token] as number[]
        if (bars === 0) {
          rings.forget(token)
          own.length = 0
        }
        for (let bar = 0; bar < bars; bar++) {
          if (rings.drops(token, keep) !== own.length >= keep) throw new Error(`wrong after ${own.length} bars`)
          rings.add(token, new Float64Array(BAR_DOUBLES).fill(++time), 0, keep)
          own.push(time)
        }
        for (const [other, times] of expected.entries()) {
          expect([rings.countOf(other), rings.closedAt(other)]).toEqual([times.length, times.at(-1) ?? -Infinity])
          expect(rings.firstOf(other)).toBe(Math.max(0, times.length - keep))
          const kept = times.map((time, number) => ({ time, number })).slice(-keep)
          const wrong = ({ time, number }: (typeof kept)[number]): boolean =>
            rings.memoryOf(other)[rings.placeOf(other, number) + CLOSED] !== time
          expect(kept.filter(wrong)).toEqual([])
        }
      }
    }),
    { numRuns: 40 },
  )
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lamports, solToLamports } from '../../../src/base/units.ts'
import { liquidationSol } from '../../../src/engine/accounting/liquidation.ts'
import { MarkedPrices } from '../../../src/engine/accounting/marked-prices.ts'
import { newPosition, type Position } from '../../../src/engine/accounting/position.ts'
import { mark, type TripSums, tripOf, withFailed } from '../../../src/engine/accounting/trip-sums.ts'
import { GRADUATION_PRICE } from '../../../src/solana/pool-depth.ts'

const FEES = { venuePercent: 1, servicePercent: 1 }
const TOKENS = 500_000_000_000n

function opened(trip?: TripSums): Position {
  const position = newPosition({ account: 'a', bot: 'b', mint: 'm' }, 0, {})
  Object.assign(position, { tokens: TOKENS, costLamports: lamports(50_000_000) })
  return Object.assign(position, { trip: trip ?? tripOf(position) })
}

type Step = (position: Position) => number | undefined

/**
 * Applies the steps to a position. At each price that a step returns, updates the position's highest and lowest value,
 * unless `isKnown` returns true. Returns both values and the number of updates.
 */
function marksAfter(steps: readonly Step[], isKnown: (position: Position, price: number) => boolean) {
  const position = opened()
  let compared = 0
  for (const step of steps) {
    const price = step(position)
    if (price === undefined) continue
    if (!isKnown(position, price)) {
      compared++
      mark(position, solToLamports(liquidationSol(position, price, FEES) ?? 0))
    }
    // The engine raises the highest price at each print, after it has compared the marks.
    position.highPrice = Math.max(position.highPrice, price)
  }
  return { best: position.best, worst: position.worst, compared }
}

const price = fc.double({ min: GRADUATION_PRICE / 4, max: GRADUATION_PRICE * 2, noNaN: true })
const change = (part: Partial<Position>): Step => {
  return (position) => {
    Object.assign(position, part)
    return undefined
  }
}
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: price.map(
      (at): Step =>
        () =>
          at,
    ),
  },
  { weight: 1, arbitrary: price.map((highPrice) => change({ highPrice })) },
  { weight: 1, arbitrary: fc.bigInt({ min: 1n, max: TOKENS }).map((tokens) => change({ tokens })) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 6 }).map((exitTries) => change({ exitTries })) },
  {
    weight: 1,
    arbitrary: fc.constant<Step>((position) => {
      position.trip = withFailed(tripOf(position), 5_000_000)
      return undefined
    }),
  },
)

test('the marks are the same if the prices within the known range are not compared', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const marked = new MarkedPrices()
      const { compared: all, ...every } = marksAfter(steps, () => false)
      const { compared, ...some } = marksAfter(steps, (position, at) => marked.covers(position, at))
      expect(some).toEqual(every)
      expect(compared).toBeLessThanOrEqual(all)
    }),
  )
})

test('a range of prices on the bonding curve does not include prices of a token that has left the curve', () => {
  const [position, marked] = [opened(), new MarkedPrices()]
  const [onCurve, left] = [GRADUATION_PRICE * 0.9, GRADUATION_PRICE * 1.5]
  expect([left, onCurve, onCurve, left].map((at) => marked.covers(position, at))).toEqual([false, false, true, false])
  position.highPrice = left
  expect([onCurve, left].map((at) => marked.covers(position, at))).toEqual([false, true])
})

test('a price between two known prices is not compared, until the position changes', () => {
  const [position, marked] = [opened(), new MarkedPrices()]
  const asked = [2e-7, 1e-7, 1.5e-7, 2.1e-7, 2.05e-7].map((at) => marked.covers(position, at))
  expect(asked).toEqual([false, false, true, false, true])
  position.trip = withFailed(tripOf(position), 5_000)
  expect(marked.covers(position, 1.5e-7)).toBe(false)
})

test('if the sums of a position are not recorded, every price is compared', () => {
  const [position, marked] = [opened(), new MarkedPrices()]
  delete position.trip
  expect([1e-7, 1e-7].map((at) => marked.covers(position, at))).toEqual([false, false])
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { solToLamports } from '../../../src/base/units.ts'
import { KnownWorth } from '../../../src/engine/accounting/known-worth.ts'
import { liquidationSol } from '../../../src/engine/accounting/liquidation.ts'
import { newPosition, type Position } from '../../../src/engine/accounting/position.ts'
import { GRADUATION_PRICE } from '../../../src/solana/pool-depth.ts'

const computed = (position: Position, price: number) => solToLamports(liquidationSol(position, price) ?? 0)
const few = (...values: number[]) => fc.constantFrom(...values)
const change: fc.Arbitrary<Partial<Position>> = fc.oneof(
  few(0, 1, 3, 4, 21).map((exitTries) => ({ exitTries })),
  few(0, GRADUATION_PRICE / 2, GRADUATION_PRICE, GRADUATION_PRICE * 2).map((highPrice) => ({ highPrice })),
  few(0, 1, 500_000_000_000).map((tokens) => ({ tokens: BigInt(tokens) })),
  few(0, 6, 9).map((decimals) => ({ decimals })),
  few(0, 50_000_000).map((costLamports) => ({ costLamports }) as Partial<Position>),
)
const price = few(GRADUATION_PRICE / 4, GRADUATION_PRICE / 2, GRADUATION_PRICE)

test('after any sequence of events, the cached value of the positions equals a newly computed value', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(change, price), { maxLength: 40 }), (steps) => {
      const worth = new KnownWorth()
      const position = newPosition({ account: 'a', bot: 'b', mint: 'm' }, 0, {})
      for (const [part, at] of steps) {
        Object.assign(position, part)
        expect(worth.at(position, at, computed)).toBe(computed(position, at))
      }
    }),
  )
})

test('the value of the positions is computed again only after the price or a position changes', () => {
  const worth = new KnownWorth()
  const position = newPosition({ account: 'a', bot: 'b', mint: 'm' }, 0, {})
  let count = 0
  const counted = (held: Position, at: number) => {
    count++
    return computed(held, at)
  }
  for (const part of [{ tokens: 5n }, { feeLamports: 7 }, { exitTries: 1 }]) {
    Object.assign(position, part)
    worth.at(position, 1e-7, counted)
  }
  expect(count).toBe(1)
})

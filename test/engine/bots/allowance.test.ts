import { expect, test } from 'vitest'
import { Allowance } from '../../../src/engine/bots/allowance.ts'

/** Returns how many of `most` requests are allowed now. */
function asked(allowance: Allowance, now: number, most: number): number {
  let count = 0
  try {
    for (; count < most; count++) allowance.take(now)
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError)
  }
  return count
}

test('a bot may make 10,000 requests at once and then 500 a second, and saves up at most 10,000', () => {
  const allowance = new Allowance()
  const start = 1_780_000_000_000
  expect(asked(allowance, start, 20_000)).toBe(10_000)
  expect(asked(allowance, start + 999, 20_000)).toBe(499)
  expect(asked(allowance, start + 60_000, 40_000)).toBe(10_000)
})

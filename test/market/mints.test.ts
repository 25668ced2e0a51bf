import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Mints } from '../../src/market/mints.ts'

it('a mint and its token number belong together until the number is released, after any look-ups', () => {
  const step = fc.record({
    what: fc.constantFrom('intern', 'find', 'giveBack'),
    mint: fc.constantFrom('m1', 'm2', 'm3'),
    held: fc.nat(2),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const mints = new Mints()
      const numbers = new Map<string, number>()
      let held = 0
      mints.addHolder({ holds: (token) => token === held })
      for (const { what, mint, held: next } of steps) {
        if (what === 'intern') {
          const number = mints.intern(mint)
          expect(number).toBe(numbers.get(mint) ?? number)
          expect(mints.list[number]).toBe(mint)
          numbers.set(mint, number)
        } else if (what === 'giveBack') {
          held = next
          mints.giveBack(() => false)
          for (const [other, number] of numbers) if (number !== held) numbers.delete(other)
        } else expect(mints.find(mint)).toBe(numbers.get(mint))
      }
      expect(new Set(numbers.values()).size).toBe(numbers.size)
    }),
  )
})

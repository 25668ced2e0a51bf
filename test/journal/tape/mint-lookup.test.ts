import fc from 'fast-check'
import { expect, test } from 'vitest'
import { numbersOf } from '../../../src/journal/tape/mint-lookup.ts'
import { Mints } from '../../../src/market/mints.ts'
import { keyOf } from '../../support/journal-values.ts'

const mint = fc.oneof(
  fc.nat(50).map((number) => keyOf(number)),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom('', '"', '\\', ',', '","', 'a', 'ab'),
)

test('looking up a list of mints gives the same numbers as looking up each mint alone', () => {
  fc.assert(
    fc.property(fc.array(fc.array(mint, { maxLength: 20 }), { maxLength: 10 }), (lists) => {
      const [one, other] = [new Mints(), new Mints()]
      for (const list of lists) {
        const expected = list.map((name) => other.intern(name))
        expect([...numbersOf(one, Buffer.from(JSON.stringify(list)))]).toEqual(expected)
      }
      expect(one.list).toEqual(other.list)
    }),
  )
})

test.each<[what: string, count: number, mintOf: (number: number) => string]>([
  [
    'a list with more mints than the initial size of the table',
    10_000,
    (number) => `${encoded(number)}${keyOf(number)}`,
  ],
  ['a list of mints with equal hashes', 500, keyOf],
])('looking up %s gives the number of each mint', (_what, count, mintOf) => {
  const mints = new Mints()
  const list = Array.from({ length: count }, (_, number) => mintOf(number))
  const expected = list.map((_, number) => number)
  expect([...numbersOf(mints, Buffer.from(JSON.stringify(list)))]).toEqual(expected)
  expect([...numbersOf(mints, Buffer.from(JSON.stringify(list.toReversed())))]).toEqual(expected.toReversed())
})

/** Returns a text that differs from the other texts in its first characters, as mints do. */
function encoded(number: number): string {
  return keyOf(number, 8)
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Mints, MintTeller } from '../../src/market/mints.ts'

const mint = fc.nat(30).map((number) => `mint ${number}`)
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('intern' as const), mint }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('tell' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('giveBack' as const), kept: fc.array(fc.nat(30)) }) },
)

test('another thread always knows the mint of every token number, and receives each mint at most twice', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 50, maxLength: 200 }), (steps) => {
      const mints = new Mints()
      const teller = new MintTeller()
      let known: string[] = []
      let heard: number[] = []
      for (const one of steps) {
        if (one.kind === 'intern') mints.intern(one.mint)
        else if (one.kind === 'giveBack') mints.giveBack((token) => one.kept.includes(token))
        else {
          const { isAll, mintsAt, mints: told } = teller.news(mints.list)
          if (isAll) [known, heard] = [[], []]
          for (const [at, mint] of told.entries()) {
            known[mintsAt + at] = mint
            if (mint !== '') heard[mintsAt + at] = (heard[mintsAt + at] ?? 0) + 1
          }
          expect(known).toEqual(mints.list)
        }
      }
      expect(Math.max(0, ...heard.filter((times) => times !== undefined))).toBeLessThan(3)
    }),
  )
})

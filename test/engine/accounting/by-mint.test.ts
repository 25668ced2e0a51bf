import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ByAccount } from '../../../src/engine/accounting/by-account.ts'
import { ByMint } from '../../../src/engine/accounting/by-mint.ts'

const name = fc.constantFrom('', 'a')
const step = fc.record({
  what: fc.constantFrom('has', 'of', 'set', 'delete', 'trim'),
  looks: fc.boolean(),
  account: name,
  key: name,
  value: fc.nat(9),
})

/** The reference implementation, which does not cache the last look-up. */
class Plain extends Map<string, Map<string, number>> {
  of(account: string): Map<string, number> {
    const part = this.get(account) ?? new Map<string, number>()
    this.set(account, part)
    return part
  }

  trim(account: string): void {
    const part = this.of(account)
    while (part.size > 1) part.delete(part.keys().next().value as string)
  }
}

it('a map by account and mint finds its items after any sequence of look-ups and changes', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const [byMint, byAccount, plain] = [new ByMint<number>(), new ByAccount<number>(), new Plain()]
      for (const { what, looks, account, key, value } of steps) {
        const owner = { account, mint: key }
        const part = plain.of(account)
        if (what === 'set') {
          byMint.set(owner, value)
          byAccount.set(account, key, value)
          part.set(key, value)
        } else if (what === 'delete') {
          byMint.delete(owner)
          byAccount.delete(account, key)
          part.delete(key)
        } else if (what === 'trim') {
          byMint.trim(account, 1)
          byAccount.trim(account, 1)
          plain.trim(account)
        } else if (what === 'has') expect(byMint.has(owner)).toBe(part.has(key))
        else if (what === 'of')
          expect([[...byMint.of(account)], [...byAccount.of(account)]]).toEqual([[...part], [...part]])
        if (looks) expect([byMint.get(owner), byAccount.get(account, key)]).toEqual([part.get(key), part.get(key)])
      }
    }),
  )
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AgedMap } from '../../../src/engine/accounting/by-account.ts'

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f']

/** The reference implementation, which searches the map from its beginning at each call. */
function dropOldest(map: Map<string, boolean>): void {
  for (const [key, mayGo] of map) {
    if (!mayGo) continue
    map.delete(key)
    return
  }
}

it('the map drops the oldest entry that may be dropped, after any sequence of changes', () => {
  const key = fc.constantFrom(...KEYS)
  const step = fc.oneof(
    fc.record({ what: fc.constant('set' as const), key, mayGo: fc.boolean() }),
    fc.record({ what: fc.constant('delete' as const), key }),
    fc.constant({ what: 'drop' as const }),
    fc.constant({ what: 'dropAny' as const }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [aged, plain] = [new AgedMap<boolean>(), new Map<string, boolean>()]
      for (const step of steps) {
        if (step.what === 'set') for (const map of [aged, plain]) map.set(step.key, step.mayGo)
        else if (step.what === 'delete') for (const map of [aged, plain]) map.delete(step.key)
        else if (step.what === 'drop') {
          aged.dropOldest((mayGo) => mayGo)
          dropOldest(plain)
        } else {
          aged.dropOldest()
          plain.delete(plain.keys().next().value ?? '')
        }
        expect([...aged]).toEqual([...plain])
      }
    }),
  )
})

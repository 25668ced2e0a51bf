// strategies/burst.test.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testStrategy } from 'sluice/testing'
import burst from './burst.ts'

test('many buys within a minute are joined, once', () => {
  const rig = testStrategy(burst, { params: { minuteSol: 5 } })
  for (let print = 0; print < 8; print++) rig.trade({ price: 1e-7 })
  assert.deepEqual(
    rig.orders.map(({ reason }) => reason),
    ['5.0 SOL within a minute'],
  )
})

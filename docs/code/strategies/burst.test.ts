// strategies/burst.test.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testStrategy } from 'sluice/testing'
import burst from './burst.ts'

test('a minute with many buys triggers one order', () => {
  const rig = testStrategy(burst, { params: { minuteSol: 5 } })
  for (let print = 0; print < 8; print++) rig.trade({ price: 1e-7, side: 'buy' })
  assert.deepEqual(
    rig.orders.map(({ reason }) => reason),
    ['5.0 SOL within a minute'],
  )
})

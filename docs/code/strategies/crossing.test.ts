// strategies/crossing.test.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testStrategy } from 'sluice/testing'
import crossing from './crossing.ts'

test('a cross on three times the usual volume is bought', () => {
  const rig = testStrategy(crossing, { params: { fast: 3, slow: 8 } })
  for (let bar = 0; bar < 25; bar++) rig.bar('1m', { close: bar % 2 ? 1e-7 : 0.99e-7 })
  for (let bar = 0; bar < 3; bar++) rig.bar('1m', { close: 0.95e-7 })
  rig.bar('1m', { close: 1.05e-7, high: 1.1e-7, volumeSol: 60 })
  assert.deepEqual(
    rig.orders.map(({ reason }) => reason),
    ['crossed on 60.0 SOL'],
  )
})

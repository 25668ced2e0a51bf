// strategies/rises.test.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINT, testStrategy } from 'sluice/testing'
import strategy from './my-strategy.ts'

test('the strategy buys a rise, and the stop-loss sells', () => {
  const rig = testStrategy(strategy, { params: { risePercent: 20 }, exits: { stopLossPercent: 20 } })
  rig.settle(1e-7) // prints until token.price is this, SOL per token
  rig.settle(1.3e-7)
  assert.equal(rig.orders[0]?.reason, 'rose 30.0 %')
  rig.advance(2) // the order lands a second and a slot after the decision
  assert.equal(rig.position()?.state, 'open')
  rig.settle(0.9e-7)
  assert.equal(rig.orders[1]?.mint, MINT)
  assert.equal(rig.orders[1]?.side, 'sell')
})

test('a buy above the limit is refused', () => {
  const rig = testStrategy(strategy, { params: { sizeSol: 0.2 }, limits: { maxSolPerOrder: 0.1 } })
  rig.settle(1e-7)
  rig.settle(2e-7)
  assert.deepEqual(rig.orders, [])
  assert.equal(rig.refusals[0]?.code, 'ORDER_LIMIT')
})

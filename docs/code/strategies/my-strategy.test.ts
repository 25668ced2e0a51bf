import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdsAtMost, inRandomMarkets, isOutWithin, testStrategy } from 'sluice/testing'
import strategy from './my-strategy.ts'

const params = { risePercent: 25, sizeSol: 0.1 }

test('a rise from the low is bought once, and the stop-loss sells the position', () => {
  const rig = testStrategy(strategy, { params })
  rig.settle(1e-7) // trades until this is the robust price, SOL per token
  rig.settle(1.3e-7)
  assert.deepEqual(
    rig.orders.map(({ side, sol, reason }) => ({ side, sol, reason })),
    [{ side: 'buy', sol: 0.1, reason: 'rose 30.0 %' }],
  )
  rig.advance(2) // the buy lands
  assert.equal(rig.position()?.state, 'open')
  rig.settle(0.9e-7)
  assert.equal(rig.orders[1]?.side, 'sell')
  rig.advance(2)
  assert.equal(rig.position()?.state, 'closed')
})

test('a smaller rise causes no buy', () => {
  const rig = testStrategy(strategy, { params })
  rig.settle(1e-7)
  rig.settle(1.2e-7)
  assert.deepEqual(rig.orders, [])
})

test('a single outlier does not change the robust price', () => {
  const rig = testStrategy(strategy, { params })
  rig.settle(1e-7)
  rig.trade({ price: 9e-7 })
  rig.trade({ price: 1e-7 })
  assert.deepEqual(rig.orders, [])
})

// A strategy that declares `bars` is also tested with `rig.bar('1m', { close: 1.3e-7, volumeSol: 20 })`.

test('in random markets the bot stays within its limits', () => {
  const options = { seeds: 5, seconds: 60, params, limits: { maxOpenPositions: 2 }, exits: { maxHoldSeconds: 30 } }
  inRandomMarkets(strategy, options, (rig) => {
    rig.always(holdsAtMost({ tokens: 2, sol: 0.25 }))
    rig.always(isOutWithin(60))
  })
})

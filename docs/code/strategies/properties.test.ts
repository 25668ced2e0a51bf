// strategies/properties.test.ts
import { test } from 'node:test'
import { holdsAtMost, inRandomMarkets, isOutWithin } from 'sluice/testing'
import strategy from './my-strategy.ts'

test('in random markets the bot stays within its limits', () => {
  const options = { seeds: 10, seconds: 60, params: { risePercent: 10 }, exits: { maxHoldSeconds: 30 } }
  inRandomMarkets(strategy, { ...options, limits: { maxOpenPositions: 3 } }, (rig) => {
    rig.always(holdsAtMost({ tokens: 3, sol: 0.2 }))
    rig.always(isOutWithin(60))
    rig.always(({ bot }) => bot.orders.every(({ reason }) => reason !== ''), 'every order has a reason')
  })
})

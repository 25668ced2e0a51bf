import { expect, test } from 'vitest'
import { MINT, OTHER_MINT, type StrategyRig, testStrategy } from '../../src/testing.ts'
import copyTrader from '../../strategies/copy-trader.ts'

const LEADER = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU'
const params = { leaders: [LEADER], minTradeSol: 1, parts: 2, partSeconds: 10, trialCopies: 1, sizeSol: 0.1 }
const PRICE = 1e-7

const copy = (rig: StrategyRig, mint: string, price = PRICE): void => {
  rig.settle(price, { mint })
  rig.trade({ mint, price, sol: 2, side: 'buy', trader: LEADER })
  rig.trade({ mint, price })
  rig.advance(3)
}
const asked = (rig: StrategyRig): string[] =>
  rig.orders.map(
    ({ side, sol, percent, reason }) => `${side} ${sol ?? percent ?? 'all'}: ${reason.replace(LEADER, 'L')}`,
  )
const BUY = 'buy 0.1: copies L, who bought for 2.00 SOL'

test('copy-trader copies a buy of a leader in parts', () => {
  const rig = testStrategy(copyTrader, { params })
  copy(rig, MINT)
  rig.advance(10)
  rig.trade({ price: PRICE })
  expect(asked(rig)).toEqual([BUY, BUY])
})

test('copy-trader leaves out a part of the copy while the price is above that of the first part', () => {
  const rig = testStrategy(copyTrader, { params, exits: 'none' })
  copy(rig, MINT)
  rig.settle(1.2 * PRICE)
  rig.advance(20)
  rig.trade({ price: 1.2 * PRICE })
  expect(asked(rig)).toEqual([BUY])
})

test.each<[string, object]>([
  ['a buy of another trader', { trader: 'other' }],
  ['a small buy', { sol: 0.5 }],
  ['a sale', { side: 'sell' }],
])('copy-trader does not copy %s', (_what, more) => {
  const rig = testStrategy(copyTrader, { params })
  rig.settle(PRICE)
  rig.trade({ price: PRICE, sol: 2, side: 'buy', trader: LEADER, ...more })
  rig.advance(30)
  expect(rig.orders).toEqual([])
})

test('copy-trader sells the copy in parts while the price rises, and the rest after a sale of the leader', () => {
  const rig = testStrategy(copyTrader, { params })
  copy(rig, MINT)
  rig.settle(1.5 * PRICE)
  rig.advance(10)
  rig.trade({ price: 1.5 * PRICE, side: 'sell', trader: LEADER })
  rig.advance(10)
  expect(asked(rig).slice(1)).toEqual([
    expect.stringMatching(/^sell 40: take-profit step 1 of 3/),
    'sell all: the leader L sells',
  ])
})

test('copy-trader stops copying a leader whose copies make a loss, also after a restart', () => {
  const rig = testStrategy(copyTrader, { params })
  copy(rig, MINT)
  rig.settle(PRICE / 2)
  rig.advance(10)
  expect(rig.position()?.state).toBe('closed')
  expect(rig.state).toEqual({ [LEADER]: { percent: expect.closeTo(-55.0, 1), copies: 1 } })
  rig.restart()
  copy(rig, OTHER_MINT)
  expect(rig.orders.filter(({ mint }) => mint === OTHER_MINT)).toEqual([])
  expect(rig.notes.at(-1)?.reason).toMatch(/make -\d+\.\d % on average$/)
})

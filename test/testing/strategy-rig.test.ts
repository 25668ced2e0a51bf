import { expect, test } from 'vitest'
import { defineStrategy, z } from '../../src/index.ts'
import { MINT, OTHER_MINT, testStrategy } from '../../src/testing.ts'
import dipBuyer from '../../strategies/dip-buyer.ts'

const params = { dropPercent: 20, sizeSol: 0.1 }
const BUY = { mint: MINT, side: 'buy', sol: 0.1, reason: 'fell 25.0 %' }

/** A strategy that makes a request at each trade. The name of the trader selects the request. */
const puppet = defineStrategy({
  name: 'puppet',
  about: 'Makes the request that the trader of a trade selects.',
  params: z.object({ everySeconds: z.number().min(1).default(60) }),
  keys: ['trades', 'newTokens', 'priceUpdates'],
  start: (params, bot) => {
    bot.every('tick', params.everySeconds)
    return {
      onTrade(trade, token) {
        if (trade.trader === 'buy') bot.buy(token, { sol: 0.1, reason: 'told' })
        if (trade.trader === 'half') bot.sell(token, { percent: 50, reason: 'told' })
        if (trade.trader === 'throw') throw new Error('no such price')
      },
      onNewToken: (event) => bot.note(event.mint, `${event.name} by ${event.creator} with ${event.initialLiquidity}`),
      onPriceUpdate: (update) => bot.note(update.mint, `${update.price} ${update.liquidityUsd}`),
      onTimer: (name) => bot.note('', `${name} ${bot.now()}`),
      onGap: ({ from, to, keys }) => bot.note('', `${to - from} ${keys}`),
      onSignal: (name, data) => {
        bot.state = { name, data }
      },
    }
  },
})

test('in a test, dip-buyer buys a fall, the buy is filled a second and a Solana slot later, and the stop-loss sells', () => {
  const rig = testStrategy(dipBuyer, { params, exits: { stopLossPercent: 20 } })
  rig.settle(1e-7)
  expect(rig.orders).toEqual([])
  rig.settle(0.75e-7)
  expect(rig.orders).toMatchObject([{ ...BUY, state: 'working', code: '' }])
  expect(rig.position()).toMatchObject({ state: 'opening', tokens: 0 })
  rig.advance(2)
  expect(rig.orders).toMatchObject([{ ...BUY, state: 'filled' }])
  expect(rig.fills).toMatchObject([{ side: 'buy', sol: 0.1, final: false }])
  expect(rig.position()).toMatchObject({ state: 'open', costSol: 0.1 })
  rig.settle(0.5e-7)
  expect(rig.orders[1]).toMatchObject({ side: 'sell', all: true, reason: expect.stringContaining('stop-loss') })
  rig.advance(20)
  expect(rig.fills).toMatchObject([
    { side: 'buy', final: true },
    { side: 'sell', final: true },
  ])
  expect(rig.position()?.realizedSol).toBeLessThan(-0.02)
})

test('in a test, a single print does not move the robust price, and tokens do not affect each other', () => {
  const rig = testStrategy(dipBuyer, { params })
  rig.settle(1e-7)
  rig.settle(4e-7, { mint: OTHER_MINT })
  rig.trade({ price: 0.2e-7 })
  rig.trade({ price: 1e-7, side: 'sell' })
  expect(rig.orders).toEqual([])
  rig.settle(3e-7, { mint: OTHER_MINT })
  expect(rig.orders).toMatchObject([{ mint: OTHER_MINT, reason: 'fell 25.0 %' }])
})

test('in a test, limits, old events and a halt refuse a buy', () => {
  const buy = (options: Parameters<typeof testStrategy>[1], trade = {}, halt = false) => {
    const rig = testStrategy(puppet, options)
    rig.settle(1e-7)
    if (halt) rig.command({ name: 'halt' })
    rig.trade({ price: 1e-7, trader: 'buy', ...trade })
    expect(rig.orders).toEqual([])
    return rig.refusals.map(({ code }) => code)
  }
  expect(buy({ limits: { maxSolPerOrder: 0.05 } })).toEqual(['ORDER_LIMIT'])
  expect(buy({ paper: { balanceSol: 0.1 } })).toEqual(['BALANCE_LOW'])
  expect(buy({}, { ageSeconds: 10 })).toEqual(['STALE_EVENT'])
  expect(buy({}, { mint: OTHER_MINT })).toEqual(['PRICE_UNKNOWN'])
  expect(buy({}, {}, true)).toEqual(['HALTED'])
})

test('in a test, a strategy can sell a part of a position, and an order that never lands is reported', () => {
  const rig = testStrategy(puppet, { latencySeconds: 3 })
  rig.settle(1e-7)
  rig.trade({ price: 1e-7, trader: 'buy' })
  rig.advance(3.3)
  expect(rig.fills).toEqual([])
  rig.advance(20)
  rig.trade({ price: 1e-7, trader: 'half' })
  expect(rig.orders[1]).toMatchObject({ side: 'sell', percent: 50, reason: 'told' })

  const unlucky = testStrategy(puppet, { lostPercent: 100 })
  unlucky.settle(1e-7)
  unlucky.trade({ price: 1e-7, trader: 'buy' })
  unlucky.advance(100)
  expect(unlucky.orders).toMatchObject([{ state: 'not_executed', code: 'ABSENT' }])
})

test('in a test, prints without a side are buys and sales in turn; a token with only buys cannot be sold', () => {
  const sold = (side: { side?: 'buy' }) => {
    const rig = testStrategy(puppet)
    rig.settle(1e-7, side)
    rig.trade({ price: 1e-7, trader: 'buy', ...side })
    rig.advance(20)
    for (let print = 0; print < 90; print++) rig.trade({ price: 1e-7, ...side })
    rig.trade({ price: 1e-7, trader: 'half', ...side })
    rig.advance(20)
    return rig.orders[1]
  }
  expect(sold({})).toMatchObject({ side: 'sell', state: 'filled' })
  expect(sold({ side: 'buy' })).toMatchObject({ side: 'sell', state: 'failed', code: 'UNSELLABLE' })
})

test('in a test, a buy of a token that left its curve fails until prints show the depth of the pool', () => {
  const rig = testStrategy(puppet)
  rig.settle(1)
  rig.trade({ price: 1, trader: 'buy' })
  rig.advance(2)
  expect(rig.orders).toMatchObject([{ state: 'failed', code: 'DEPTH_UNKNOWN' }])
})

test('in a test, new tokens, price updates, timers, gaps and signals reach the strategy at their time', () => {
  const rig = testStrategy(puppet, { params: { everySeconds: 30 } })
  const start = rig.now
  rig.newToken({ name: 'Cat', creator: 'Somebody', initialLiquidity: 12 })
  rig.priceUpdate({ price: 3e-7, liquidityUsd: 900 })
  rig.advance(28)
  rig.gap(7)
  rig.command({ name: 'signal', signal: 'x', data: [1] })
  expect(rig.notes).toEqual([
    { time: start + 1_000, mint: MINT, code: '', reason: 'Cat by Somebody with 12' },
    { time: start + 2_000, mint: MINT, code: '', reason: '3e-7 900' },
    { time: start + 30_000, mint: '', code: '', reason: `tick ${start + 30_000}` },
    { time: start + 37_000, mint: '', code: '', reason: `7000 ${rig.keys}` },
  ])
  expect(rig.state).toEqual({ name: 'x', data: [1] })
  expect(rig.keys).toEqual(expect.arrayContaining(['trades', 'newTokens', 'priceUpdates']))
})

test("the call that adds a row throws the strategy's error, and after that the bot only sells", () => {
  const rig = testStrategy(puppet, { exits: { stopLossPercent: 20 } })
  rig.settle(1e-7)
  rig.trade({ price: 1e-7, trader: 'buy' })
  rig.advance(20)
  expect(() => rig.trade({ price: 1e-7, trader: 'throw' })).toThrow(
    /^the strategy threw: test\/testing\/strategy-rig\.test\.ts:\d+:\d+: Error: no such price$/,
  )
  rig.newToken()
  rig.trade({ price: 1e-7, trader: 'half' })
  expect(rig.notes).toEqual([])
  rig.settle(0.5e-7)
  expect(rig.orders).toMatchObject([{ side: 'buy' }, { side: 'sell', all: true }])
})

test('invalid options of `testStrategy` throw at once, with the messages of the YAML check', () => {
  expect(() => testStrategy(dipBuyer, { params: { dropPercent: 0, size: 1 } })).toThrow(
    'params.size: unknown key; did you mean sizeSol?; params.dropPercent: expected at least 1 and at most 90, found 0',
  )
  expect(() => testStrategy(dipBuyer, { exits: { stopLossPercent: 120 } })).toThrow(/^exits\.stopLossPercent: expected/)
  expect(() => testStrategy({ ...dipBuyer, keys: ['trade'] })).toThrow('did you mean trades?')
  expect(() => testStrategy(dipBuyer).trade({ price: 1, mint: 'A' })).toThrow('invalid mint A')
  expect(() => testStrategy(dipBuyer).advance(-1)).toThrow('seconds must be at least 0 and below 1e9, got -1')
  expect(() => testStrategy(dipBuyer, { latencySeconds: 0 })).toThrow('latencySeconds: expected at least 0.001')
  expect(() => testStrategy(dipBuyer, { latencySeconds: Number.NaN })).toThrow(
    'seconds must be at least 0 and below 1e9, got NaN',
  )
  expect(() => testStrategy(dipBuyer, { lostPercent: 101 })).toThrow('lostPercent: expected 0 to 100')
})

test('a test may have more rows than a block', () => {
  const rig = testStrategy(dipBuyer, { params })
  for (let row = 0; row < 600; row++) rig.trade({ price: 1e-7, afterSeconds: 0.01 })
  rig.settle(0.75e-7)
  expect(rig.orders).toMatchObject([BUY])
})

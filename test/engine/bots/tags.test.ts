import { describe, expect, it } from 'vitest'
import type { Order } from '../../../src/engine/order.ts'
import { type Bot, defineStrategy, type FillView, type OrderView, type Token, z } from '../../../src/index.ts'
import { MINT, testStrategy } from '../../../src/testing.ts'
import { orders } from '../../support/engine-rig.ts'
import { readyBot } from '../../support/talking-bot.ts'

type Act = (bot: Bot, token: Token) => unknown

/**
 * Returns a test rig. Its strategy runs `acts[n]` at each print of n SOL. Also returns the orders, the fills and the
 * tags of positions that the strategy received.
 */
function tagged(acts: Readonly<Record<number, Act>>) {
  const views: OrderView[] = []
  const fills: FillView[] = []
  const positions: string[] = []
  const strategy = defineStrategy({
    name: 'tagged',
    about: 'tags its orders',
    params: z.object({}),
    keys: ['trades'],
    exits: { windowPrints: 5 },
    start: (_params, bot: Bot) => ({
      onTrade: ({ amount }, token) => {
        acts[amount]?.(bot, token)
        if (token.position !== undefined) positions.push(token.position.tag)
      },
      onOrder: (order) => views.push(order),
      onFill: (fill) => fills.push(fill),
    }),
  })
  const rig = testStrategy(strategy)
  return { rig, views, fills, positions }
}

const BUY = { sol: 0.1, reason: 'told to', tag: 'dip' }
const SELL = { all: true, reason: 'told to', tag: 'target' } as const

/** Ways to request a buy while the price is 1e-7 SOL per token, each with the price at which the buy executes. */
const BUYS: Readonly<Record<string, readonly [Act, number]>> = {
  buy: [(bot, token) => bot.buy(token, BUY), 1e-7],
  'limit buy': [(bot, token) => bot.limitBuy(token, { ...BUY, atPrice: 0.9e-7 }), 0.9e-7],
  bracket: [(bot, token) => bot.bracket(token, { ...BUY, stopPrice: 0.5e-7, takeProfitPrice: 2e-7 }), 1e-7],
  'bracket at a price': [
    (bot, token) => bot.bracket(token, { ...BUY, atPrice: 0.9e-7, stopPrice: 0.5e-7, takeProfitPrice: 2e-7 }),
    0.9e-7,
  ],
  dca: [(bot, token) => bot.dca(token, { ...BUY, everySeconds: 60, times: 1 }), 1e-7],
}

const SALES: Readonly<Record<string, readonly [Act, number]>> = {
  sell: [(bot, token) => bot.sell(token, SELL), 1e-7],
  'sale of a part': [(bot, token) => bot.sell(token, { ...SELL, all: undefined, percent: 40 } as never), 1e-7],
  'limit sell': [(bot, token) => bot.limitSell(token, { ...SELL, atPrice: 1.2e-7 }), 1.2e-7],
  'limit sell of a part': [
    (bot, token) => bot.limitSell(token, { percent: 40, reason: 'told to', tag: 'target', atPrice: 1.2e-7 }),
    1.2e-7,
  ],
  'stop sell': [(bot, token) => bot.stopSell(token, { ...SELL, atPrice: 0.8e-7 }), 0.8e-7],
}

describe('the tag of an order', () => {
  it.each(Object.entries(BUYS))(
    'for %s, the order, its views, its fill and the position have the tag',
    (_kind, [act, price]) => {
      const { rig, views, fills, positions } = tagged({ 7: act })
      rig.settle(1e-7)
      rig.trade({ price: 1e-7, sol: 7 })
      rig.settle(price)
      rig.advance(5)
      rig.trade({ price })
      expect(new Set(rig.orders.map(({ tag }) => tag))).toEqual(new Set(['dip']))
      expect(new Set(views.map(({ tag }) => tag))).toEqual(new Set(['dip']))
      expect(fills.map(({ tag }) => tag)).toEqual(['dip'])
      expect(rig.fills.map(({ tag }) => tag)).toEqual(['dip'])
      expect(positions.at(-1)).toBe('dip')
    },
  )

  it.each(Object.entries(SALES))('for %s, the order, its views and its fill have the tag', (_kind, [act, price]) => {
    const { rig, views, fills } = tagged({ 7: (bot, token) => bot.buy(token, BUY), 8: act })
    rig.settle(1e-7)
    rig.trade({ price: 1e-7, sol: 7 })
    rig.advance(5)
    rig.trade({ price: 1e-7, sol: 8 })
    rig.settle(price)
    rig.advance(5)
    expect(rig.orders.map(({ side, tag }) => `${side} ${tag}`)).toEqual(['buy dip', 'sell target'])
    expect(new Set(views.filter(({ side }) => side === 'sell').map(({ tag }) => tag))).toEqual(new Set(['target']))
    expect(fills.map(({ tag }) => tag)).toEqual(['dip', 'target'])
  })

  it('an order without a tag, and an exit, have an empty tag', () => {
    const buy: Act = (bot, token) => bot.buy(token, { sol: 0.1, reason: 'told to', exits: { takeProfitPercent: 10 } })
    const { rig, fills, positions } = tagged({ 7: buy })
    rig.settle(1e-7)
    rig.trade({ price: 1e-7, sol: 7 })
    rig.advance(5)
    rig.settle(2e-7)
    rig.advance(5)
    expect(rig.orders.map(({ tag }) => tag)).toEqual(['', ''])
    expect(fills.map(({ tag }) => tag)).toEqual(['', ''])
    expect(positions[0]).toBe('')
  })

  it('every order of an exit that fails and is retried has the tag', () => {
    const talk = readyBot({}, true)
    talk.ask((bot, token) => bot.stopSell(token, { ...SELL, atPrice: 0.8e-6 }))
    const first = orders(talk.rig.settle(0.8e-6))[0] as Order
    const failed = talk.rig.report(first, 'failed', { code: 'REVERTED', unproved: 0 })
    const retry = failed.find((output) => output.kind === 'timer')
    talk.rig.now += 60_000
    const [second] = orders(talk.rig.input({ kind: 'timer', id: retry?.timer.id ?? 0 }))
    expect([first.tag, second?.tag]).toEqual(['target', 'target'])
  })

  it.each([
    ['51 characters', 'x'.repeat(51)],
    ['a number', 7],
    ['null', null],
  ])('a tag is refused if it is %s', (_what, tag) => {
    const answers: unknown[] = []
    const { rig } = tagged({
      7: (bot, token) => answers.push(bot.buy(token, { ...BUY, tag: tag as string })),
      8: (bot, token) => answers.push(bot.limitBuy(token, { ...BUY, tag: tag as string, atPrice: 1e-8 })),
    })
    rig.settle(1e-7)
    rig.trade({ price: 1e-7, sol: 7 })
    rig.trade({ price: 1e-7, sol: 8 })
    const refused = { ok: false, code: 'REQUEST_INVALID', reason: 'tag: expected text of at most 50 characters' }
    expect(answers).toEqual([refused, refused])
  })

  it('a tag of exactly 50 characters is accepted, and an empty tag counts as no tag', () => {
    const { rig } = tagged({
      7: (bot) => bot.buy(MINT, { ...BUY, tag: 'x'.repeat(50) }),
      8: (bot) => bot.sell(MINT, { ...SELL, tag: '' }),
    })
    rig.settle(1e-7)
    rig.trade({ price: 1e-7, sol: 7 })
    rig.advance(5)
    rig.trade({ price: 1e-7, sol: 8 })
    expect(rig.orders.map(({ tag }) => tag)).toEqual(['x'.repeat(50), ''])
  })
})

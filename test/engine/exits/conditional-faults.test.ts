import { describe, expect, it } from 'vitest'
import { decodeJson, encodeJson } from '../../../src/base/json.ts'
import type { Output } from '../../../src/engine/messages.ts'
import type { Order } from '../../../src/engine/order.ts'
import type { RecoveredMoney } from '../../../src/engine/recovered-money.ts'
import type { OrderView } from '../../../src/engine/strategy.ts'
import { type BotOptions, type EngineRig, fillOf, MINT, orders } from '../../support/engine-rig.ts'
import { RecordedMoney } from '../../support/recorded-money.ts'
import { TalkingBot } from '../../support/talking-bot.ts'

// Conditional orders where something goes wrong: late fills, forks, clocks, restarts, and strategies that ask while
// they are told.

const BUY = { sol: 0.1, reason: 'told to' }
const LIMIT = { ...BUY, atPrice: 0.8e-6, scaleIn: true }

function settled(options: BotOptions = {}, heard: OrderView[] = []): TalkingBot {
  const talk = new TalkingBot(options, () => ({ onOrder: (order) => void heard.push(order) }))
  talk.rig.settle(1e-6)
  return talk
}

const states = (outputs: readonly Output[]): string[] =>
  outputs.flatMap((output) => (output.kind === 'conditional' ? [`${output.order.id} ${output.order.state}`] : []))

function recorded(rig: EngineRig): RecordedMoney {
  const record = new RecordedMoney()
  for (const output of rig.outputs) record.output(output)
  return record
}

function restart(
  talk: TalkingBot,
  options: BotOptions = {},
  change: (money: RecoveredMoney) => RecoveredMoney = (money) => money,
) {
  const money = change(decodeJson<RecoveredMoney>(encodeJson(recorded(talk.rig).money())))
  const again = new TalkingBot({ ...options, money })
  again.rig.now = talk.rig.now
  return again
}

/** A limit buy of which so many orders have ended without a fill. */
function failed(talk: TalkingBot, times: number): Order[] {
  talk.ask((bot, token) => bot.limitBuy(token, LIMIT))
  const ended: Order[] = []
  while (ended.length < times) {
    const [order] = orders(talk.rig.trade(0.7e-6, { ms: 500 }))
    if (order === undefined) continue
    talk.rig.report(order, 'expired', { code: 'TTL' })
    ended.push(order)
  }
  return ended
}

describe('a fill that comes late', () => {
  it.each([1, 2, 3])('of one of its orders is what a limit buy was for: try %d of 3', (which) => {
    const talk = settled()
    const order = failed(talk, 3)[which - 1] as Order
    expect(states(talk.rig.fill(order, 0.7e-6))).toEqual(['c1 done'])
    expect(orders(talk.rig.trade(0.7e-6, { ms: 60_000 }))).toEqual([])
  })

  it.each([1, 2, 3])('after a restart, too: try %d of 3', (which) => {
    const talk = settled()
    const order = failed(talk, 3)[which - 1] as Order
    const again = restart(talk)
    again.rig.settle(0.9e-6)
    expect(states(again.rig.fill(order, 0.7e-6))).toEqual(['c1 done'])
    again.rig.now += 60_000
    expect(orders(again.rig.settle(0.7e-6))).toEqual([])
  })

  it('calls off the order that was made in its place', () => {
    const talk = settled()
    const [first] = failed(talk, 1) as [Order]
    const [second] = orders(talk.rig.trade(0.7e-6, { ms: 5_000 })) as [Order]
    const outputs = talk.rig.fill(first, 0.7e-6)
    expect(states(outputs)).toEqual(['c1 done'])
    expect(outputs).toContainEqual({ kind: 'cancel', orderId: second.id, code: 'CANCELLED' })
  })
})

describe('a fill that a fork takes back', () => {
  it('leaves its limit buy done: it may come again, and nothing is bought in its place', () => {
    const talk = settled()
    talk.ask((bot, token) => bot.limitBuy(token, LIMIT))
    const [order] = orders(talk.rig.settle(0.7e-6)) as [Order]
    const fill = fillOf(order, 0.7e-6, talk.rig.now, { final: false })
    talk.rig.report(order, 'filled', { fill })
    talk.rig.report(order, 'working', { reversed: fill.signature, code: 'REVERSED' })
    talk.rig.report(order, 'not_executed', { code: 'ABSENT' })
    expect(orders(talk.rig.trade(0.7e-6, { ms: 60_000 }))).toEqual([])
    expect(talk.ask((bot) => bot.orders(), 0.7e-6)).toEqual([])
  })
})

describe('an order that is called off', () => {
  it('ends its limit buy with it', () => {
    const talk = settled()
    talk.ask((bot, token) => bot.limitBuy(token, LIMIT))
    const [order] = orders(talk.rig.settle(0.7e-6)) as [Order]
    expect(talk.ask((bot) => bot.cancel(order.id), 0.7e-6)).toBe(true)
    expect(states(talk.rig.report(order, 'cancelled', { code: 'CANCELLED' }))).toEqual(['c1 cancelled'])
    expect(orders(talk.rig.trade(0.7e-6, { ms: 60_000 }))).toEqual([])
  })
})

describe('who may not buy', () => {
  const told = new Error('thrown by the test')
  it.each<[what: string, stop: (talk: TalkingBot) => unknown]>([
    ['is halted', ({ rig }) => rig.input({ kind: 'command', command: { name: 'halt' } })],
    ['is flattened', ({ rig }) => rig.input({ kind: 'command', command: { name: 'flatten' } })],
    ['is stopping', ({ rig }) => rig.input({ kind: 'command', command: { name: 'stop' } })],
    ['has an old feed', ({ rig }) => rig.input({ kind: 'feed', status: 'stale', confirmed: [] })],
    [
      'threw',
      (talk) =>
        talk.dare(() => {
          throw told
        }),
    ],
  ])('buys nothing by what waits, whoever %s', (_what, stop) => {
    const talk = settled()
    talk.ask((bot, token) => bot.limitBuy(token, LIMIT))
    talk.ask((bot, token) => bot.dca(token, { ...BUY, everySeconds: 60, times: 3 }))
    stop(talk)
    for (const output of talk.rig.outputs.slice())
      if (output.kind === 'timer') talk.rig.input({ kind: 'timer', id: output.timer.id })
    talk.rig.settle(0.7e-6)
    expect(orders(talk.rig.outputs)).toEqual([])
  })
})

describe('a bracket', () => {
  it('is not bought into what is held, whose exits it would not change', () => {
    const talk = settled()
    const ends = { stopPrice: 0.5e-6, takeProfitPrice: 2e-6, scaleIn: true }
    for (const atPrice of [undefined, 0.8e-6])
      expect(
        talk.ask((bot, token) => bot.bracket(token, { ...BUY, ...ends, ...(atPrice && { atPrice }) })),
      ).toMatchObject({
        code: 'REQUEST_INVALID',
      })
  })
})

describe('a schedule and a limit of one name', () => {
  const both = { ...BUY, oneCancelsOther: 'either' }
  /** Fires what is due within so many seconds. */
  const pass = (talk: TalkingBot, seconds: number): Output[] => {
    talk.rig.now += seconds * 1_000
    const timers = recorded(talk.rig).timers
    return [...timers.values()]
      .filter(({ at }) => at <= talk.rig.now)
      .flatMap(({ id }) => talk.rig.input({ kind: 'timer', id }))
  }
  /** Its last instalment falls due while the limit's order is out. */
  const meeting = (): { talk: TalkingBot; first: Order; limit: Order } => {
    const talk = settled()
    talk.ask((bot, token) => bot.dca(token, { ...both, everySeconds: 60, times: 2 }))
    talk.ask((bot, token) => bot.limitBuy(token, { ...both, atPrice: 0.8e-6, scaleIn: true }))
    const [first] = orders(pass(talk, 0)) as [Order]
    talk.rig.fill(first, 1e-6)
    const [limit] = orders(talk.rig.settle(0.7e-6)) as [Order]
    expect([states(pass(talk, 60)), orders(pass(talk, 5))]).toEqual([[], []])
    return { talk, first, limit }
  }

  it('do not both buy: the last instalment waits for what the limit became', () => {
    const { talk, limit } = meeting()
    expect(states(talk.rig.fill(limit, 0.7e-6))).toEqual(['c2 done', 'c1 cancelled'])
    expect(orders(pass(talk, 600))).toEqual([])
  })

  it('the last instalment is made once that has ended without', () => {
    const { talk, limit } = meeting()
    talk.rig.report(limit, 'expired', { code: 'TTL' })
    const outputs = pass(talk, 5)
    expect([orders(outputs).length, states(outputs)]).toEqual([1, ['c1 done', 'c2 cancelled']])
  })
})

describe('its time', () => {
  it('is over by the clock, whether a timer said so or not: a machine that slept', () => {
    const talk = settled()
    talk.ask((bot, token) => bot.limitBuy(token, { ...LIMIT, forSeconds: 30 }))
    talk.rig.now += 86_400_000
    const outputs = talk.rig.settle(0.7e-6)
    expect([orders(outputs), states(outputs)]).toEqual([[], ['c1 expired']])
  })

  it('has a timer after a restart, though a process of another account fired and forgot it', () => {
    const talk = settled()
    talk.ask((bot, token) => bot.limitBuy(token, { ...LIMIT, forSeconds: 30 }))
    talk.ask((bot, token) => bot.dca(token, { ...BUY, everySeconds: 60, times: 3 }))
    const again = restart(talk, {}, (money) => ({ ...money, timers: [] }))
    const set = again.rig.outputs.flatMap((output) => (output.kind === 'timer' ? [output.timer.name] : []))
    expect(set).toEqual(['due:c1', 'due:c2'])
  })
})

describe('whose money it is', () => {
  it('a bot that has another wallet now buys nothing with it for the old one', () => {
    const talk = settled({ wallet: 'old' })
    talk.ask((bot, token) => bot.limitBuy(token, LIMIT))
    const again = restart(talk, { wallet: 'new' })
    expect(orders(again.rig.settle(0.7e-6))).toEqual([])
    expect(again.ask((bot) => [bot.orders(), bot.cancel('c1')], 0.7e-6)).toEqual([[], false])
  })
})

describe('a strategy that asks in the handler that tells it', () => {
  it('has its new position on record after the old one, not before', () => {
    const talk = new TalkingBot({}, (bot) => ({
      onOrder: ({ id }, token) => {
        if (id === 'c1') bot.buy(token, BUY)
      },
    }))
    talk.rig.settle(1e-6)
    talk.ask((bot, token) => bot.buy(token, BUY))
    talk.rig.fill(orders(talk.rig.outputs)[0] as Order, 1e-6)
    talk.ask((bot, token) => bot.stopSell(token, { atPrice: 0.5e-6, percent: 50, reason: 'half' }))
    talk.ask((bot, token) => bot.sell(token, { all: true, reason: 'out' }))
    const sale = orders(talk.rig.outputs).at(-1) as Order
    const fill = fillOf(sale, 1e-6, talk.rig.now, { tokens: 100_000_000_000n })
    const outputs = talk.rig.report(sale, 'filled', { fill, unproved: 0 })
    expect(states(outputs)).toEqual(['c1 cancelled'])
    expect(orders(outputs)).toHaveLength(1)
    const { account } = sale
    expect(recorded(talk.rig).positions.get(`${account}|${MINT}`)?.state).toBe('opening')
  })
})

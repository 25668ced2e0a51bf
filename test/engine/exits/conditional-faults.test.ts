import { describe, expect, it } from 'vitest'
import { decodeJson, encodeJson } from '../../../src/base/json.ts'
import type { Output } from '../../../src/engine/messages.ts'
import type { Order } from '../../../src/engine/order.ts'
import type { RecoveredMoney } from '../../../src/engine/recovered-money.ts'
import type { OrderView } from '../../../src/engine/strategy.ts'
import { type BotOptions, type EngineRig, fillOf, MINT, orders } from '../../support/engine-rig.ts'
import { RecordedMoney } from '../../support/recorded-money.ts'
import { TalkingBot } from '../../support/talking-bot.ts'

// Tests of faults around conditional orders: late fills, forks, clocks, restarts, and strategies that place orders in a
// handler.

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

/** Lets the first `times` orders of a limit buy fail. Returns all its orders; the last one is still open. */
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

describe('a late fill', () => {
  it.each([1, 2, 3])('a late fill of order %d of 3 ends the limit buy that placed these orders', (which) => {
    const talk = settled()
    const order = failed(talk, 3)[which - 1] as Order
    expect(states(talk.rig.fill(order, 0.7e-6))).toEqual(['c1 done'])
    expect(orders(talk.rig.trade(0.7e-6, { ms: 60_000 }))).toEqual([])
  })

  it.each([1, 2, 3])(
    'after a restart, a late fill of order %d of 3 ends the limit buy that placed these orders',
    (which) => {
      const talk = settled()
      const order = failed(talk, 3)[which - 1] as Order
      const again = restart(talk)
      again.rig.settle(0.9e-6)
      expect(states(again.rig.fill(order, 0.7e-6))).toEqual(['c1 done'])
      again.rig.now += 60_000
      expect(orders(again.rig.settle(0.7e-6))).toEqual([])
    },
  )

  it('a late fill of an order of a limit buy cancels the next order of this limit buy', () => {
    const talk = settled()
    const [first] = failed(talk, 1) as [Order]
    const [second] = orders(talk.rig.trade(0.7e-6, { ms: 5_000 })) as [Order]
    const outputs = talk.rig.fill(first, 0.7e-6)
    expect(states(outputs)).toEqual(['c1 done'])
    expect(outputs).toContainEqual({ kind: 'cancel', orderId: second.id, code: 'CANCELLED' })
  })
})

describe('a fill that a fork reverses', () => {
  it('if a fork reverses a fill, its limit buy stays done, because the transaction may land again', () => {
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

describe('a cancelled order', () => {
  it('if a strategy cancels the order of a limit buy, the limit buy is cancelled and places no other order', () => {
    const talk = settled()
    talk.ask((bot, token) => bot.limitBuy(token, LIMIT))
    const [order] = orders(talk.rig.settle(0.7e-6)) as [Order]
    expect(talk.ask((bot) => bot.cancel(order.id), 0.7e-6)).toBe(true)
    expect(states(talk.rig.report(order, 'cancelled', { code: 'CANCELLED' }))).toEqual(['c1 cancelled'])
    expect(orders(talk.rig.trade(0.7e-6, { ms: 60_000 }))).toEqual([])
  })
})

describe('a conditional buy waits', () => {
  const told = new Error('thrown by the test')
  it.each<[what: string, stop: (talk: TalkingBot) => unknown]>([
    [
      'a conditional buy sends no order while its bot is halted',
      ({ rig }) => rig.input({ kind: 'command', command: { name: 'halt' } }),
    ],
    [
      'a conditional buy sends no order after a flatten',
      ({ rig }) => rig.input({ kind: 'command', command: { name: 'flatten' } }),
    ],
    [
      'a conditional buy sends no order while its process stops',
      ({ rig }) => rig.input({ kind: 'command', command: { name: 'stop' } }),
    ],
    [
      'a conditional buy sends no order while the feed is stale',
      ({ rig }) => rig.input({ kind: 'feed', status: 'stale', confirmed: [] }),
    ],
    [
      'a conditional buy sends no order after its strategy threw an error',
      (talk) =>
        talk.dare(() => {
          throw told
        }),
    ],
  ])('%s', (_what, stop) => {
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
  it('a conditional buy of a held token is refused, because it cannot change the exits of the position', () => {
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

describe('a schedule and a limit buy of one group', () => {
  const both = { ...BUY, oneCancelsOther: 'either' }
  /** Fires the timers of the next seconds, and returns the outputs. */
  const pass = (talk: TalkingBot, seconds: number): Output[] => {
    talk.rig.now += seconds * 1_000
    const timers = recorded(talk.rig).timers
    return [...timers.values()]
      .filter(({ at }) => at <= talk.rig.now)
      .flatMap(({ id }) => talk.rig.input({ kind: 'timer', id }))
  }
  /**
   * Sets up a schedule and a limit buy in one group. The last installment is due while the order of the limit buy is
   * open.
   */
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

  it('the last installment waits for the outcome of the limit buy in its group, so that not both buy', () => {
    const { talk, limit } = meeting()
    expect(states(talk.rig.fill(limit, 0.7e-6))).toEqual(['c2 done', 'c1 cancelled'])
    expect(orders(pass(talk, 600))).toEqual([])
  })

  it('the last installment is bought after the limit buy has ended without a fill', () => {
    const { talk, limit } = meeting()
    talk.rig.report(limit, 'expired', { code: 'TTL' })
    const outputs = pass(talk, 5)
    expect([orders(outputs).length, states(outputs)]).toEqual([1, ['c1 done', 'c2 cancelled']])
  })
})

describe('an expiry', () => {
  it('a conditional order buys nothing after its time, even if its timer is late, for example after the computer was suspended', () => {
    const talk = settled()
    talk.ask((bot, token) => bot.limitBuy(token, { ...LIMIT, forSeconds: 30 }))
    talk.rig.now += 86_400_000
    const outputs = talk.rig.settle(0.7e-6)
    expect([orders(outputs), states(outputs)]).toEqual([[], ['c1 expired']])
  })

  it('after a restart, conditional orders get new timers if a process with another account has cleared their timers', () => {
    const talk = settled()
    talk.ask((bot, token) => bot.limitBuy(token, { ...LIMIT, forSeconds: 30 }))
    talk.ask((bot, token) => bot.dca(token, { ...BUY, everySeconds: 60, times: 3 }))
    const again = restart(talk, {}, (money) => ({ ...money, timers: [] }))
    const set = again.rig.outputs.flatMap((output) => (output.kind === 'timer' ? [output.timer.name] : []))
    expect(set).toEqual(['due:c1', 'due:c2'])
  })
})

describe('a bot with a new wallet', () => {
  it('a bot with a new wallet buys nothing for conditional orders of its old wallet', () => {
    const talk = settled({ wallet: 'old' })
    talk.ask((bot, token) => bot.limitBuy(token, LIMIT))
    const again = restart(talk, { wallet: 'new' })
    expect(orders(again.rig.settle(0.7e-6))).toEqual([])
    expect(again.ask((bot) => [bot.orders(), bot.cancel('c1')], 0.7e-6)).toEqual([[], false])
  })
})

describe('a strategy that places an order in a handler', () => {
  it('if a strategy buys in onOrder while its position closes, the new position is recorded after the closed one', () => {
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

import { describe, expect, it } from 'vitest'
import { decodeJson, encodeJson } from '../../../src/base/json.ts'
import type { Output } from '../../../src/engine/messages.ts'
import type { Order } from '../../../src/engine/order.ts'
import type { Bot, OrderView, Placed, Token } from '../../../src/engine/strategy.ts'
import { fillOf, MINT, MINT_2, orders, refusals } from '../../support/engine-rig.ts'
import { RecordedMoney } from '../../support/recorded-money.ts'
import { TalkingBot } from '../../support/talking-bot.ts'

const BUY = { sol: 0.1, reason: 'told to' }
const SELL = { percent: 50, reason: 'half' }

/** Returns a bot whose token has a robust price of 1e-6. Stores the reports to its strategy in `heard`. */
function settled(heard: OrderView[] = []): TalkingBot {
  const talk = new TalkingBot({}, () => ({ onOrder: (order) => void heard.push(order) }))
  talk.rig.settle(1e-6)
  return talk
}

/** Returns a bot that holds tokens, bought with 0.1 SOL at 1e-6. */
function holding(heard: OrderView[] = []): TalkingBot {
  const talk = settled(heard)
  talk.ask((bot, token) => bot.buy(token, BUY))
  talk.rig.fill(orders(talk.rig.outputs)[0] as Order, 1e-6)
  heard.length = 0
  return talk
}

const asked = (outputs: readonly Output[]): string[] =>
  orders(outputs).map(({ side, size }) => `${side} ${size.kind === 'percent' ? size.percent : size.kind}`)
const states = (outputs: readonly Output[]): string[] =>
  outputs.flatMap((output) => (output.kind === 'conditional' ? [`${output.order.id} ${output.order.state}`] : []))
const idOf = (placed: Placed): string => (placed.ok ? placed.id : placed.code)
const waiting = (talk: TalkingBot): string[] => talk.ask((bot) => bot.orders()).map(({ id, state }) => `${id} ${state}`)

/** Fires the timer of a conditional order. */
function wake(talk: TalkingBot, id: string): Output[] {
  const set = talk.rig.outputs.flatMap((output) => (output.kind === 'timer' ? [output.timer] : []))
  const timer = set.findLast(({ name }) => name === `due:${id}`)
  if (timer === undefined) throw new Error(`no timer of ${id}`)
  talk.rig.now = Math.max(talk.rig.now, timer.at)
  return talk.rig.input({ kind: 'timer', id: timer.id })
}

/** Returns the same bot in a new process, which was restored from the journal. */
function restart(talk: TalkingBot, heard: OrderView[] = []): TalkingBot {
  const recorded = new RecordedMoney()
  for (const output of talk.rig.outputs) recorded.output(output)
  const money = decodeJson<ReturnType<RecordedMoney['money']>>(encodeJson(recorded.money()))
  return new TalkingBot({ money }, () => ({ onOrder: (order) => void heard.push(order) }))
}

describe('a limit buy', () => {
  it('a conditional order waits until the robust price reaches its level, and is done when its order fills', () => {
    const heard: OrderView[] = []
    const talk = settled(heard)
    const id = idOf(talk.ask((bot, token) => bot.limitBuy(token, { ...BUY, atPrice: 0.8e-6 })))
    expect(id).toBe('c1')
    expect(asked(talk.rig.settle(0.81e-6))).toEqual([])
    expect(waiting(talk)).toEqual(['c1 waiting'])
    const outputs = talk.rig.settle(0.8e-6)
    expect([...asked(outputs), ...states(outputs)]).toEqual(['buy sol', 'c1 working'])
    expect(states(talk.rig.fill(orders(outputs)[0] as Order, 0.8e-6))).toEqual(['c1 done'])
    expect(heard.map(({ id: about, state }) => `${about} ${state}`)).toContain('c1 done')
    expect(waiting(talk)).toEqual([])
  })

  it('a conditional order does not act on a single print', () => {
    const talk = settled()
    talk.ask((bot, token) => bot.limitBuy(token, { ...BUY, atPrice: 0.8e-6 }))
    expect(asked(talk.rig.trade(0.1e-6))).toEqual([])
  })

  it('if the orders of a conditional order fail, it places the next one after growing waits, at most five', () => {
    const talk = settled()
    talk.ask((bot, token) => bot.limitBuy(token, { ...BUY, atPrice: 0.8e-6 }))
    const waits: number[] = []
    let order = orders(talk.rig.settle(0.7e-6))[0] as Order
    for (let tries = 1; tries < 5; tries++) {
      const failedAt = talk.rig.now
      expect(states(talk.rig.report(order, 'expired', { code: 'TTL' }))).toEqual(['c1 waiting'])
      let next: Order | undefined
      while (next === undefined) [next] = orders(talk.rig.trade(0.7e-6, { ms: 500 }))
      waits.push(next.time - failedAt)
      order = next
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000])
    expect(states(talk.rig.report(order, 'expired', { code: 'TTL' }))).toEqual(['c1 failed'])
  })

  it('a conditional order that a limit refuses reports this once, waits, and buys as soon as the limit allows it', () => {
    const talk = settled()
    talk.ask((bot, token) => bot.limitBuy(token, { ...BUY, atPrice: 0.8e-6 }))
    talk.rig.input({ kind: 'command', command: { name: 'halt' } })
    expect(refusals(talk.rig.settle(0.7e-6))).toEqual(['HALTED'])
    talk.rig.input({ kind: 'command', command: { name: 'resume' } })
    expect(asked(talk.rig.trade(0.7e-6))).toEqual(['buy sol'])
  })

  it('a conditional order expires or is cancelled, and does nothing after that', () => {
    const heard: OrderView[] = []
    const talk = settled(heard)
    talk.ask((bot, token) => bot.limitBuy(token, { ...BUY, atPrice: 0.8e-6, forSeconds: 30 }))
    talk.ask((bot, token) => bot.limitBuy(token, { ...BUY, atPrice: 0.8e-6 }))
    expect(talk.ask((bot) => [bot.cancel('c2'), bot.cancel('c2'), bot.cancel('c9')])).toEqual([true, false, false])
    expect(states(wake(talk, 'c1'))).toEqual(['c1 expired'])
    expect(heard.map(({ id, state }) => `${id} ${state}`)).toEqual(['c1 expired'])
    expect(asked(talk.rig.settle(0.7e-6))).toEqual([])
  })
})

describe('conditional sales', () => {
  it.each<[what: 'limitSell' | 'stopSell', price: number]>([
    ['limitSell', 1.5e-6],
    ['stopSell', 0.5e-6],
  ])('a conditional sale of a part (%s) is retried until it fills', (what, price) => {
    const talk = holding()
    talk.ask((bot, token) => bot[what](token, { ...SELL, atPrice: price }))
    const outputs = talk.rig.settle(price)
    expect([...asked(outputs), ...states(outputs)]).toEqual(['sell 50', 'c1 done'])
    const [order] = orders(outputs) as [Order]
    talk.rig.report(order, 'failed')
    const retry = talk.rig.outputs.flatMap((output) => (output.kind === 'timer' ? [output.timer] : [])).at(-1)
    expect(asked(talk.rig.input({ kind: 'timer', id: retry?.id ?? 0 }))).toEqual(['sell 50'])
  })

  it('when one order of a pair is triggered, it sells, and the other order ends', () => {
    const talk = holding()
    const pair = { ...SELL, oneCancelsOther: 'half' }
    talk.ask((bot, token) => [
      bot.limitSell(token, { ...pair, atPrice: 2e-6 }),
      bot.stopSell(token, { ...pair, atPrice: 0.5e-6 }),
    ])
    const outputs = talk.rig.settle(0.4e-6)
    expect(states(outputs)).toEqual(['c2 done', 'c1 cancelled'])
    expect(asked(talk.rig.settle(3e-6))).toEqual([])
  })

  it('several conditional sales that are due at once never sell more than the position', () => {
    const talk = holding()
    talk.ask((bot, token) => [1, 2, 3].map(() => bot.limitSell(token, { ...SELL, atPrice: 1.5e-6 })))
    expect(asked(talk.rig.settle(1.5e-6))).toEqual(['sell 50'])
    const [order] = orders(talk.rig.outputs).slice(-1) as [Order]
    const outputs = talk.rig.report(order, 'filled', {
      fill: fillOf(order, 1.5e-6, talk.rig.now, { tokens: 50_000_000_000n }),
    })
    expect(asked(outputs)).toEqual(['sell all'])
  })

  it('when a position closes, its conditional sales end; `flatten` ends conditional buys', () => {
    const talk = holding()
    talk.ask((bot, token) => bot.limitSell(token, { ...SELL, atPrice: 9e-6 }))
    talk.ask((bot) => bot.limitBuy(MINT_2, { ...BUY, atPrice: 0.5e-6 }))
    expect(states(talk.rig.input({ kind: 'command', command: { name: 'flatten' } }))).toEqual(['c2 cancelled'])
    const exit = orders(talk.rig.outputs).at(-1) as Order
    const fill = fillOf(exit, 1e-6, talk.rig.now, { tokens: 100_000_000_000n })
    expect(states(talk.rig.report(exit, 'filled', { fill }))).toEqual(['c1 cancelled'])
  })
})

describe('orders of a one-cancels-the-other group', () => {
  it('while one buy of a group has an open order, the other waits, and the fill of the first ends the other', () => {
    const talk = settled()
    talk.rig.settle(1e-6, MINT_2)
    const pair = { ...BUY, atPrice: 0.8e-6, oneCancelsOther: 'either' }
    talk.ask((bot, token) => [bot.limitBuy(token, pair), bot.limitBuy(MINT_2, pair)])
    const [order] = orders(talk.rig.settle(0.7e-6)) as [Order]
    expect(asked(talk.rig.settle(0.7e-6, MINT_2))).toEqual([])
    talk.rig.report(order, 'expired', { code: 'TTL' })
    const [other] = orders(talk.rig.trade(0.7e-6, { mint: MINT_2 })) as [Order]
    expect(other.mint).toBe(MINT_2)
    expect(states(talk.rig.fill(other, 0.7e-6))).toEqual(['c2 done', 'c1 cancelled'])
  })
})

describe('a bracket', () => {
  const ends = { stopPrice: 0.8e-6, takeProfitPrice: 2e-6 }
  it.each<[price: number, reason: RegExp]>([
    [0.79e-6, /^stop: /],
    [2.1e-6, /^take-profit: /],
  ])('a bracket around a price of 1e-6 sells everything at %d', (price, reason) => {
    const talk = new TalkingBot({ exits: { stopLossPercent: 5, takeProfitPercent: 10 } })
    talk.rig.settle(1e-6)
    expect(idOf(talk.ask((bot, token) => bot.bracket(token, { ...BUY, ...ends })))).toBe('o1')
    talk.rig.fill(orders(talk.rig.outputs)[0] as Order, 1e-6)
    expect(asked(talk.rig.settle(0.9e-6))).toEqual([])
    expect(orders(talk.rig.settle(price))).toMatchObject([
      { size: { kind: 'all' }, reason: expect.stringMatching(reason) },
    ])
  })

  it('a bracket with a price buys at this price, and keeps its exits across a restart', () => {
    const talk = settled()
    expect(idOf(talk.ask((bot, token) => bot.bracket(token, { ...BUY, ...ends, atPrice: 0.9e-6 })))).toBe('c1')
    const again = restart(talk)
    expect(asked(again.rig.settle(0.89e-6))).toEqual(['buy sol'])
    const position = again.rig.outputs.findLast((output) => output.kind === 'position')
    expect(position).toMatchObject({ position: { exits: ends } })
  })

  it.each([
    { stopPrice: 1e-6, takeProfitPrice: 2e-6 },
    { stopPrice: 0.5e-6, takeProfitPrice: 1e-6 },
    { stopPrice: Number.NaN, takeProfitPrice: 2e-6 },
  ])('a bracket is refused unless its prices are on both sides of the present price of 1e-6: %j', (wrong) => {
    expect(settled().ask((bot, token) => bot.bracket(token, { ...BUY, ...wrong }))).toMatchObject({
      code: 'REQUEST_INVALID',
    })
  })
})

describe('a schedule', () => {
  it('a schedule buys each installment, skips refused and expensive installments, and ends', () => {
    const heard: OrderView[] = []
    const talk = settled(heard)
    talk.ask((bot, token) => bot.dca(token, { ...BUY, everySeconds: 60, times: 4, maxPrice: 1.5e-6 }))
    const first = wake(talk, 'c1')
    expect(asked(first)).toEqual(['buy sol'])
    talk.rig.fill(orders(first)[0] as Order, 1e-6)
    const second = wake(talk, 'c1')
    expect(asked(second)).toEqual(['buy sol'])
    expect(refusals(wake(talk, 'c1'))).toEqual(['LANE_BUSY'])
    talk.rig.settle(2e-6)
    const last = wake(talk, 'c1')
    expect([...asked(last), ...states(last)]).toEqual(['c1 done'])
    expect(heard.at(-1)).toMatchObject({ id: 'c1', state: 'done' })
  })

  it('a schedule continues after a restart', () => {
    const talk = settled()
    talk.ask((bot, token) => bot.dca(token, { ...BUY, everySeconds: 60, times: 2 }))
    wake(talk, 'c1')
    const again = restart(talk)
    again.rig.settle(1e-6)
    expect(states(wake(again, 'c1'))).toEqual(['c1 done'])
  })
})

describe('after a restart', () => {
  it('after a restart, waiting orders act only on new prices, and the ids of new orders continue the numbering', () => {
    const talk = settled()
    talk.ask((bot, token) => bot.limitBuy(token, { ...BUY, atPrice: 0.8e-6 }))
    const again = restart(talk)
    expect(asked(again.rig.trade(0.7e-6))).toEqual([])
    again.rig.trade(0.7e-6)
    expect(asked(again.rig.trade(0.7e-6))).toEqual(['buy sol'])
    expect(idOf(again.ask((bot) => bot.limitBuy(MINT_2, { ...BUY, atPrice: 1e-7 }), 0.7e-6))).toBe('c2')
  })

  it('after a restart, the strategy receives the report of an order that was still open', () => {
    const talk = settled()
    talk.ask((bot, token) => bot.limitBuy(token, { ...BUY, atPrice: 0.8e-6 }))
    const [order] = orders(talk.rig.settle(0.7e-6)) as [Order]
    const again = restart(talk)
    expect(asked(again.rig.settle(0.7e-6))).toEqual([])
    expect(states(again.rig.fill(order, 0.7e-6))).toEqual(['c1 done'])
  })
})

describe('an invalid request is refused', () => {
  type Ask = (bot: Bot<unknown>, token: Token<unknown>) => Placed
  it.each<[what: string, ask: Ask, code: string]>([
    [
      'a limit buy without a price is refused',
      (bot, token) => bot.limitBuy(token, { ...BUY, atPrice: Number.NaN }),
      'REQUEST_INVALID',
    ],
    [
      'a limit buy with a negative time is refused',
      (bot, token) => bot.limitBuy(token, { ...BUY, atPrice: 1, forSeconds: -1 }),
      'REQUEST_INVALID',
    ],
    [
      'a limit buy of too much SOL is refused',
      (bot, token) => bot.limitBuy(token, { ...BUY, sol: 1e5, atPrice: 1 }),
      'AMOUNT_RANGE',
    ],
    [
      'a limit sale without a position is refused',
      (bot, token) => bot.limitSell(token, { ...SELL, atPrice: 1 }),
      'NO_POSITION',
    ],
    [
      'a limit buy with an invalid name of its group is refused',
      (bot, token) => bot.limitBuy(token, { ...BUY, atPrice: 1, oneCancelsOther: 7 as never }),
      'REQUEST_INVALID',
    ],
    [
      'a schedule without installments is refused',
      (bot, token) => bot.dca(token, { ...BUY, everySeconds: 5, times: 0 }),
      'REQUEST_INVALID',
    ],
    [
      'a schedule of half an installment is refused',
      (bot, token) => bot.dca(token, { ...BUY, everySeconds: 5, times: 0.5 }),
      'REQUEST_INVALID',
    ],
    [
      'a schedule with too short an interval is refused',
      (bot, token) => bot.dca(token, { ...BUY, everySeconds: 0.1, times: 2 }),
      'REQUEST_INVALID',
    ],
    ['a limit buy of an invalid mint is refused', (bot) => bot.limitBuy('x', { ...BUY, atPrice: 1 }), 'MINT_INVALID'],
    [
      'a limit buy with an invalid exit is refused',
      (bot, token) => bot.limitBuy(token, { ...BUY, atPrice: 1, exits: { stopLossPercent: 200 } }),
      'REQUEST_INVALID',
    ],
  ])('%s', (_what, ask, code) => {
    const talk = settled()
    expect(talk.ask(ask)).toMatchObject({ ok: false, code })
    expect(states(talk.rig.outputs)).toEqual([])
  })

  it.each([
    [{ percent: 0.1 }, 'REQUEST_INVALID'],
    [{ percent: 0.11 }, 'c1'],
    [{ tokens: 100 }, 'REQUEST_INVALID'],
    [{ tokens: 101 }, 'c1'],
  ])(
    'a conditional sale of %j of 100,000 tokens is refused if rounding would count this part as sold',
    (size, answer) => {
      const talk = holding()
      expect(idOf(talk.ask((bot, token) => bot.stopSell(token, { ...size, atPrice: 0.5e-6, reason: 'part' })))).toBe(
        answer,
      )
    },
  )

  it('a conditional order is refused if the maximum number of them already waits', () => {
    const talk = settled()
    const answers = talk.ask((bot) =>
      Array.from({ length: 2_001 }, () => bot.limitBuy(MINT, { ...BUY, atPrice: 1e-9 }).ok),
    )
    expect(answers.filter((ok) => !ok)).toHaveLength(1)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeJson, encodeJson } from '../../../src/base/json.ts'
import type { Position } from '../../../src/engine/accounting/position.ts'
import { readExits } from '../../../src/engine/exits/exit-request.ts'
import { exitProblems } from '../../../src/engine/exits/exit-rules.ts'
import type { ExitRules } from '../../../src/engine/exits/exit-settings.ts'
import type { Input, Output } from '../../../src/engine/messages.ts'
import type { Order } from '../../../src/engine/order.ts'
import { NO_MONEY } from '../../../src/engine/recovered-money.ts'
import { fillOf, orders } from '../../support/engine-rig.ts'
import { RecordedMoney } from '../../support/recorded-money.ts'
import { TalkingBot } from '../../support/talking-bot.ts'

const BOUGHT = 100_000_000_000n // base units: 0.1 SOL at 1e-6

/** Returns a bot with these exits that holds tokens, bought with 0.1 SOL at 1e-6. */
function holding(exits: ExitRules, money = NO_MONEY): TalkingBot {
  const talk = new TalkingBot({ exits, money })
  talk.rig.settle(1e-6)
  talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason: 'told to' }))
  talk.rig.fill(orders(talk.rig.outputs)[0] as Order, 1e-6)
  return talk
}

const sales = (outputs: readonly Output[]): [size: string | number, reason: string][] =>
  orders(outputs)
    .filter(({ side }) => side === 'sell')
    .map(({ size, reason }) => [size.kind === 'percent' ? size.percent : size.kind, reason.split(':')[0] as string])

/** Fills the order of a sale at `price`, and returns the outputs. */
function execute(talk: TalkingBot, order: Order, price: number): Output[] {
  const held = positionOf(talk).tokens
  const tokens = order.size.kind === 'percent' ? (held * BigInt(Math.round(order.size.percent * 100))) / 10_000n : held
  return talk.rig.report(order, 'filled', { fill: fillOf(order, price, talk.rig.now, { tokens }) })
}

function positionOf({ rig }: TalkingBot): Position {
  const said = rig.outputs.flatMap((output) => (output.kind === 'position' ? [output.position] : []))
  return said.at(-1) as Position
}

function fire(talk: TalkingBot, what: string): Output[] {
  const timers = new Map<number, { at: number; name: string }>()
  for (const output of talk.rig.outputs) {
    if (output.kind === 'timer') timers.set(output.timer.id, output.timer)
    if (output.kind === 'timerCleared') timers.delete(output.id)
  }
  const [id, { at }] = [...timers].find(([, { name }]) => name.startsWith(what)) as [number, { at: number }]
  talk.rig.now = Math.max(talk.rig.now, at)
  return talk.rig.input({ kind: 'timer', id })
}

describe('exits that act on the price', () => {
  const steps = [
    { atPercent: 20, sellPercent: 30 },
    { atPercent: 50, sellPercent: 30 },
  ]
  it.each<[what: string, exits: ExitRules, prices: number[], sold: [string | number, string][]]>([
    ['a stop-loss sells all', { stopLossPercent: 20 }, [0.9, 0.81, 0.8], [['all', 'stop-loss']]],
    ['a take-profit sells all', { takeProfitPercent: 50 }, [1.49, 1.51], [['all', 'take-profit']]],
    ['a trailing stop sells all', { trailingPercent: 15 }, [2, 1.71, 1.69], [['all', 'trailing stop']]],
    [
      'a trailing stop sells nothing before trailingArmPercent is reached',
      { trailingPercent: 15, trailingArmPercent: 50 },
      [1.4, 1.1, 0.5],
      [],
    ],
    [
      'a trailing stop sells all after trailingArmPercent was reached',
      { trailingPercent: 15, trailingArmPercent: 50 },
      [1.51, 1.3, 1.28],
      [['all', 'trailing stop']],
    ],
    ['break-even sells nothing if the price was never above its level', { breakEvenAtPercent: 20 }, [1.19, 0.9], []],
    ['break-even sells all', { breakEvenAtPercent: 20 }, [1.21, 1.01, 0.99], [['all', 'break-even']]],
    ['a take-profit step that is not reached sells nothing', { takeProfitSteps: steps }, [1.19, 0.5], []],
    ['a take-profit step sells its share', { takeProfitSteps: steps }, [1.21], [[30, 'take-profit step 1 of 2']]],
    [
      'two take-profit steps that are reached at once sell their shares in one sale',
      { takeProfitSteps: steps },
      [1.6],
      [[60, 'take-profit step 2 of 2']],
    ],
    [
      'after a take-profit step, the stop-loss sells the remaining tokens',
      { takeProfitSteps: steps, stopLossPercent: 20 },
      [1.21, 0.7],
      [
        [30, 'take-profit step 1 of 2'],
        ['all', 'stop-loss'],
      ],
    ],
    [
      'a take-profit step of 100 % sells all',
      { takeProfitSteps: [{ atPercent: 20, sellPercent: 100 }] },
      [1.21],
      [['all', 'take-profit step 1 of 1']],
    ],
  ])('%s', (_what, exits, prices, sold) => {
    const talk = holding(exits)
    const seen: Output[] = []
    for (const price of prices) {
      const outputs = talk.rig.settle(price * 1e-6)
      seen.push(...outputs)
      for (const order of orders(outputs)) seen.push(...execute(talk, order, price * 1e-6))
    }
    expect(sales(seen)).toEqual(sold)
  })

  it('each take-profit step sells its share of the bought tokens, with or without earlier sales', () => {
    const talk = holding({ takeProfitSteps: [...steps, { atPercent: 100, sellPercent: 40 }] })
    const left: bigint[] = []
    for (const price of [1.3, 1.6, 2.1])
      for (const order of orders(talk.rig.settle(price * 1e-6))) {
        execute(talk, order, price * 1e-6)
        left.push((positionOf(talk).tokens * 100n + BOUGHT / 2n) / BOUGHT)
      }
    expect(left).toEqual([70n, 40n, 0n])
  })

  it('sales of the strategy count towards the take-profit steps', () => {
    const talk = holding({ takeProfitSteps: steps })
    talk.ask((bot, token) => bot.sell(token, { percent: 30, reason: 'mine' }))
    execute(talk, orders(talk.rig.outputs).at(-1) as Order, 1e-6)
    expect(sales(talk.rig.settle(1.21e-6))).toEqual([])
    expect(sales(talk.rig.settle(1.6e-6))).toEqual([[42.86, 'take-profit step 2 of 2']])
  })
})

describe('a take-profit step whose sale fails', () => {
  const exits: ExitRules = { takeProfitSteps: [{ atPercent: 20, sellPercent: 50 }], stopLossPercent: 20 }

  it('a failed sale of a take-profit step is retried at a higher slippage, even if the price has fallen, and after a restart', () => {
    const talk = holding(exits)
    const [first] = orders(talk.rig.settle(1.3e-6)) as [Order]
    expect(first.slippagePercents).toEqual([5, 15, 30, 50])
    talk.rig.report(first, 'failed', { code: 'SLIPPAGE_EXCEEDED' })
    talk.rig.settle(1.05e-6)
    const [second] = orders(fire(talk, 'retry')) as [Order]
    expect(second).toMatchObject({ size: { kind: 'percent', percent: 50 }, slippagePercents: [15, 30, 50] })
    talk.rig.report(second, 'failed')

    const recorded = new RecordedMoney()
    for (const output of talk.rig.outputs) recorded.output(output)
    const again = new TalkingBot({ exits: {}, money: decodeJson(encodeJson(recorded.money())) })
    const [third] = orders(fire(again, 'retry')) as [Order]
    expect(third).toMatchObject({ size: { kind: 'percent', percent: 50 }, slippagePercents: [30, 50] })
  })

  it('a stop-loss replaces the open sale of a take-profit step', () => {
    const talk = holding(exits)
    const [step] = orders(talk.rig.settle(1.3e-6)) as [Order]
    talk.rig.report(step, 'working')
    expect(sales(talk.rig.settle(0.7e-6))).toEqual([['all', 'stop-loss']])
  })

  it('a strategy cannot cancel the sale of a take-profit step', () => {
    const talk = holding(exits)
    const [step] = orders(talk.rig.settle(1.3e-6)) as [Order]
    expect(talk.ask((bot) => bot.cancel(step.id), 1.3e-6)).toBe(false)
  })

  it('a take-profit step sells again if a fork reverses its sale, and only in this case', () => {
    const talk = holding(exits)
    const [step] = orders(talk.rig.settle(1.3e-6)) as [Order]
    const fill = fillOf(step, 1.3e-6, talk.rig.now, { tokens: BOUGHT / 2n, final: false })
    talk.rig.report(step, 'filled', { fill })
    expect(sales(talk.rig.settle(1.3e-6))).toEqual([])
    talk.rig.report(step, 'working', { reversed: fill.signature })
    expect(sales(talk.rig.report(step, 'not_executed'))).toEqual([[50, 'take-profit step 1 of 1']])
  })
})

describe('maxHoldSeconds', () => {
  it.each([
    ['behind', 10_000, 60_000],
    ['in step with', -2_000, 58_000],
  ])(
    'maxHoldSeconds counts from the fill, or from now if the clock of the chain is ahead: our clock is %s the chain',
    (_what, aheadMs, leftMs) => {
      const talk = new TalkingBot({ exits: { maxHoldSeconds: 60 } })
      talk.rig.settle(1e-6)
      talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason: 'told to' }))
      const [buy] = orders(talk.rig.outputs) as [Order]
      const boughtAt = talk.rig.now
      talk.rig.report(buy, 'filled', { fill: fillOf(buy, 1e-6, boughtAt + aheadMs) })
      expect(sales(fire(talk, 'hold'))).toEqual([['all', 'held for 60 s']])
      expect(talk.rig.now - boughtAt).toBe(leftMs)
    },
  )
})

describe('takeProfitByAge', () => {
  const takeProfitByAge = { 0: 50, 60: 20, 120: 5 }
  const later = (talk: TalkingBot, seconds: number, price: number): Output[] => {
    talk.rig.now = Math.max(talk.rig.now, positionOf(talk).openedAt + seconds * 1_000)
    return talk.rig.settle(price)
  }
  const due: [string, string][] = [['all', 'take-profit by age']]

  it.each<[seconds: number, price: number, sold: [string, string][]]>([
    [0, 1.3, []],
    [0, 1.6, due],
    [60, 1.15, []],
    [60, 1.3, due],
    [120, 1.03, []],
    [120, 1.1, due],
  ])(
    'with targets by age, %i s after the fill a price of %f times the average price causes these sales: %j',
    (seconds, times, sold) => {
      expect(sales(later(holding({ takeProfitByAge }), seconds, times * 1e-6))).toEqual(sold)
    },
  )

  it('a target by age sets no timer: after an age is reached, nothing is sold before the next print', () => {
    const talk = holding({ takeProfitByAge })
    expect(sales(later(talk, 1, 1.3e-6))).toEqual([])
    talk.rig.now += 600_000
    expect(talk.rig.outputs.filter(({ kind }) => kind === 'timer')).toEqual([])
    expect(sales(talk.rig.trade(1.3e-6))).toEqual(due)
  })

  it('the age counts from the first fill, also for exits that setExits replaces, and across a restart', () => {
    const talk = holding({})
    later(talk, 61, 1e-6)
    talk.ask((bot, token) => bot.setExits(token, { takeProfitByAge, windowPrints: 5 }), 1e-6)
    const recorded = new RecordedMoney()
    for (const output of talk.rig.outputs) recorded.output(output)
    const again = new TalkingBot({ exits: {}, money: decodeJson(encodeJson(recorded.money())) })
    again.rig.now = talk.rig.now
    expect(sales(talk.rig.settle(1.3e-6))).toEqual(due)
    expect(sales(again.rig.settle(1.3e-6))).toEqual(due)
  })

  it('the takeProfitPrice of an order replaces the targets by age', () => {
    const talk = new TalkingBot({ exits: { takeProfitByAge } })
    talk.rig.settle(1e-6)
    talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason: 'told to', exits: { takeProfitPrice: 3e-6 } }))
    talk.rig.fill(orders(talk.rig.outputs)[0] as Order, 1e-6)
    expect(sales(later(talk, 200, 2e-6))).toEqual([])
    expect(sales(later(talk, 201, 4e-6))).toEqual([['all', 'take-profit']])
  })
})

describe('a token without trades', () => {
  const feed = (status: 'live' | 'down'): Input => ({ kind: 'feed', status, confirmed: [] })

  it('a token without trades is sold after idleSeconds since its last print', () => {
    const talk = holding({ idleSeconds: 60 })
    talk.rig.trade(1e-6, { ms: 40_000 })
    expect(sales(fire(talk, 'quiet'))).toEqual([])
    expect(sales(fire(talk, 'quiet'))).toEqual([['all', 'idle']])
  })

  it('a token does not count as idle while the feed is down or during a gap', () => {
    const talk = holding({ idleSeconds: 60 })
    talk.rig.input(feed('down'))
    expect(sales(fire(talk, 'quiet'))).toEqual([])
    talk.rig.now += 30_000
    talk.rig.input(feed('live'))
    talk.rig.input({ kind: 'gap', from: talk.rig.now - 90_000, to: talk.rig.now, keys: ['trades'] })
    expect(sales(fire(talk, 'quiet'))).toEqual([])
    expect(sales(fire(talk, 'quiet'))).toEqual([['all', 'idle']])
  })

  it.each<[ExitRules['whenStale'], unknown]>([
    [{ policy: 'flatten', afterSeconds: 30 }, [['all', 'no price for 30 s']]],
    [{ policy: 'hold', afterSeconds: 30 }, []],
  ])('a token without trades is sold by whenStale while the feed is down: %j', (whenStale, sold) => {
    const talk = holding({ ...(whenStale && { whenStale }), maxHoldSeconds: 900 })
    talk.rig.input(feed('down'))
    const hasTimer = talk.rig.outputs.some(
      ({ kind, ...more }) => kind === 'timer' && encodeJson(more).includes('quiet'),
    )
    expect(hasTimer ? sales(fire(talk, 'quiet')) : []).toEqual(sold)
  })

  it('idleSeconds and whenStale each sell a token without trades when their own time has passed', () => {
    const talk = holding({ idleSeconds: 20, whenStale: { policy: 'flatten', afterSeconds: 50 } })
    const boughtAt = talk.rig.now
    talk.rig.input(feed('down'))
    // The timer of idleSeconds fires twice without effect, because the feed is down.
    for (const _look of [1, 2]) expect(sales(fire(talk, 'quiet'))).toEqual([])
    expect(sales(fire(talk, 'quiet'))).toEqual([['all', 'no price for 50 s']])
    expect(talk.rig.now - boughtAt).toBe(50_000)
  })
})

it('if a late buy adds tokens after everything was sold, its take-profit steps start again', () => {
  const talk = holding({ takeProfitSteps: [20, 50].map((atPercent) => ({ atPercent, sellPercent: 50 })) })
  const { rig } = talk
  const done = (order: Order, price: number, tokens: bigint): Output[] =>
    rig.report(order, 'filled', { fill: fillOf(order, price, rig.now, { tokens, final: true }), unproved: 0 })
  const last = (): Order => orders(rig.outputs).at(-1) as Order
  const risen = (): [string | number, string][] => sales(rig.settle(1.3e-6))
  expect(risen()).toEqual([[50, 'take-profit step 1 of 2']])
  done(last(), 1.3e-6, BOUGHT / 2n)
  rig.settle(1e-6)
  talk.ask((bot, token) => bot.buy(token, { sol: 0.2, reason: 'more', scaleIn: true }))
  const more = last()
  talk.ask((bot, token) => bot.sell(token, { all: true, reason: 'told to' }))
  done(last(), 1e-6, BOUGHT / 2n)
  expect(positionOf(talk)).toMatchObject({ state: 'opening', tokens: 0n, steps: { taken: 1 } })
  done(more, 1e-6, BOUGHT * 2n)
  expect(positionOf(talk)).toMatchObject({ state: 'open', tokens: BOUGHT * 2n, bought: BOUGHT * 2n })
  expect(risen()).toEqual([[50, 'take-profit step 1 of 2']])
  done(last(), 1.3e-6, BOUGHT)
  expect(positionOf(talk)).toMatchObject({ tokens: BOUGHT, steps: { taken: 1, tokens: BOUGHT } })
})

describe('exits that contradict each other are refused', () => {
  const step = (atPercent: number, sellPercent: number) => ({ atPercent, sellPercent })
  const cases: [what: string, exits: ExitRules, path: string][] = [
    [
      'a take-profit step at the same profit as the step before it',
      { takeProfitSteps: [step(50, 10), step(50, 10)] },
      'takeProfitSteps.1.atPercent',
    ],
    [
      'a list of take-profit steps that sells more than 100 %',
      { takeProfitSteps: [step(5, 60), step(50, 41)] },
      'takeProfitSteps.1.sellPercent',
    ],
    ['a take-profit step that sells too little', { takeProfitSteps: [step(5, 0.1)] }, 'takeProfitSteps.0.sellPercent'],
    ['a stop-loss above the take-profit', { stopLossPercent: 60, takeProfitPercent: 50 }, 'stopLossPercent'],
    ['trailingArmPercent without a trailing stop', { trailingArmPercent: 10 }, 'trailingArmPercent'],
    [
      'trailingArmPercent that equals takeProfitPercent',
      { trailingPercent: 5, trailingArmPercent: 50, takeProfitPercent: 50 },
      'trailingArmPercent',
    ],
    ['break-even above the take-profit', { breakEvenAtPercent: 50, takeProfitPercent: 20 }, 'breakEvenAtPercent'],
    [
      'a take-profit step above takeProfitPercent',
      { takeProfitSteps: [step(50, 10)], takeProfitPercent: 20 },
      'takeProfitSteps.0.atPercent',
    ],
    ['a target by age that rises', { takeProfitByAge: { 0: 10, 60: 20 } }, 'takeProfitByAge.60'],
    [
      'a target by age that equals takeProfitPercent',
      { takeProfitByAge: { 60: 20 }, takeProfitPercent: 20 },
      'takeProfitByAge.60',
    ],
    [
      'a target whose age equals maxHoldSeconds',
      { takeProfitByAge: { 60: 20 }, maxHoldSeconds: 60 },
      'takeProfitByAge.60',
    ],
    ['a stop-loss above the target of age 0', { takeProfitByAge: { 0: 5 }, stopLossPercent: 6 }, 'takeProfitByAge.0'],
    [
      'break-even above the target of age 0',
      { takeProfitByAge: { 0: 20 }, breakEvenAtPercent: 20 },
      'breakEvenAtPercent',
    ],
  ]
  it.each(cases)('%s is refused', (_what, exits, path) => {
    expect(exitProblems(exits).map((problem) => problem.path.join('.'))).toEqual([path])
    const talk = new TalkingBot()
    talk.rig.settle(1e-6)
    const placed = talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason: 'x', exits }))
    expect(placed).toMatchObject({ ok: false, code: 'REQUEST_INVALID', reason: expect.stringContaining(`${path}: `) })
  })

  it('the exits of an order are merged with those of its bot before they are checked', () => {
    const talk = new TalkingBot({ exits: { takeProfitPercent: 20 } })
    talk.rig.settle(1e-6)
    const exits = { takeProfitSteps: [step(10, 50), step(30, 50)] }
    expect(talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason: 'x', exits }))).toMatchObject({ ok: false })
  })

  it('the reader of exits accepts a value of any type, or refuses it with a text', () => {
    const value = fc.oneof(
      fc.double(),
      fc.constantFrom(undefined, null, 'x', [], {}, [{}], [null], true),
      fc.anything(),
      fc.dictionary(fc.constantFrom('0', '60', '600', '1.5', 'x'), fc.double({ min: -1, max: 100 })),
    )
    const names = [
      'stopLossPercent',
      'takeProfitSteps',
      'takeProfitByAge',
      'trailingArmPercent',
      'idleSeconds',
      'whenStale',
      'no',
    ]
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value), (exits) => {
        const read = readExits(exits)
        expect(typeof read === 'string' || exitProblems(read).length === 0).toBe(true)
      }),
    )
  })
})

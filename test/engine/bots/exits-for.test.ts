import { expect, test } from 'vitest'
import type { Bot, BuyTrigger, ExitRules, Handlers } from '../../../src/index.ts'
import { botSettings, EngineRig, fillOf, MINT, orders } from '../../support/engine-rig.ts'

/** Returns a test rig. Its bot buys at the first print with a price. `more` contains the bot's other handlers. */
function held(more: Handlers<unknown>, wish: (bot: Bot) => unknown = buys): EngineRig {
  let isDone = false
  const strategy = {
    ...{ name: 'one', about: '', params: undefined, keys: ['trades'], bars: { '1s': 5 } },
    start: (_params: never, bot: Bot) => ({
      onTrade: (_trade: unknown, token: { price: number | undefined }) => {
        if (isDone || token.price === undefined) return
        isDone = true
        wish(bot)
      },
      ...more,
    }),
  }
  const rig = new EngineRig([strategy as never], [botSettings('one', { exits: { stopLossPercent: 50 } as never })])
  rig.settle(1e-6)
  return rig
}

const buys = (bot: Bot) => bot.buy(MINT, { sol: 1, reason: 'test' })

function opened(more: Handlers<unknown>): EngineRig {
  const rig = held(more)
  const [bought] = orders(rig.outputs)
  if (bought === undefined) throw new Error('no order')
  rig.fill(bought, 1e-6)
  rig.outputs.length = 0
  return rig
}

/** Prints trades for some seconds, so that bars close. Returns the decisions of the engine. */
function seconds(rig: EngineRig, count: number): string[] {
  const found: string[] = []
  for (let step = 0; step < count * 2; step++)
    for (const output of rig.trade(1e-6, { ms: 500 }))
      if (output.kind === 'position') found.push(JSON.stringify(output.position.exits))
      else if (output.kind === 'refused' || output.kind === 'alarm') found.push(`${output.code}: ${output.reason}`)
  return found
}

test('exitsFor sets the exits of a held position; if it returns the same rules again, the journal gets no row', () => {
  const rig = opened({ exitsFor: () => ({ trailingPercent: 10, stopLossPercent: 20 }) })
  expect(seconds(rig, 4)).toEqual(['{"trailingPercent":10,"stopLossPercent":20}'])
})

test('if exitsFor moves the stop at each bar, take-profit steps are not repeated', () => {
  const takeProfitSteps = [{ atPercent: 50, sellPercent: 25 }]
  let bars = 0
  const rig = opened({ exitsFor: () => ({ takeProfitSteps, stopLossPercent: 50 - ++bars, windowPrints: 5 }) })
  const sold: unknown[] = []
  for (let print = 0; print < 40; print++)
    for (const order of orders(rig.trade(2e-6, { ms: 500 }))) {
      sold.push(order.size)
      rig.report(order, 'filled', { fill: fillOf(order, 2e-6, rig.now, { tokens: 250_000_000_000n }) })
    }
  expect(bars).toBeGreaterThan(10)
  expect(sold).toEqual([{ kind: 'percent', percent: 25 }])
})

test('if exitsFor returns undefined, the exits stay, and exitsFor receives the position and the bar', () => {
  const seen: [number, string][] = []
  const exitsFor = (position: { costSol: number }, bar: { width: string }): undefined => {
    seen.push([position.costSol, bar.width])
    return undefined
  }
  expect(seconds(opened({ exitsFor }), 3)).toEqual([])
  expect(seen[0]).toEqual([1, '1s'])
})

test('rules that contradict each other are refused, and the position keeps its exits', () => {
  const exitsFor = (): ExitRules => ({ stopLossPercent: 50, takeProfitPercent: 10 })
  const [refused, ...others] = seconds(opened({ exitsFor }), 2)
  expect(refused).toContain('REQUEST_INVALID: stopLossPercent: expected at most takeProfitPercent (10)')
  expect(others.every((other) => other.startsWith('REQUEST_INVALID'))).toBe(true)
})

test('if exitsFor returns a promise, the strategy ends, as with any handler', () => {
  const exitsFor = (() => Promise.resolve({})) as never
  expect(seconds(opened({ exitsFor }), 2)).toEqual([expect.stringContaining('STRATEGY_THREW: TypeError: a handler')])
})

const LIMIT = (bot: Bot) => bot.limitBuy(MINT, { sol: 1, atPrice: 0.9e-6, reason: 'cheap', tag: 'dip' })

test('a limit order that confirmBuy rejects keeps waiting, asks at most once a second, and buys once it is confirmed', () => {
  const asked: [number, BuyTrigger][] = []
  let answer: true | string = 'not now'
  const rig: EngineRig = held(
    {
      confirmBuy: (trigger) => {
        asked.push([rig.now, trigger])
        return answer
      },
    },
    LIMIT,
  )
  const made = Array.from({ length: 30 }, () => orders(rig.trade(0.8e-6, { ms: 100 }))).flat()
  expect(made).toEqual([])
  expect(asked.length).toBe(3)
  expect(asked[0]?.[1]).toEqual({ id: 'c1', mint: MINT, kind: 'limit', sol: 1, reason: 'cheap', tag: 'dip' })
  const refused = rig.outputs.flatMap((output) => (output.kind === 'refused' ? [output] : []))
  expect(refused).toMatchObject([{ code: 'VETOED', reason: 'c1: not now' }])
  answer = true
  const bought = Array.from({ length: 12 }, () => orders(rig.trade(0.8e-6, { ms: 100 }))).flat()
  expect(bought).toMatchObject([{ side: 'buy', reason: 'cheap' }])
})

test('a step of a DCA that confirmBuy rejects is skipped', () => {
  const asked: string[] = []
  const rig: EngineRig = held(
    {
      confirmBuy: ({ kind }) => {
        asked.push(kind)
        return 'no'
      },
    },
    (bot) => bot.dca(MINT, { sol: 0.1, everySeconds: 10, times: 2, reason: 'steps' }),
  )
  for (let step = 0; step < 2; step++) {
    const timer = rig.outputs.findLast((output) => output.kind === 'timer')
    if (timer?.kind !== 'timer') throw new Error('no timer')
    rig.now = Math.max(rig.now, timer.timer.at)
    rig.settle(1e-6)
    rig.input({ kind: 'timer', id: timer.timer.id })
  }
  expect(asked).toEqual(['dca', 'dca'])
  expect(orders(rig.outputs)).toEqual([])
  expect(rig.outputs.findLast((output) => output.kind === 'conditional')).toMatchObject({
    order: { state: 'failed', code: 'VETOED' },
  })
})

test('if confirmBuy returns neither true nor a reason, the strategy ends and nothing is bought', () => {
  for (const confirmBuy of [() => false as never, () => undefined as never, () => Promise.resolve(true) as never]) {
    const rig = held({ confirmBuy }, LIMIT)
    const made = Array.from({ length: 6 }, () => orders(rig.trade(0.8e-6, { ms: 100 }))).flat()
    const ended = rig.outputs.some((output) => output.kind === 'alarm' && output.code === 'STRATEGY_THREW')
    expect([ended, made.length]).toEqual([true, 0])
  }
})

test('for a held position whose mint is not among the keys of the bot, exitsFor is called, but onBar is not', () => {
  const called: string[] = []
  const strategy = {
    ...{ name: 'one', about: '', params: undefined, keys: ['newTokens'], bars: { '1s': 5 } },
    start: (_params: never, bot: Bot): Handlers<unknown> => ({
      onSignal: () => void buys(bot),
      onBar: () => void called.push('onBar'),
      exitsFor: () => void called.push('exitsFor'),
    }),
  }
  const rig = new EngineRig([strategy as never], [botSettings('one')])
  rig.settle(1e-6)
  seconds(rig, 2)
  expect(called).toEqual([])
  const [bought] = orders(rig.input({ kind: 'command', command: { name: 'signal', signal: 'go', data: null } }))
  if (bought === undefined) throw new Error('no order')
  rig.fill(bought, 1e-6)
  seconds(rig, 3)
  expect(called).toEqual(['exitsFor', 'exitsFor', 'exitsFor'])
})

test('if confirmBuy cancels a conditional order and then rejects its buy, the order stays cancelled, and its end is reported once', () => {
  const strategyBot: Bot[] = []
  const rig: EngineRig = held(
    {
      confirmBuy: ({ id }) => {
        strategyBot[0]?.cancel(id)
        return 'not any more'
      },
    },
    (bot) => {
      strategyBot.push(bot)
      LIMIT(bot)
    },
  )
  for (let print = 0; print < 6; print++) rig.trade(0.8e-6, { ms: 100 })
  const states = rig.outputs.flatMap((output) => (output.kind === 'conditional' ? [output.order] : []))
  expect(states.map(({ state, code }) => [state, code])).toEqual([
    ['waiting', ''],
    ['cancelled', 'CANCELLED'],
  ])
})

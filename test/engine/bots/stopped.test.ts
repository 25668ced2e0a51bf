import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Output } from '../../../src/engine/messages.ts'
import { type Bot, defineStrategy } from '../../../src/engine/strategy.ts'
import { botSettings, EngineRig, MINT, MINT_2, orders, startInput } from '../../support/engine-rig.ts'

/** Returns a strategy that buys on every print, or runs the given handler. */
const strategyOf = (name: string, onTrade: (bot: Bot<undefined>) => unknown) =>
  defineStrategy({
    ...{ name, about: '', params: z.object({}), keys: ['trades'] },
    start: (_params, bot) => ({ onTrade: () => onTrade(bot) as undefined }),
  })

const eager = strategyOf('eager', (bot) => bot.buy(MINT, { sol: 0.01, reason: 'a print' }))
const alarmsIn = (outputs: readonly Output[]) => outputs.filter(({ kind }) => kind === 'alarm')

test('a bot that was stopped is not started again, one alarm reports it, and the other bots trade', () => {
  const bots = ['wild', 'calm'].map((name) => botSettings('eager', { name }))
  const start = startInput(bots)
  for (const told of [false, true]) {
    const rig = new EngineRig([eager as never], bots)
    rig.outputs.length = 0
    rig.input({ ...start, stopped: [{ bot: 'wild', reason: 'it hung', told }] })
    rig.input({ kind: 'feed', status: 'live', confirmed: [] })
    rig.settle(1e-6)
    expect(alarmsIn(rig.outputs)).toEqual(
      told ? [] : [{ kind: 'alarm', bot: 'wild', code: 'STRATEGY_STOPPED', reason: 'it hung' }],
    )
    expect(new Set(orders(rig.outputs).map(({ bot }) => bot))).toEqual(new Set(['calm']))
  }
})

test.each([
  ['a promise', () => Promise.reject(new Error('nobody hears this'))],
  // biome-ignore lint/suspicious/noThenProperty: the test needs a thenable
  ['an object that looks like a promise', () => ({ then: () => {} })],
])('a handler that returns %s ends its strategy', (_what, returned) => {
  const rig = new EngineRig([strategyOf('later', returned) as never], [botSettings('later')])
  rig.settle(1e-6)
  expect(alarmsIn(rig.outputs)).toMatchObject([{ reason: expect.stringContaining('a handler returned a promise') }])
})

test('a handler may return any value other than a promise', () => {
  const rig = new EngineRig([strategyOf('pushes', () => [1].push(2)) as never], [botSettings('pushes')])
  rig.settle(1e-6)
  expect(alarmsIn(rig.outputs)).toEqual([])
})

test('a stack overflow while an order is made ends the engine and records the index of the bot, even if the strategy catches it', () => {
  const deep = (bot: Bot<undefined>): void => {
    try {
      deep(bot)
    } catch {}
    bot.buy(MINT, { sol: 0.01, reason: 'at the end of the stack' })
  }
  const bots = [botSettings('eager', { name: 'calm' }), botSettings('deep', { name: 'wild' })]
  const rig = new EngineRig([eager as never, strategyOf('deep', deep) as never], bots)
  expect(() => rig.settle(1e-6)).toThrow('a stack overflowed while an order was made')
  expect(rig.cells[0]).toBe(1)
})

test('every handler is counted before it runs, and a handler that runs inside another one is not counted', () => {
  const counts: number[] = []
  const looking = (name: string) =>
    strategyOf(name, (bot) => {
      counts.push(rig.cells[1] as number)
      bot.token(MINT_2) // runs the strategy's \`token\`
      counts.push(rig.cells[1] as number)
    })
  const bots = ['one', 'other'].map((name) => botSettings(name))
  const rig: EngineRig = new EngineRig([looking('one') as never, looking('other') as never], bots)
  rig.trade(1e-6)
  counts.length = 0
  for (let row = 0; row < 2; row++) rig.trade(1e-6)
  const first = counts[0] as number
  expect(counts.map((count) => count - first)).toEqual([0, 0, 1, 1, 2, 2, 3, 3])
  expect(rig.cells[0]).toBe(-1)
})

test('an indicator that throws ends its strategy once and is not called again', () => {
  let calls = 0
  const add = () => {
    calls++
    throw new Error('no value')
  }
  const strategy = defineStrategy({
    ...{ name: 'broken', about: '', params: z.object({}), keys: ['trades'], bars: { '1s': 1 } },
    indicators: () => ({ broken: { width: '1s', create: () => ({ add, value: undefined }) } }),
    start: () => ({ onBar: (_bar, token) => void token.indicators.broken }),
  })
  const rig = new EngineRig([strategy as never], [botSettings('broken')])
  for (let second = 0; second < 60; second++) rig.trade(1e-6, { ms: 1_000 })
  expect(alarmsIn(rig.outputs)).toMatchObject([{ code: 'STRATEGY_THREW', reason: 'Error: no value' }])
  expect(calls).toBe(1)
})

import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Order } from '../../src/engine/order.ts'
import { defineStrategy } from '../../src/engine/strategy.ts'
import { botSettings, EngineRig, orders } from '../support/engine-rig.ts'
import { blockOf } from '../support/market-rows.ts'

const noting = defineStrategy({
  name: 'noting',
  about: 'makes an output at every sale',
  params: z.object({}),
  keys: ['trades'],
  start: (_params, bot) => ({
    onTrade: ({ side, mint }) => {
      if (side === 'sell') bot.note(mint, `a sale at ${bot.now()}`)
    },
  }),
})

const START = 1_780_000_000_000

test('the engine handles rows up to the first row that has outputs', () => {
  const { engine, mints } = new EngineRig([noting as never], [botSettings('noting')])
  const kinds = ['buy', 'buy', 'sell', 'buy', 'sell', 'buy'] as const
  const block = blockOf(
    kinds.map((kind, row) => ({ kind, time: START + row, mint: 'm', price: 1 })),
    mints,
  )
  const taken: [number, string[]][] = []
  for (let row = 0; row < block.length; ) {
    row = engine.rows(100 + row, block, row, block.length)
    taken.push([row, engine.outputs.map((output) => (output.kind === 'note' ? output.reason : output.kind))])
    engine.outputs.length = 0
  }
  expect(taken).toEqual([
    [3, [`a sale at ${START + 2}`]],
    [5, [`a sale at ${START + 4}`]],
    [6, []],
  ])
})

test.each([
  ['a time before the last row', [5, 4], 'time runs backwards from 1780000000005 to 1780000000004'],
  ['a time before the last input', [-1], 'time runs backwards from 1780000000000 to 1779999999999'],
  ['a time that is not a number', [Number.NaN], 'to NaN'],
])('%s is refused', (_name, times, message) => {
  const { engine, mints } = new EngineRig([noting as never], [botSettings('noting')])
  const block = blockOf(
    times.map((time) => ({ time: START + time, mint: 'm', price: 1 })),
    mints,
  )
  expect(() => engine.rows(100, block, 0, block.length)).toThrow(message)
})

test('if a strategy adds a handler of trades while it runs, the handler receives trades from the next row on', () => {
  const calls: string[] = []
  const late = defineStrategy({
    ...{ name: 'late', about: 'adds a handler', params: z.object({}), keys: ['trades'], bars: { '1 trade': 1 } },
    start: () => {
      const handlers: { onBar(bar: { closeTime: number }): void; onTrade?(trade: { time: number }): void } = {
        onBar({ closeTime }) {
          if (closeTime === START + 6) handlers.onTrade = ({ time }) => void calls.push(`trade ${time - START}`)
          calls.push(`bar ${closeTime - START}`)
        },
      }
      return handlers
    },
  })
  const { engine, mints } = new EngineRig([late as never], [botSettings('late')])
  const block = blockOf(
    Array.from({ length: 9 }, (_, row) => ({ time: START + row, mint: 'm', price: 1 })),
    mints,
  )
  expect(engine.rows(100, block, 0, block.length)).toBe(9)
  expect(calls).toEqual(
    // A token has a price after its third print.
    [2, 3, 4, 5, 6, 7, 8].flatMap((row) => [`bar ${row}`, ...(row >= 6 ? [`trade ${row}`] : [])]),
  )
})

test('after a buy, the engine checks the exits of the token at each print, even if its strategy receives only bars', () => {
  const buyer = defineStrategy({
    ...{ name: 'buyer', about: 'buys once', params: z.object({}), keys: ['trades'], bars: { '5 trades': 1 } },
    start: (_params, bot) => ({
      onBar(_bar, token) {
        if (token.position === undefined) bot.buy(token, { sol: 0.1, reason: 'a bar' })
      },
    }),
  })
  const rig = new EngineRig([buyer as never], [botSettings('buyer', { exits: { stopLossPercent: 50 } })])
  const [order] = orders(rig.settle(1e-7)) as [Order]
  rig.fill(order, 1e-7)
  const sales = orders([1e-7, 1e-8, 1e-8, 1e-8].flatMap((price) => rig.trade(price)))
  expect(sales.map(({ side }) => side)).toEqual(['sell'])
})

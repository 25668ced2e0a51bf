import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineStrategy } from '../../src/engine/strategy.ts'
import { botSettings, EngineRig } from '../support/engine-rig.ts'
import { blockOf } from '../support/market-rows.ts'

const noting = defineStrategy({
  name: 'noting',
  about: 'says something at every sale',
  params: z.object({}),
  keys: ['trades'],
  start: (_params, bot) => ({
    onTrade: ({ side, mint }) => {
      if (side === 'sell') bot.note(mint, `a sale at ${bot.now()}`)
    },
  }),
})

const START = 1_780_000_000_000

test('rows are handled up to the first one with outputs', () => {
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
  ['time that runs backwards', [5, 4], 'time runs backwards from 1780000000005 to 1780000000004'],
  ['time before the last input', [-1], 'time runs backwards from 1780000000000 to 1779999999999'],
  ['a time that is none', [Number.NaN], 'to NaN'],
])('%s is refused', (_name, times, message) => {
  const { engine, mints } = new EngineRig([noting as never], [botSettings('noting')])
  const block = blockOf(
    times.map((time) => ({ time: START + time, mint: 'm', price: 1 })),
    mints,
  )
  expect(() => engine.rows(100, block, 0, block.length)).toThrow(message)
})

import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineStrategy, type Strategy } from '../../src/engine/strategy.ts'
import { testStrategy } from '../../src/testing/strategy-rig.ts'

const moody = defineStrategy({
  name: 'moody',
  about: '',
  params: z.object({}),
  keys: ['trades'],
  warmup: 60,
  sources: { fear: { schema: z.object({ value: z.number().max(100) }) }, leaders: { schema: z.array(z.string()) } },
  start: (_params, bot) => ({
    onSource(name, data, time) {
      const text = name === 'fear' ? data.value.toFixed(1) : data.join('+')
      bot.note('', `${name} ${text} ${bot.now() - time} ${Object.isFrozen(data)}`)
      bot.state = `${name} ${text} ${name === 'fear' && !bot.every('after fear', 5).ok ? 'warming' : ''}`
    },
    onTrade(_trade, token) {
      if (!token.position) bot.buy(token, { sol: 0.01, reason: String(bot.state) })
    },
  }),
})

const notesOf = (rig: ReturnType<typeof testStrategy>) => rig.notes.map(({ reason }) => reason)

test('a strategy receives the checked data of each declared source, frozen and with its time', () => {
  const rig = testStrategy(moody as Strategy, {})
  rig.source('fear', { value: 20, class: 'dropped, because the schema does not name it' })
  rig.source('leaders', ['x', 'y'])
  expect(notesOf(rig)).toEqual(['fear 20.0 0 true', 'leaders x+y 0 true'])
})

test.each([
  ['gear', {}, 'the strategy declares no source gear; it declares fear, leaders'],
  ['fear', { value: 101 }, 'source fear: value: expected at most 100, found 101'],
  ['fear', null, 'source fear: expected a map, found nothing'],
])('a test that gives the source %s the data %j gets an error', (name, data, message) => {
  expect(() => testStrategy(moody as Strategy, {}).source(name, data)).toThrow(message)
})

test('after a restart, a strategy receives the last data of each source during the warm-up', () => {
  const rig = testStrategy(moody as Strategy, {})
  rig.source('fear', { value: 20 })
  rig.source('fear', { value: 30 })
  rig.source('leaders', ['x'])
  const before = rig.notes.length
  rig.restart()
  expect(rig.notes.length).toBe(before) // notes of the warm-up are discarded
  for (let print = 0; print < 5; print++) rig.trade({ price: 1e-7 })
  expect(rig.orders.map(({ reason }) => reason)).toEqual(['leaders x '])
})

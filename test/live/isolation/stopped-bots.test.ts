import { expect, test } from 'vitest'
import type { Output } from '../../../src/engine/messages.ts'
import { moneyOf } from '../../../src/engine/recovered-money.ts'
import { StoppedBots } from '../../../src/live/isolation/isolated-segment.ts'
import { botSettings } from '../../support/engine-rig.ts'

const names = ['a', 'b', 'c', 'd']
const bots = names.map((name, index) => botSettings(index < 2 ? 'same' : name, { name }))

test('if the engine ends in a handler of a bot, the bot is stopped; if it ends there again, the cause counts as unknown', () => {
  const stopped = new StoppedBots(bots)
  expect(stopped.died({ bot: 2, reason: 'hung' }, true, 0)).toEqual(['c'])
  expect(stopped.list()).toEqual([{ bot: 'c', reason: 'hung', told: false }])
  expect(stopped.died({ bot: 2, reason: 'hung' }, true, 1)).toEqual([])
  expect(stopped.died({ bot: 0, reason: 'hung' }, true, 2)).toEqual(['a'])
})

test('a strategy that cannot be loaded or started is stopped for all bots that use it', () => {
  expect(new StoppedBots(bots).died({ bot: 1, reason: 'hung' }, false, 0)).toEqual(['a', 'b'])
})

test('after one engine is lost for an unknown cause, all bots continue; after two, none of them; after three, the process ends', () => {
  const stopped = new StoppedBots(bots)
  expect(stopped.died({ bot: -1, reason: 'lost' }, true, 0)).toEqual([])
  expect(stopped.died({ bot: -1, reason: 'lost' }, true, 599_999)).toEqual(names)
  expect(stopped.died({ bot: -1, reason: 'lost' }, true, 600_000)).toBeUndefined()
})

test('a lost engine with unknown cause no longer counts after ten minutes', () => {
  const stopped = new StoppedBots(bots)
  for (const time of [0, 600_000, 1_200_000]) expect(stopped.died({ bot: -1, reason: 'lost' }, true, time)).toEqual([])
})

test('a strategy that threw stays stopped in the next engine', () => {
  const stopped = new StoppedBots(bots)
  const money = { ...moneyOf(botSettings('d'), undefined), status: 'exits-only' as const }
  const outputs: Output[] = [
    { kind: 'bot', money },
    { kind: 'bot', money: { ...money, bot: 'a', status: 'active' } },
  ]
  stopped.heard(outputs)
  expect(stopped.list()).toEqual([{ bot: 'd', reason: 'its strategy threw an error', told: true }])
  expect(stopped.died({ bot: 0, reason: 'hung' }, true, 0)).toEqual(['a'])
  stopped.heard([{ kind: 'bot', money: { ...money, bot: 'a' } }])
  expect(stopped.list()).toContainEqual({ bot: 'a', reason: 'hung', told: true })
})

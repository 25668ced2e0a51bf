import { expect, test } from 'vitest'
import { holdOf, Moments, TimerPlaces } from '../../../src/backtest/replay/moments.ts'
import type { Timer } from '../../../src/engine/recovered-money.ts'

const hold: Timer = { id: 7, bot: 'dips', owner: 'exits', name: 'hold:M', at: 1_000, everyMs: 0 }
const tick: Timer = { id: 8, bot: 'dips', owner: 'strategy', name: 'tick', at: 1_000, everyMs: 500 }

test('a function for a sequence number runs at the input of this number, or before the next input, and never for a past number', () => {
  const moments = new Moments()
  const done: string[] = []
  moments.at(9, () => done.push('9'))
  moments.at(4.5, () => done.push('4.5'))
  moments.at(4, () => done.push('4'))
  moments.at(4, () => done.push('4 again'))
  moments.at(5, () => done.push('never'))?.()
  moments.reach({ seq: 3, time: 3 })
  expect(done).toEqual([])
  moments.reach({ seq: 4, time: 4 })
  expect(done).toEqual(['4', '4 again'])
  moments.reach({ seq: 6, time: 6 })
  expect(done).toEqual(['4', '4 again', '4.5'])
  expect(moments.at(6, () => done.push('late'))).toBeUndefined()
  moments.reach({ seq: 9, time: 9 })
  expect(done).toEqual(['4', '4 again', '4.5', '9'])
})

test('each firing of a timer has the sequence number of the recorded firing with the same owner, name and due time', () => {
  const places = new TimerPlaces()
  places.set(hold)
  places.set(tick)
  places.fire(hold.id, { seq: 20, time: 1_030 })
  places.clear(hold.id, { seq: 20, time: 1_030 }) // the engine clears a timer that fires
  places.fire(tick.id, { seq: 21, time: 1_040 })
  places.fire(tick.id, { seq: 30, time: 2_100 }) // late, so one firing was missed
  expect(places.of({ ...hold, id: 70 }, 1_000)).toBe(20)
  expect(places.of({ ...hold, bot: 'other' }, 1_000)).toBeUndefined()
  expect([1_000, 1_500, 2_000, 2_500].map((at) => places.of(tick, at))).toEqual([21, 30, undefined, undefined])
})

test('a timer that the recorded run cleared after its due time fires right after the clearing input, and otherwise when it is due', () => {
  const [late, early] = [new TimerPlaces(), new TimerPlaces()]
  for (const places of [late, early]) places.set(hold)
  late.clear(hold.id, { seq: 20, time: 1_010 })
  early.clear(hold.id, { seq: 15, time: 900 })
  expect(late.of(hold, 1_000)).toBe(20.5)
  expect(early.of(hold, 1_000)).toBeUndefined()

  const moments = new Moments()
  let fired = 0
  holdOf(late, moments)?.(hold, 1_000, () => fired++)
  moments.reach({ seq: 20, time: 20 })
  expect(fired).toBe(0)
  moments.reach({ seq: 21, time: 21 })
  expect(fired).toBe(1)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'

test('timers of the simulated clock run in the order of their due times, then of their creation, each at its own time', () => {
  const clock = new SimulatedClock(1000)
  const ran: string[] = []
  const note = (name: string) => () => ran.push(`${name}@${clock.now()}`)
  clock.after(20, note('b'))
  clock.after(10, note('a'))
  clock.after(20, note('c'))
  clock.after(21, note('late'))
  expect(clock.nextAt()).toBe(1010)
  clock.advanceTo(1020)
  expect(ran).toEqual(['a@1010', 'b@1020', 'c@1020'])
  expect(clock.now()).toBe(1020)
})

test('a simulated timer that another timer sets fires in the same call if it is due', () => {
  const clock = new SimulatedClock()
  const ran: number[] = []
  clock.after(5, () => {
    clock.after(0, () => ran.push(clock.now()))
    clock.after(2, () => ran.push(clock.now()))
    clock.after(100, () => ran.push(clock.now()))
  })
  clock.advanceTo(10)
  expect(ran).toEqual([5, 7])
  expect(clock.nextAt()).toBe(105)
})

test.each([
  [1.2, 2],
  [0, 0],
  [-7, 0],
])('the simulated clock rounds a delay of %d ms to %i ms', (ms, due) => {
  const clock = new SimulatedClock()
  clock.after(ms, () => {})
  expect(clock.nextAt()).toBe(due)
})

test('the simulated clock refuses an invalid delay', () => {
  const clock = new SimulatedClock(50)
  expect(() => clock.after(Number.NaN, () => {})).toThrow(RangeError)
  expect(() => clock.after(Number.POSITIVE_INFINITY, () => {})).toThrow(RangeError)
  expect(() => clock.advanceTo(49)).toThrow('the time of the simulated clock cannot go back')
  expect(() => clock.advanceTo(Number.NaN)).toThrow(RangeError)
  expect(clock.nextAt()).toBe(Number.POSITIVE_INFINITY)
})

test('a cancelled simulated timer does not run, and cancelling it again or after it ran has no effect', () => {
  const clock = new SimulatedClock()
  const ran: string[] = []
  const cancel = clock.after(1, () => ran.push('cancelled'))
  const done = clock.after(2, () => ran.push('ran'))
  cancel()
  cancel()
  clock.advanceTo(2)
  done()
  clock.after(1, () => ran.push('next'))
  done()
  clock.advanceTo(3)
  expect(ran).toEqual(['ran', 'next'])
})

test('a simulated timer may cancel another timer with the same due time', () => {
  const clock = new SimulatedClock()
  let cancel = () => {}
  clock.after(1, () => cancel())
  cancel = clock.after(1, () => expect.fail('it was cancelled'))
  clock.advanceTo(1)
})

test('for any sequence of timers and cancellations, the simulated clock fires the same timers as a sorted list', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ ms: fc.nat(50), drop: fc.boolean() })), (timers) => {
      const clock = new SimulatedClock()
      const ran: number[] = []
      const cancels = timers.map(({ ms }, index) => clock.after(ms, () => ran.push(index)))
      for (const [index, { drop }] of timers.entries()) if (drop) cancels[index]?.()
      clock.advanceTo(50)
      const expected = timers.map((timer, index) => ({ ...timer, index })).filter(({ drop }) => !drop)
      expect(ran).toEqual(expected.sort((a, b) => a.ms - b.ms || a.index - b.index).map(({ index }) => index))
    }),
  )
})

import { expect, test } from 'vitest'
import type { Clock } from '../../src/base/machine.ts'

export interface ClockWorld {
  readonly clock: Clock
  /** Present time, ms. Delays count from it. */
  now(): number
  /** Lets time pass. A real event loop is blocked during this time. */
  pass(ms: number): void
  /** Waits until every timer has fired. */
  settle(): Promise<void>
}

/** Tests that every clock has to pass: the rules for timers of the port `Clock` (base/machine.ts). */
export function clockContract(name: string, open: () => ClockWorld): void {
  test(`${name}: timers fire in the order of their due times, even if the loop is late`, async () => {
    const world = open()
    const set: { readonly ms: number; readonly from: number; readonly to: number }[] = []
    const fired: { readonly index: number; readonly at: number }[] = []
    const after = (ms: number): void => {
      const index = set.length
      const from = world.now()
      world.clock.after(ms, () => fired.push({ index, at: world.now() }))
      set.push({ ms, from, to: world.now() })
    }
    for (const ms of [120, 60, 90, 120, 1, 60]) after(ms)
    world.pass(35)
    for (const ms of [30, 120, 90, 60]) after(ms)
    world.pass(35)
    for (const ms of [60, 10, 120, 1, 200]) after(ms)
    world.pass(200)
    await world.settle()
    expect(fired.length).toBe(set.length)
    for (const [place, { index, at }] of fired.entries()) {
      const one = set[index] as (typeof set)[number]
      expect(at, 'never early').toBeGreaterThanOrEqual(one.from + one.ms)
      for (const { index: later } of fired.slice(place + 1)) {
        const other = set[later] as (typeof set)[number]
        const isInOrder = one.from + one.ms < other.to + other.ms || (one.ms === other.ms && index < later)
        expect(isInOrder, `${index} (${one.ms} ms) fired before ${later} (${other.ms} ms)`).toBe(true)
      }
    }
  })

  test(`${name}: timers with the same due time fire in the order in which they were set`, async () => {
    const world = open()
    const fired: number[] = []
    for (let index = 0; index < 20; index++) world.clock.after(5, () => fired.push(index))
    world.pass(50)
    await world.settle()
    expect(fired).toEqual(Array.from({ length: 20 }, (_, index) => index))
  })

  test(`${name}: a timer can cancel another one that is also due`, async () => {
    const world = open()
    const fired: string[] = []
    let cancel = (): void => {}
    world.clock.after(5, () => {
      fired.push('first')
      cancel()
    })
    cancel = world.clock.after(10, () => fired.push('cancelled'))
    world.clock.after(15, () => fired.push('last'))
    world.pass(100)
    await world.settle()
    expect(fired).toEqual(['first', 'last'])
  })

  test(`${name}: a timer that is set inside a callback does not fire inside this callback`, async () => {
    const world = open()
    const fired: string[] = []
    world.clock.after(5, () => {
      world.clock.after(0, () => fired.push('inner'))
      fired.push('outer')
    })
    world.pass(100)
    await world.settle()
    expect(fired).toEqual(['outer', 'inner'])
  })

  test(`${name}: an invalid delay is refused`, () => {
    const { clock } = open()
    expect(() => clock.after(Number.NaN, () => {})).toThrow(RangeError)
    expect(() => clock.after(Number.POSITIVE_INFINITY, () => {})).toThrow(RangeError)
  })
}

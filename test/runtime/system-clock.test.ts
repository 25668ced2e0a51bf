import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { bootId, monotonicMs, SystemClock } from '../../src/runtime/system-clock.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('the clock follows the wall clock forward and never goes back: after the wall clock is set back, it runs at half speed until the wall clock has caught up', () => {
  let wall = 10_000
  let monotonic = 500
  const clock = new SystemClock(
    0,
    () => wall,
    () => monotonic,
  )
  const pass = (ms: number) => {
    wall += ms
    monotonic += ms
    return clock.now()
  }
  expect(clock.now()).toBe(10_000)
  expect(pass(100)).toBe(10_100)
  wall += 3_600_000
  expect(pass(0)).toBe(3_610_100)
  wall -= 1_000
  expect(pass(0)).toBe(3_610_100)
  expect(pass(300)).toBe(3_610_250)
  expect(pass(1_700)).toBe(3_611_100)
  expect(pass(100)).toBe(3_611_200)
})

test('the clock starts at the last time in the journal or later, and its time is a whole number', () => {
  const clock = new SystemClock(
    5_000,
    () => 1_000.7,
    () => 1,
  )
  expect(clock.now()).toBe(5_000)
  expect(Number.isInteger(new SystemClock().now())).toBe(true)
})

test('a timer of the clock may have a delay of any length', () => {
  const clock = new SystemClock()
  const fired: string[] = []
  const month = 30 * 24 * 3_600_000
  clock.after(month, () => fired.push('month'))
  clock.after(10, () => fired.push('10 ms'))
  const cancel = clock.after(20, () => fired.push('never'))
  const cancelLong = clock.after(month, () => fired.push('never'))
  cancel()
  vi.advanceTimersByTime(month - 1)
  cancelLong()
  expect(fired).toEqual(['10 ms'])
  vi.advanceTimersByTime(1)
  expect(fired).toEqual(['10 ms', 'month'])
})

test('after the stop of the clock, no timer keeps the process running', () => {
  const clock = new SystemClock()
  clock.after(10, () => expect.unreachable())
  clock.stop()
  clock.after(3_600_000, () => expect.unreachable()) // of an answer that arrived meanwhile
  expect(vi.getTimerCount()).toBe(0)
})

test('a boot of the machine has an id; without an id, every process counts as a boot of its own', () => {
  vi.useRealTimers()
  expect(bootId('/nowhere')).not.toBe(bootId('/nowhere'))
  expect(bootId()).toMatch(/^[0-9a-f-]{36}$/)
  expect(monotonicMs()).toBeGreaterThan(0)
})

test('the monotonic clock counts from the boot of the machine, so it is equal in every process', () => {
  vi.useRealTimers()
  const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6
  for (let reading = 0; reading < 3; reading++) {
    const before = machineMs()
    const now = monotonicMs()
    expect(now).toBeGreaterThan(before - 1)
    expect(now).toBeLessThan(machineMs() + 1)
  }
})

import { expect, test } from 'vitest'
import type { Market } from '../../../src/sandbox/market/market.ts'
import { runMarket } from '../../../src/sandbox/market/market.ts'

const SPEED = 10
const EVERY_MS = 10

/** Opens a market with an event every 10 ms of its own time, on a simulated clock. Returns the number of events. */
function opened() {
  let now = 0
  let events = 0
  const timers: { at: number; run: () => void }[] = []
  const after = (ms: number, run: () => void) => {
    timers.push({ at: now + ms, run })
    return () => {}
  }
  const market = {
    nextAt: EVERY_MS,
    advance(until: number) {
      for (; market.nextAt <= until; market.nextAt += EVERY_MS) events++
    },
  }
  runMarket(market as Partial<Market> as Market, { now: () => now, after }, SPEED)
  const passed = (ms: number): number => {
    const before = events
    now += ms
    for (const { run } of timers.splice(0)) run()
    return events - before
  }
  return { passed }
}

test('a market runs at its speed, and after a stop it does not catch up on the missed time', () => {
  const { passed } = opened()
  passed(10)
  let count = 0
  for (let turn = 0; turn < 100; turn++) count += passed(10)
  expect(count).toBe((100 * 10 * SPEED) / EVERY_MS)
  expect(passed(60_000)).toBeLessThanOrEqual((101 * SPEED) / EVERY_MS)
  expect(passed(10)).toBe((10 * SPEED) / EVERY_MS)
})

import { expect, test } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { Trading } from '../../src/live/trading.ts'
import type { Limiter, RequestClass } from '../../src/orders/plan-limiter.ts'
import type { JournalRecord, Slot } from '../../src/orders/ports.ts'
import { ViewModel } from '../../src/runtime/view/view-model.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { DEFAULT_VENUE } from '../../src/venues/registry.ts'

const clock = new SimulatedClock(1_000_000)

/** Returns the `Trading` of an API key. `isFresh`: whether the key was never used before. `use.began`: how often
 *  `Trading` reported that it is about to send a request. */
function tradingWith(isFresh: boolean, slots: readonly Slot[] = [], plan: Config['service']['plan'] = 'auto') {
  const written: JournalRecord[] = []
  const use = { isFresh, began: 0 }
  const trading = new Trading({
    config: { service: { plan, share: 1 } } as Config,
    service: { venue: DEFAULT_VENUE, baseUrl: '', apiKey: () => 'key' },
    machine: { clock, monotonicMs: () => clock.now(), boot: 'boot' },
    journal: { write: (record: JournalRecord) => written.push(record) } as never,
    model: new ViewModel(),
    past: { slots },
    keyUse: { isFresh, began: () => use.began++, release: () => {} },
    http: () => Promise.reject(new Error('nothing is sent')),
    chain: undefined,
  })
  return { trading, use, written }
}

/** Takes up to `count` request slots and releases them. Returns the number of free request slots. */
function take(limiter: Limiter, count: number, kind: RequestClass): number {
  let taken = 0
  for (let index = 0; index < count; index++)
    limiter.request(kind, (slot) => {
      taken++
      limiter.done(slot)
    })?.()
  return taken
}

test('if the service names an unknown plan at a reconnect, the known plan stays in use, no exit waits, and this is reported', () => {
  const { trading } = tradingWith(true)
  trading.planNamed('Premium')
  expect(take(trading.limiter, 300, 'entry')).toBe(300)
  trading.planNamed('Platinum')
  expect(trading.plan.name).toBe('Premium')
  expect(trading.planNotice).toContain("the plan 'Platinum' is unknown: running with the limits of Premium")
  expect(take(trading.limiter, 1, 'exit')).toBe(1)
  trading.planNamed('Premium')
  expect(trading.planNotice).toBe('')
})

test('if the service names a smaller plan at a reconnect, entries are limited at once, and exits keep their share', () => {
  const { trading } = tradingWith(true)
  trading.planNamed('Premium')
  take(trading.limiter, 300, 'entry')
  trading.planNamed('Standard')
  expect(take(trading.limiter, 1, 'entry')).toBe(0)
  expect(take(trading.limiter, 30, 'exit')).toBe(20)
})

test('with an unknown plan at the first connection, the plan Standard is used', () => {
  const { trading } = tradingWith(true)
  trading.planNamed('Platinum')
  expect(trading.plan.name).toBe('Standard')
  expect(trading.planNotice).toContain('limits of Standard')
})

test('a configured plan takes precedence over the plan that the service names', () => {
  const { trading } = tradingWith(true, [], 'premium')
  trading.planNamed('Platinum')
  expect(trading.plan.name).toBe('Premium')
  expect(trading.planNotice).toBe('')
})

test('an API key counts as used after its first request, and a start without requests leaves it unused', () => {
  const { trading, use, written } = tradingWith(true)
  expect([use.began, written]).toEqual([0, []])
  take(trading.limiter, 2, 'entry')
  expect(use.began).toBeGreaterThan(0)
})

test('if the journal has no requests of a used API key, entries wait for a minute, but exits do not', () => {
  const { trading } = tradingWith(false)
  expect(trading.limiter.status().holds).toMatchObject([{ code: 'HISTORY_UNKNOWN', until: clock.now() + 60_000 }])
  expect(take(trading.limiter, 1, 'entry')).toBe(0)
  expect(take(trading.limiter, 1, 'exit')).toBe(1)
})

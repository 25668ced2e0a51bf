import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Limiter, type RequestClass } from '../../src/orders/plan-limiter.ts'
import type { Slot } from '../../src/orders/ports.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { runs } from '../support/runs.ts'

const MINUTE = 60_000

function limiterOf(clock: SimulatedClock, slots: number, more: Partial<ConstructorParameters<typeof Limiter>[0]> = {}) {
  const monotonicMs = () => clock.now()
  return new Limiter({
    key: 'k',
    clock,
    monotonicMs,
    boot: 'b',
    requestsPerMinute: slots,
    past: 'fresh',
    write: () => {},
    ...more,
  })
}

/** Requests a request slot, and records when it was granted. */
function ask(limiter: Limiter, clock: SimulatedClock, kind: RequestClass, got: string[] = []): { slot?: Slot } {
  const asked: { slot?: Slot } = {}
  limiter.request(kind, (slot) => {
    asked.slot = slot
    got.push(`${kind} ${clock.now()}`)
  })
  return asked
}

/** Takes up to `count` free request slots. */
function take(limiter: Limiter, count: number, kind: RequestClass = 'exit'): Slot[] {
  const slots: Slot[] = []
  for (let index = 0; index < count; index++) limiter.request(kind, (slot) => slots.push(slot))?.()
  return slots
}

test('a request slot is free a minute after its request was complete, not a minute after it was sent', () => {
  const clock = new SimulatedClock(1_000_000)
  const limiter = limiterOf(clock, 1)
  const [slot] = take(limiter, 1)
  const next = ask(limiter, clock, 'exit')
  clock.advanceTo(1_003_000)
  limiter.done(slot as Slot)
  clock.advanceTo(1_062_999)
  expect(next.slot).toBeUndefined()
  clock.advanceTo(1_063_000)
  expect(next.slot).toBeDefined()
})

test('a fifth of the request slots is reserved for exits and reconciliation', () => {
  const clock = new SimulatedClock()
  const limiter = limiterOf(clock, 10)
  expect(take(limiter, 9, 'entry')).toHaveLength(8)
  expect(take(limiter, 3, 'reconcile')).toHaveLength(2)
  expect(take(limiter, 1, 'exit')).toHaveLength(0)
})

test.each([1, 2, 3, 4])('a plan of only %i requests a minute still allows entries', (slots) => {
  const clock = new SimulatedClock()
  expect(take(limiterOf(clock, slots), slots, 'entry')).toHaveLength(slots)
})

test('exits come before reconciliation, reconciliation before entries, each class in order; a repeated exit comes first', () => {
  const clock = new SimulatedClock()
  const limiter = limiterOf(clock, 5)
  const first = take(limiter, 5)
  const got: string[] = []
  for (const name of ['entry a', 'entry b', 'reconcile a', 'exit a', 'exit b']) {
    limiter.request(name.split(' ')[0] as RequestClass, () => got.push(name))
  }
  limiter.request('exit', () => got.push('exit again'), true)
  const leave = limiter.request('exit', () => got.push('exit that left'))
  leave?.()
  for (const slot of first) limiter.done(slot)
  clock.advanceTo(MINUTE)
  expect(got).toEqual(['exit again', 'exit a', 'exit b', 'reconcile a']) // the last request slot is reserved
})

test('a request that arrives when a request slot becomes free does not overtake a waiting request', () => {
  const clock = new SimulatedClock()
  const limiter = limiterOf(clock, 1)
  const got: string[] = []
  clock.after(MINUTE, () => limiter.request('exit', () => got.push('late')))
  for (const slot of take(limiter, 1)) limiter.done(slot)
  limiter.request('exit', () => got.push('early'))
  clock.advanceTo(MINUTE + 1)
  expect(got).toEqual(['early'])
})

test('a request that was not sent returns its request slot at once, and the log records this', () => {
  const clock = new SimulatedClock(200_000)
  const log: Slot[] = []
  const limiter = limiterOf(clock, 1, { write: (slot) => log.push(slot) })
  const [slot] = take(limiter, 1)
  const next = ask(limiter, clock, 'exit')
  limiter.giveBack(slot as Slot)
  expect(next.slot).toBeDefined()
  expect(log.map(({ id, doneAt }) => [id, doneAt])).toEqual([
    [1, null],
    [1, 140_000_000_000n],
    [2, null],
  ])
})

test.each(['entry', 'reconcile'] as const)(
  'after a change to a smaller plan, a request for %s waits until enough request slots are free, and a larger plan gives more at once',
  (kind) => {
    const clock = new SimulatedClock()
    const limiter = limiterOf(clock, 4)
    const slots = take(limiter, 4)
    limiter.setRequestsPerMinute(2)
    for (const [index, slot] of slots.entries()) {
      clock.advanceTo(index * 1000)
      limiter.done(slot)
    }
    const next = ask(limiter, clock, kind)
    clock.advanceTo(MINUTE + 1_999)
    expect(next.slot).toBeUndefined()
    clock.advanceTo(MINUTE + 2_000)
    expect(next.slot).toBeDefined()
    limiter.setRequestsPerMinute(10)
    expect(take(limiter, 7)).toHaveLength(7)
  },
)

describe('the share of exits', () => {
  test('exits have their share right after a change to a smaller plan, even if requests of the larger plan use all request slots', () => {
    const clock = new SimulatedClock()
    const limiter = limiterOf(clock, 1_000)
    for (const slot of take(limiter, 300, 'entry')) limiter.done(slot)
    limiter.setRequestsPerMinute(100)
    expect(take(limiter, 30)).toHaveLength(20)
    expect(take(limiter, 1, 'entry')).toHaveLength(0)
    expect(limiter.status().holds).toMatchObject([{ code: 'SMALLER_PLAN', until: null }])
    clock.advanceTo(MINUTE)
    expect(take(limiter, 81)).toHaveLength(80)
    expect(limiter.status().holds).toEqual([])
  })

  test('exits use their share within the larger plan, so that no minute has more requests than that plan allows', () => {
    const clock = new SimulatedClock()
    const limiter = limiterOf(clock, 100)
    for (const slot of take(limiter, 95)) limiter.done(slot)
    limiter.setRequestsPerMinute(50)
    expect(take(limiter, 10)).toHaveLength(5)
  })

  test('exits have their share after a restart with a smaller plan', () => {
    const clock = new SimulatedClock(150_000)
    const past = Array.from({ length: 300 }, (_, index) => slot(index + 1, 149_000, 149_500))
    const limiter = limiterOf(clock, 100, { past })
    expect(take(limiter, 1, 'entry')).toHaveLength(0)
    expect(take(limiter, 30)).toHaveLength(20)
  })

  test('exits have their share while the requests before the start are unknown, and entries wait with HISTORY_UNKNOWN', () => {
    const clock = new SimulatedClock(150_000)
    const limiter = limiterOf(clock, 100, { past: [] })
    expect(limiter.status()).toMatchObject({ held: 0, holds: [{ code: 'HISTORY_UNKNOWN', until: 150_000 + MINUTE }] })
    const entry = ask(limiter, clock, 'entry')
    expect(take(limiter, 30)).toHaveLength(20)
    clock.advanceTo(150_000 + MINUTE)
    expect(entry.slot).toBeDefined()
    expect(limiter.status().holds).toEqual([])
  })

  test('exits have their share after a 429 while all request slots are in use', () => {
    const clock = new SimulatedClock()
    const limiter = limiterOf(clock, 100)
    const slots = take(limiter, 80, 'entry')
    clock.advanceTo(100)
    for (const slot of slots) limiter.throttled(slot)
    expect(limiter.status().allowed).toBeLessThanOrEqual(50)
    expect(take(limiter, 1, 'entry')).toHaveLength(0)
    expect(take(limiter, 1)).toHaveLength(1)
  })
})

describe('a 429', () => {
  /** Sends requests one after the other. Each gets its answer within 50 ms, a 429 if `isRefused` returns true. */
  function send(clock: SimulatedClock, limiter: Limiter, count: number, isRefused: (index: number) => boolean): number {
    let sent = 0
    for (let index = 0; index < count; index++) {
      clock.advanceTo(clock.now() + 250)
      for (const slot of take(limiter, 1, 'entry')) {
        sent++
        clock.advanceTo(clock.now() + 50)
        if (isRefused(index)) limiter.throttled(slot)
        else limiter.done(slot)
      }
    }
    return sent
  }

  test('three 429s within 1.3 s, at a rate far below the plan, stop no entry, and the status shows them', () => {
    const clock = new SimulatedClock()
    const limiter = limiterOf(clock, 1_000)
    const stray = (index: number): boolean => index >= 210 && index < 219 && index % 3 === 0
    expect(send(clock, limiter, 220, stray)).toBe(220)
    const { allowed, perMinute, holds } = limiter.status()
    expect(allowed).toBeGreaterThan(950)
    expect(perMinute).toBe(1_000)
    expect(holds).toMatchObject([
      { code: 'THROTTLED', text: expect.stringContaining('429 (too many requests) 3 times') },
    ])
    expect(send(clock, limiter, 200, () => false)).toBe(200)
  })

  test('one 429 every 10 s for an hour stops no entry', () => {
    const clock = new SimulatedClock()
    const limiter = limiterOf(clock, 1_000)
    expect(send(clock, limiter, 12_000, (index) => index % 33 === 0)).toBe(12_000)
  })

  test('several 429s at the same time count as one, and reduce the rate at most by half', () => {
    const clock = new SimulatedClock()
    const limiter = limiterOf(clock, 1_000)
    const slots = take(limiter, 800, 'entry')
    for (const [index, slot] of slots.entries()) {
      clock.advanceTo(index * 2)
      limiter.throttled(slot)
    }
    const { allowed } = limiter.status()
    expect(allowed).toBeGreaterThanOrEqual(500)
    expect(allowed).toBeLessThanOrEqual(502)
  })

  test('if each of the last ten requests got a 429, the rate falls to about the number of accepted requests', () => {
    const clock = new SimulatedClock()
    const limiter = limiterOf(clock, 1_000)
    const sent = send(clock, limiter, 200, (index) => index >= 100)
    expect(sent).toBeLessThanOrEqual(112)
    expect(limiter.status().allowed).toBeLessThanOrEqual(120)
  })

  test('a 429 halves the request rate at once, also while the rate recovers', () => {
    const clock = new SimulatedClock()
    const limiter = limiterOf(clock, 100)
    for (const slot of take(limiter, 80, 'entry')) limiter.throttled(slot)
    clock.advanceTo(2 * MINUTE)
    const { allowed } = limiter.status()
    expect(allowed).toBe(60)
    const slots = take(limiter, 48, 'entry')
    for (const [index, slot] of slots.entries())
      if (index === 47) limiter.throttled(slot)
      else limiter.done(slot)
    expect(limiter.status().allowed).toBe(30)
  })

  test('a 429 with Retry-After stops all requests for that time, the status shows it, and the rate recovers in steps', () => {
    const clock = new SimulatedClock(100_000)
    const limiter = limiterOf(clock, 100)
    for (const slot of take(limiter, 80, 'entry')) limiter.throttled(slot, 5_000)
    expect(limiter.status().holds).toMatchObject([
      { code: 'THROTTLED', until: null },
      { code: 'RETRY_AFTER', until: 105_000 },
    ])
    const next = ask(limiter, clock, 'exit')
    clock.advanceTo(104_999)
    expect(next.slot).toBeUndefined()
    clock.advanceTo(105_000)
    expect(next.slot).toBeDefined()
    clock.advanceTo(100_000 + 4 * MINUTE)
    expect(limiter.status()).toMatchObject({ allowed: 70 })
    clock.advanceTo(100_000 + 11 * MINUTE)
    expect(limiter.status()).toMatchObject({ allowed: 100, holds: [] })
  })

  test('if 429s have reduced the rate of a small plan, the rate of a larger plan is reduced by the same fraction', () => {
    const clock = new SimulatedClock()
    const limiter = limiterOf(clock, 10)
    for (const slot of take(limiter, 1)) limiter.throttled(slot)
    expect(limiter.status().allowed).toBe(9)
    limiter.setRequestsPerMinute(1_000)
    expect(limiter.status()).toMatchObject({ allowed: 995, perMinute: 1_000 })
    expect(take(limiter, 1_000, 'entry')).toHaveLength(795)
  })

  test('if 429s have halved the rate, it stays half of the plan after a change to a smaller plan and then to a larger one', () => {
    const clock = new SimulatedClock()
    const limiter = limiterOf(clock, 100)
    for (const slot of take(limiter, 80, 'entry')) limiter.throttled(slot)
    expect(limiter.status().allowed).toBe(50)
    limiter.setRequestsPerMinute(10)
    expect(limiter.status().allowed).toBe(5)
    limiter.setRequestsPerMinute(1_000)
    expect(limiter.status().allowed).toBe(500)
  })

  test('if the plan grows between two 429s that count as one, the cut is computed from the rate at the first 429', () => {
    const clock = new SimulatedClock()
    const limiter = limiterOf(clock, 10)
    const slots = take(limiter, 2)
    for (const [index, slot] of slots.entries()) {
      if (index === 1) limiter.setRequestsPerMinute(1_000)
      limiter.throttled(slot)
    }
    expect(limiter.status().allowed).toBe(980) // 2 of the last 10 answers: 2 %
  })
})

/**
 * Sends entries at a steady rate for ten minutes. Each waits at most 2 s for a request slot, and the service has its
 * own limit per minute (`trueLimit`). Returns the number of 429s in each minute.
 */
function refusalsPerMinute(plan: number, trueLimit: number, perSecond: number): number[] {
  const clock = new SimulatedClock()
  const limiter = limiterOf(clock, plan)
  const counted: number[] = []
  const refusals = new Array<number>(10).fill(0)
  const ask = (): void => {
    clock.after(1_000 / perSecond, ask)
    const leave = limiter.request('entry', (slot) => {
      clock.after(100, () => {
        while ((counted[0] ?? Number.POSITIVE_INFINITY) <= clock.now() - MINUTE) counted.shift()
        if (counted.length < trueLimit) {
          counted.push(clock.now())
          limiter.done(slot)
          return
        }
        const minute = Math.floor(clock.now() / MINUTE)
        refusals[minute] = (refusals[minute] ?? 0) + 1
        limiter.throttled(slot)
      })
    })
    if (leave !== undefined) clock.after(2_000, leave)
  }
  ask()
  clock.advanceTo(10 * MINUTE - 1)
  return refusals
}

test.each([
  ['half of the plan', 500, 25],
  ['a tenth of the plan', 100, 25],
])('a service whose true limit is %s answers 429 a few times, and later only rarely', (_part, limit, most) => {
  const [first, ...others] = refusalsPerMinute(1_000, limit, 12)
  expect(first).toBeLessThanOrEqual(most)
  expect(Math.max(...others)).toBeLessThanOrEqual(8)
})

test('after any number of 429s a tenth of the request slots is left, and waiting requests get slots as the rate recovers', () => {
  const clock = new SimulatedClock()
  const limiter = limiterOf(clock, 20)
  for (let time = 0; time < 20; time++) {
    clock.advanceTo(time * MINUTE * 1.1)
    for (const slot of take(limiter, 1)) {
      limiter.throttled(slot)
    }
  }
  expect(limiter.status()).toMatchObject({ allowed: 2 })
  take(limiter, 1)
  const next = ask(limiter, clock, 'exit')
  clock.advanceTo(clock.now() + MINUTE) // in a minute, the rate recovers by a twentieth of 20 requests
  expect(next.slot).toBeDefined()
})

test.each([
  ['the key is accepted again', 20_000, 20_000],
  ['the key is tried again after 30 s', 60_000, 30_000],
])('while the service refuses the key, no request slot is granted until %s', (_when, opensAt, gets) => {
  const clock = new SimulatedClock()
  const limiter = limiterOf(clock, 5)
  limiter.close()
  const exit = ask(limiter, clock, 'exit')
  clock.after(opensAt, () => limiter.open())
  clock.advanceTo(gets - 1)
  expect(exit.slot).toBeUndefined()
  clock.advanceTo(gets)
  expect(exit.slot).toBeDefined()
})

const at = (ms: number): bigint => BigInt(ms) * 1_000_000n
const slot = (id: number, takenAt: number, doneAt: number | null, boot = 'b'): Slot => ({
  key: 'k',
  id,
  boot,
  takenAt: at(takenAt),
  doneAt: doneAt === null ? null : at(doneAt),
})

test.each([
  ['with an API key that has sent no request yet, two exits are sent without waiting', 'fresh' as const, [0, 0]],
  ['after the log was lost, the second of two exits waits a minute', [], [0, MINUTE]],
  [
    'if the log of sent requests is from another boot of the machine, the second of two exits waits a minute',
    [slot(1, 5, 6, 'earlier')],
    [0, MINUTE],
  ],
  [
    'after a log of another boot that ended with all request slots in use, exits wait for the end of these requests',
    [slot(1, 5, 6, 'earlier'), slot(2, 5, 7, 'earlier')],
    [59_999, MINUTE],
  ],
  [
    'after a log of another boot whose last minute has one request, the second of two exits waits a minute',
    [slot(1, 5, 6, 'earlier'), slot(2, 70_000, 70_000, 'earlier')],
    [0, MINUTE],
  ],
  [
    'after a log of two other boots, exits wait for the end of the requests of both',
    [slot(1, 5, 6, 'first'), slot(2, 5, 6, 'earlier')],
    [59_999, MINUTE],
  ],
  [
    'after a log that ends in the future, the second of two exits waits a minute',
    [slot(1, 999_999, null)],
    [0, MINUTE],
  ],
  [
    'after a request that completed 50 s ago, the second of two exits waits 10 s',
    [slot(1, 99_000, 100_000)],
    [0, 10_000],
  ],
  [
    'two requests that completed in another order than they were sent free their request slots in the order of their ends',
    [slot(1, 99_000, 149_000), slot(2, 99_000, 120_000)],
    [30_000, 59_000],
  ],
  ['a request without an answer at the crash counts for another minute', [slot(1, 149_000, null)], [0, MINUTE]],
  ['a request of two minutes ago without an answer no longer counts', [slot(1, 20_000, null)], [0, 0]],
  [
    'a request of this boot shows that the requests of an earlier boot in the log no longer count',
    [slot(1, 149_000, 149_000, 'earlier'), slot(2, 89_000, 89_001)],
    [0, 0],
  ],
])('%s', (_what, past, waits) => {
  const clock = new SimulatedClock(150_000)
  const got: string[] = []
  const limiter = limiterOf(clock, 2, { past })
  ask(limiter, clock, 'exit', got)
  ask(limiter, clock, 'exit', got)
  clock.advanceTo(150_000 + 2 * MINUTE)
  expect(got).toEqual(waits.map((wait) => `exit ${150_000 + wait}`))
})

test('requests of another boot are recorded again with the clock of this boot, so that the next start reads exact times', () => {
  const clock = new SimulatedClock(20_000)
  const log: Slot[] = []
  limiterOf(clock, 2, { past: [slot(1, 5_000, 6_000, 'earlier')], write: (row) => log.push(row) })
  expect(log).toEqual([slot(1, 19_000, 20_000)])
  clock.advanceTo(79_999)
  const third = limiterOf(clock, 2, { past: log })
  expect(third.status()).toMatchObject({ held: 1 })
  clock.advanceTo(80_000)
  expect(third.status()).toMatchObject({ held: 0 })
})

test('a request whose end was lost is recorded as complete, so that the next start does not wait for it again', () => {
  const clock = new SimulatedClock(150_000)
  const log: Slot[] = []
  limiterOf(clock, 2, { past: [slot(1, 149_000, null)], write: (row) => log.push(row) })
  expect(log).toEqual([slot(1, 149_000, 150_000)])
})

test('under load, all request slots of a class are used, and no timer is left at the end', () => {
  for (const [kind, open] of [
    ['exit', 50],
    ['entry', 40],
  ] as const) {
    const clock = new SimulatedClock()
    const limiter = limiterOf(clock, 50)
    let served = 0
    let backlog = 2_000
    const again = (): void => {
      if (backlog-- <= 0) return
      limiter.request(kind, (taken) => {
        served++
        clock.after((served * 7919) % 3_000, () => limiter.done(taken))
        again()
      })
    }
    for (let line = 0; line < 100; line++) again()
    let used = 0
    const samples = 3_000
    for (let sample = 0; sample < samples; sample++) {
      clock.advanceTo(clock.now() + 100)
      used += limiter.status().held
    }
    expect(used / samples / open).toBeGreaterThanOrEqual(0.97)
    backlog = 0
    clock.advanceTo(clock.now() + 100 * MINUTE)
    expect(clock.nextAt()).toBe(Number.POSITIVE_INFINITY)
  }
})

test('no exit waits for an entry, with any plan, any changes of the plan, any 429s and any order of requests', () => {
  const event = fc.record({
    what: fc.constantFrom('entry', 'entry', 'exit', 'reconcile', 'done', 'throttled', 'plan'),
    ms: fc.constantFrom(0, 1, 40, 900, 61_000),
  })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(event, { maxLength: 120 }), (slots, events) => {
      const clock = new SimulatedClock()
      const limiter = limiterOf(clock, slots)
      const out: Slot[] = []
      let exitsWaiting = 0
      for (const { what, ms } of events) {
        clock.advanceTo(clock.now() + ms)
        if (what === 'done' || what === 'throttled') {
          const slot = out.shift()
          if (slot !== undefined) limiter[what](slot)
          continue
        }
        if (what === 'plan') {
          limiter.setRequestsPerMinute(1 + (ms % 37))
          continue
        }
        if (what === 'exit') exitsWaiting++
        limiter.request(what, (slot) => {
          if (what === 'exit') exitsWaiting--
          if (what === 'entry') expect(exitsWaiting, 'no exit waits while an entry gets a request slot').toBe(0)
          out.push(slot)
        })
      }
    }),
    { numRuns: runs(100) },
  )
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Clock } from '../../src/base/machine.ts'
import { Limiter, type RequestClass } from '../../src/orders/plan-limiter.ts'
import type { Slot } from '../../src/orders/ports.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { runs } from '../support/runs.ts'

const MINUTE = 60_000

type Step =
  | {
      kind: 'ask'
      count: number
      class: RequestClass
      toServerMs: number
      toUsMs: number
      ends: 'done' | 'unsent' | '429'
    }
  | { kind: 'plan'; slots: number }
  | { kind: 'restart'; log: 'kept' | 'ends lost' | 'lost'; sameBoot: boolean }

const step: fc.Arbitrary<{ afterMs: number; step: Step }> = fc.record({
  afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 70_000 })),
  step: fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({
        kind: fc.constant('ask' as const),
        count: fc.integer({ min: 1, max: 8 }),
        class: fc.constantFrom<RequestClass>('exit', 'reconcile', 'entry'),
        toServerMs: fc.integer({ min: 0, max: 20_000 }),
        toUsMs: fc.integer({ min: 0, max: 20_000 }),
        ends: fc.constantFrom('done' as const, 'done' as const, 'done' as const, 'unsent' as const, '429' as const),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('plan' as const), slots: fc.integer({ min: 1, max: 9 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('restart' as const),
        log: fc.constantFrom('kept' as const, 'ends lost' as const, 'lost' as const),
        sameBoot: fc.boolean(),
      }),
    },
  ),
})

/**
 * A request that the server counts. `slots`: the requests per minute that the plan allows when the server counts the
 * request. `plan`: how many changes to a smaller plan came before the request.
 */
interface Counted {
  readonly at: number
  readonly sent: number
  readonly sentAt: number
  readonly kind: RequestClass
  readonly slots: number
  readonly plan: number
}

/** Returns the number of requests that exits may always send in a minute. */
const exitShare = (slots: number): number => Math.max(1, Math.floor(slots * 0.2))

/**
 * A service, and our process with its log of sent requests. Records the time at which the service counts each request,
 * and the plan under which the request was sent.
 */
class World {
  readonly clock = new SimulatedClock(1_000_000)
  readonly counted: Counted[] = []
  /**
   * Starts of a process that lost the log of sent requests, or whose log has more requests than the plan allows.
   * `share`: the number of requests that exits may still send after such a start.
   */
  readonly blind: { readonly at: number; readonly share: number }[] = []
  readonly plans: { readonly until: number; readonly slots: number }[] = []
  readonly waiting: Record<RequestClass, number[]> = { exit: [], reconcile: [], entry: [] }
  #log: Slot[] = []
  #life = 0
  #slots: number
  #sent = 0
  #plan = 0
  #asked = 0
  #limiter: Limiter

  constructor(slots: number) {
    this.#slots = slots
    this.plans.push({ until: Number.POSITIVE_INFINITY, slots })
    this.#limiter = this.#start('fresh', 'boot')
  }

  #start(past: readonly Slot[] | 'fresh', boot: string): Limiter {
    const { clock } = this
    const life = this.#life
    const ours: Clock = {
      now: () => (clock.now() * 7919) % 1e9, // the wall clock jumps; the limiter must not depend on it
      after: (ms, run) => clock.after(ms, () => life === this.#life && run()), // a process's timers die with it
    }
    const write = (row: Slot): void => {
      this.#log.push(row)
    }
    const monotonicMs = () => clock.now()
    return new Limiter({ key: 'k', clock: ours, monotonicMs, boot, requestsPerMinute: this.#slots, past, write })
  }

  take(taken: Step): void {
    if (taken.kind === 'restart') this.#restart(taken)
    else if (taken.kind === 'ask') for (let index = 0; index < taken.count; index++) this.#ask(taken)
    else {
      if (taken.slots < this.#slots) this.#plan++
      Object.assign(this.plans.at(-1) ?? {}, { until: this.clock.now() })
      const isBlind = this.blind.some(({ at }) => at > this.clock.now() - MINUTE)
      this.#slots = taken.slots
      this.plans.push({ until: Number.POSITIVE_INFINITY, slots: taken.slots })
      if (isBlind) this.#goBlind()
      this.#limiter.setRequestsPerMinute(taken.slots)
    }
  }

  #ask({ class: kind, toServerMs, toUsMs, ends }: Extract<Step, { kind: 'ask' }>): void {
    const life = this.#life
    const limiter = this.#limiter
    const number = this.#asked++
    this.waiting[kind].push(number)
    limiter.request(kind, (taken) => {
      expect(life, 'a process that has ended gets no request slot').toBe(this.#life)
      expect(this.waiting[kind].shift(), 'the requests of a class get their request slots in order').toBe(number)
      if (kind === 'entry') expect(this.waiting.exit, 'no exit waits while an entry gets a request slot').toEqual([])
      const request = {
        at: 0,
        sent: this.#sent++,
        sentAt: this.clock.now(),
        kind,
        slots: this.#slots,
        plan: this.#plan,
      }
      this.clock.after(toServerMs, () => {
        if (life !== this.#life) return // the connection died with the process
        if (ends !== 'unsent') this.counted.push({ ...request, at: this.clock.now() })
        this.clock.after(ends === 'unsent' ? 0 : toUsMs, () => {
          if (life !== this.#life) return
          if (ends === 'unsent') limiter.giveBack(taken)
          else if (ends === '429') limiter.throttled(taken, toUsMs)
          else limiter.done(taken)
        })
      })
    })
  }

  #goBlind(): void {
    this.blind.push({ at: this.clock.now(), share: exitShare(this.#slots) })
  }

  #restart({ log, sameBoot }: Extract<Step, { kind: 'restart' }>): void {
    this.#life++
    for (const line of Object.values(this.waiting)) line.length = 0
    if (log === 'lost') {
      this.#log = []
      this.#goBlind()
    }
    const rows = new Map<number, Slot>()
    // The record that a request slot was taken is durable before its request is sent; the record of its end may be
    // lost.
    for (const row of this.#log) if (row.doneAt === null || row.id === 0 || log === 'kept') rows.set(row.id, row)
    if (log === 'ends lost') this.#log = [...rows.values()]
    if (heldAtTheEnd([...rows.values()]) > this.#slots) this.#goBlind()
    this.#limiter = this.#start([...rows.values()], sameBoot ? 'boot' : `boot ${this.#life}`)
  }
}

/**
 * Returns how many requests of the log may count in the minute before the log's latest time. A request without a
 * recorded end may have ended up to a minute after its start.
 */
function heldAtTheEnd(rows: readonly Slot[]): number {
  const latest = Math.max(...rows.map(({ takenAt, doneAt }) => Number(doneAt ?? takenAt) / 1e6))
  const ends = rows.map(({ takenAt, doneAt }) =>
    doneAt === null ? Number(takenAt) / 1e6 + MINUTE : Number(doneAt) / 1e6,
  )
  return ends.filter((end) => end > latest - MINUTE).length
}

/** Returns texts about the limits that were exceeded in the minute that ends when the server counts this request. */
function complaintsOf(world: World, { at: end }: Counted): string[] {
  const inWindow = world.counted.filter(({ at }) => at > end - MINUTE && at <= end)
  const last = inWindow.reduce((a, b) => (a.sent > b.sent ? a : b))
  const underPlan = inWindow.filter(({ plan }) => plan === last.plan)
  const since = Math.min(...inWindow.map(({ sentAt }) => sentAt))
  const largest = Math.max(...world.plans.flatMap(({ until, slots }) => (until >= since ? slots : [])))
  const blind = world.blind.filter(({ at }) => at > end - 2 * MINUTE && at <= end)
  const extra = blind.reduce((sum, { share }) => sum + share, 0)
  const checks: [boolean, string][] = [
    [
      inWindow.length > largest + (last.kind === 'exit' ? extra : 0),
      'more than the largest plan in this minute allows',
    ],
    [
      underPlan.length > Math.max(...underPlan.map(({ slots }) => slots)) + extra,
      'more than the plan allows since its change',
    ],
    [
      last.kind !== 'exit' && inWindow.length > last.slots + extra,
      `more than the plan allows, and a request for ${last.kind} was sent`,
    ],
  ]
  return checks.filter(([isWrong]) => isWrong).map(([, what]) => `${inWindow.length} requests: ${what}`)
}

test('no minute at the server contains more requests than the plan allows, and no request waits forever', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.array(step, { maxLength: 60 }), (slots, steps) => {
      const world = new World(slots)
      for (const { afterMs, step: taken } of steps) {
        world.clock.advanceTo(world.clock.now() + afterMs)
        world.take(taken)
      }
      while (world.clock.nextAt() < Number.POSITIVE_INFINITY) world.clock.advanceTo(world.clock.nextAt())
      expect(Object.values(world.waiting).flat(), 'no request waits forever').toEqual([])
      expect(world.counted.flatMap((request) => complaintsOf(world, request))).toEqual([])
    }),
    { numRuns: runs(500) },
  )
})

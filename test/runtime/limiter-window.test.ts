import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Clock, Slot } from '../../src/core/ports.ts'
import { Limiter, type RequestClass } from '../../src/runtime/limiter.ts'
import { SimulatedClock } from '../../src/simulation/clock.ts'

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

/** The service, our process and its log: what is counted when, and the plan when each request was sent. */
class World {
  readonly clock = new SimulatedClock(1_000_000)
  readonly counted: { at: number; sent: number; slots: number }[] = []
  readonly waiting: Record<RequestClass, number[]> = { exit: [], reconcile: [], entry: [] }
  #log: Slot[] = []
  #life = 0
  #slots: number
  #sent = 0
  #asked = 0
  #limiter: Limiter

  constructor(slots: number) {
    this.#slots = slots
    this.#limiter = this.#start('fresh', 'boot')
  }

  #start(past: readonly Slot[] | 'fresh', boot: string): Limiter {
    const { clock } = this
    const life = this.#life
    const ours: Clock = {
      now: () => (clock.now() * 7919) % 1e9, // the wall clock jumps about; nothing may depend on it
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
      this.#slots = taken.slots
      this.#limiter.setRequestsPerMinute(taken.slots)
    }
  }

  #ask({ class: kind, toServerMs, toUsMs, ends }: Extract<Step, { kind: 'ask' }>): void {
    const life = this.#life
    const limiter = this.#limiter
    const number = this.#asked++
    this.waiting[kind].push(number)
    limiter.request(kind, (taken) => {
      expect(life, 'a slot for a process that is gone').toBe(this.#life)
      expect(this.waiting[kind].shift(), 'first come, first served').toBe(number)
      if (kind === 'entry') expect(this.waiting.exit, 'an exit waits behind an entry').toEqual([])
      const request = { at: 0, sent: this.#sent++, slots: this.#slots }
      this.clock.after(toServerMs, () => {
        if (life !== this.#life) return // the connection died with the process
        if (ends !== 'unsent') this.counted.push({ ...request, at: this.clock.now() })
        this.clock.after(ends === 'unsent' ? 0 : toUsMs, () => {
          if (life !== this.#life) return
          if (ends === 'unsent') limiter.giveBack(taken)
          else limiter.done(taken)
          if (ends === '429') limiter.throttled(taken, toUsMs)
        })
      })
    })
  }

  #restart({ log, sameBoot }: Extract<Step, { kind: 'restart' }>): void {
    this.#life++
    for (const line of Object.values(this.waiting)) line.length = 0
    if (log === 'lost') this.#log = []
    const rows = new Map<number, Slot>()
    // That a slot was taken is durable before its request is sent; that it was done may be lost.
    for (const row of this.#log) if (row.doneAt === null || log === 'kept') rows.set(row.id, row)
    if (log === 'ends lost') this.#log = [...rows.values()]
    this.#limiter = this.#start([...rows.values()], sameBoot ? 'boot' : `boot ${this.#life}`)
  }
}

test('no window of a minute holds more than the plan, as the server counts, and nobody waits for ever', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.array(step, { maxLength: 60 }), (slots, steps) => {
      const world = new World(slots)
      for (const { afterMs, step: taken } of steps) {
        world.clock.advanceTo(world.clock.now() + afterMs)
        world.take(taken)
      }
      while (world.clock.nextAt() < Number.POSITIVE_INFINITY) world.clock.advanceTo(world.clock.nextAt())
      expect(Object.values(world.waiting).flat(), 'somebody waits for ever').toEqual([])
      for (const { at: end } of world.counted) {
        const inWindow = world.counted.filter(({ at: time }) => time > end - MINUTE && time <= end)
        const last = inWindow.reduce((a, b) => (a.sent > b.sent ? a : b))
        expect(inWindow.length).toBeLessThanOrEqual(last.slots)
      }
    }),
    { numRuns: 1_500 },
  )
})

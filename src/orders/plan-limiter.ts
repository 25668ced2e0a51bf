import { assert } from '../base/errors.ts'
import { Fifo } from '../base/fifo.ts'
import type { Cancel, Clock } from '../base/machine.ts'
import type { Millis } from '../base/units.ts'
import { type Budget, type HoldCause, holdOf } from './budget-status.ts'
import { HeldSlots, WINDOW_MS } from './held-slots.ts'
import type { Slot } from './ports.ts'
import { RateAfter429 } from './rate-after-429.ts'
import { beginningOf, readSlotLog, toMillis, toNanoseconds } from './slot-log.ts'

/** Priority of a request. Exits come before reconciliation, and reconciliation before entries. */
export type RequestClass = 'exit' | 'reconcile' | 'entry'
const CLASSES: readonly RequestClass[] = ['exit', 'reconcile', 'entry']

/** Share of the request slots that only exits and reconciliation may use. */
const RESERVED_SHARE = 0.2
/** Longest time in ms that an entry waits for a request slot. After this time, or when its time to live ends, the entry
 *  is refused. */
export const ENTRY_WAIT_MS = 2_000
/** A longer Retry-After is cut to this time, so that exits are tried at least once a minute. */
export const LONGEST_RETRY_AFTER_MS = 60_000

/** Returns the part of this number of request slots that entries never take. */
export function reservedOf(slots: number): number {
  return Math.floor(slots * RESERVED_SHARE)
}

/** Returns the number of requests that exits may always send, even if all request slots are in use. */
function exitShareOf(slots: number): number {
  return Math.max(1, reservedOf(slots))
}

export interface LimiterOptions {
  /** Hash of the API key, which identifies the key in the log of request slots. */
  readonly key: string
  readonly clock: Clock
  /** Returns the milliseconds of a monotonic clock since the computer's boot; if time is simulated, the simulated
   *  clock's `now`. */
  readonly monotonicMs: () => number
  /** Name of the boot from which `monotonicMs` counts. */
  readonly boot: string
  readonly requestsPerMinute: number
  /** The log of request slots of this key, or `fresh` if no process can have used the key in the last minute. An empty
   *  log does not prove this. */
  readonly past: readonly Slot[] | 'fresh'
  /** Records a request slot when it is taken, and again when its request has ended. The first record must be durable
   *  before the request is sent. */
  readonly write: (slot: Slot) => void
}

/** Time after which a refused API key is tried again, ms. */
const KEY_RETRY_MS = 30_000

interface Waiter {
  /** Called with the granted request slot. undefined if the request was cancelled; the limiter then drops it. */
  run: ((slot: Slot) => void) | undefined
}

/** Grants request slots: as many as the plan allows requests a minute. A slot is in use from before its request is sent
 *  until a minute after the request completed. The service counts the request at some moment within this time, so no
 *  window of a minute, fixed or rolling, contains more requests than the plan allows. If older requests leave no slot
 *  free, exits may still send a share of the plan: after a change to a smaller plan, after a 429, and in the first
 *  minute after a start with an unknown history. The reason is that a 429 costs an exit nothing, but a missed stop-loss
 *  costs money. Even then, no window contains more requests than the largest plan in force within it, unless the log
 *  was lost. */
export class Limiter {
  readonly key: string
  readonly #options: LimiterOptions
  readonly #waiting = { exit: new Fifo<Waiter>(), reconcile: new Fifo<Waiter>(), entry: new Fifo<Waiter>() }
  readonly #slots = new HeldSlots()
  readonly #throttle: RateAfter429
  #nextId = 1
  #perMinute: number
  /** Until this time, the service may still count requests of an earlier process that are not in the log. */
  #unknownUntil = Number.NEGATIVE_INFINITY
  #notBefore = Number.NEGATIVE_INFINITY
  #closed = false
  #serving = false
  #timer: Cancel | undefined
  #timerAt = Number.POSITIVE_INFINITY

  constructor(options: LimiterOptions) {
    this.key = options.key
    this.#options = options
    this.#perMinute = options.requestsPerMinute
    const now = options.monotonicMs()
    this.#throttle = new RateAfter429(options.requestsPerMinute, now)
    if (options.past !== 'fresh') this.#restore(options.past, now)
  }

  /** Calls `run` with a request slot. If one is free, calls `run` immediately and returns undefined. Otherwise calls
   *  `run` when the request's turn comes; the returned function cancels the request before that. `first` puts the
   *  request at the head of its class. The caller must end each slot with `done`, `throttled` or `giveBack`. */
  request(kind: RequestClass, run: (slot: Slot) => void, first = false): Cancel | undefined {
    const now = this.#update()
    if (!this.#serving && this.#isFree(kind, now) && (first || this.#next(kind) === undefined)) {
      run(this.#take(kind, now))
      return undefined
    }
    const waiter: Waiter = { run }
    if (first) this.#waiting[kind].unshift(waiter)
    else this.#waiting[kind].push(waiter)
    this.#schedule(now)
    return () => {
      waiter.run = undefined
      this.#dropLeft(kind)
    }
  }

  /** Called when a request has ended without a 429: its complete answer has arrived, or no answer can arrive any
   *  more. */
  done(slot: Slot): void {
    const now = this.#cool(slot)
    this.#throttle.accepted()
    this.#schedule(now)
  }

  /** Called when a request has ended because the service answered 429. `retryAfterMs`: the answer's Retry-After. */
  throttled(slot: Slot, retryAfterMs = 0): void {
    const now = this.#cool(slot)
    const { allowed } = this.#throttle
    this.#throttle.refused(now, toMillis(slot.takenAt), {
      held: this.#slots.count,
      open: allowed - reservedOf(allowed),
    })
    if (retryAfterMs > 0)
      this.#notBefore = Math.max(this.#notBefore, now + Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS))
    this.#schedule(now)
  }

  /** Takes back the request slot of a request that was never sent and that the service therefore did not count. Records
   *  the slot as done a minute before it was taken, so that a restart does not count it either. */
  giveBack(slot: Slot): void {
    this.#slots.giveBack(slot.id)
    this.#options.write({ ...slot, doneAt: slot.takenAt - toNanoseconds(WINDOW_MS) })
    this.#serve()
  }

  /** Changes the plan. Earlier requests count against the new plan too. Under a smaller plan, exits may still send a
   *  share of its requests immediately: the earlier requests were within their own plan, and the service may still
   *  accept an exit. */
  setRequestsPerMinute(requestsPerMinute: number): void {
    this.#update()
    if (requestsPerMinute < this.#perMinute) this.#slots.beginShare(this.#nextId)
    this.#perMinute = requestsPerMinute
    this.#throttle.setPlan(requestsPerMinute)
    this.#serve()
  }

  /** Stops granting request slots, because the service refuses the key. `open` ends the stop. The stop also ends after
   *  KEY_RETRY_MS: if the feed does not reconnect, nothing else shows that the key is accepted again. */
  close(): void {
    this.#closed = true
    this.#options.clock.after(KEY_RETRY_MS, () => this.open())
  }

  open(): void {
    this.#closed = false
    this.#serve()
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Returns how much of the request limit is used, for display. */
  status(): Budget {
    const now = this.#update()
    let waiting = 0
    for (const kind of CLASSES) waiting += this.#waiting[kind].length
    const rate = { allowed: this.#throttle.allowed, perMinute: this.#perMinute }
    const holds = this.#holdCauses(now).map((cause) => holdOf(cause, rate))
    return { held: this.#slots.count, ...rate, waiting, holds }
  }

  #holdCauses(now: number): HoldCause[] {
    const wall = (ms: number): Millis => Math.round(this.#options.clock.now() + ms - now)
    const { allowed, throttling } = this.#throttle
    const exitShare = exitShareOf(allowed)
    const causes: HoldCause[] = []
    if (now < this.#unknownUntil) causes.push({ code: 'HISTORY_UNKNOWN', until: wall(this.#unknownUntil), exitShare })
    const earlier = this.#slots.above(this.#perMinute)
    if (earlier > 0) causes.push({ code: 'SMALLER_PLAN', earlier, exitShare })
    if (throttling !== undefined) {
      const { sinceMs, count, perMinute } = throttling
      causes.push({ code: 'THROTTLED', since: wall(sinceMs), count, perMinute })
    }
    if (now < this.#notBefore) causes.push({ code: 'RETRY_AFTER', until: wall(this.#notBefore) })
    return causes
  }

  get #ceiling(): number {
    return this.#slots.ceiling(this.#perMinute)
  }

  #isFree(kind: RequestClass, now: number): boolean {
    if (this.#closed || now < this.#notBefore) return false
    const { allowed } = this.#throttle
    const held = this.#slots.count
    const hasShare = kind === 'exit' && this.#slots.exits < exitShareOf(allowed) && held < this.#ceiling
    if (now < this.#unknownUntil) return hasShare
    if (kind === 'entry') return held < allowed - reservedOf(allowed)
    return held < allowed || hasShare
  }

  #take(kind: RequestClass, now: number): Slot {
    const id = this.#nextId++
    const slot = { key: this.key, id, boot: this.#options.boot, takenAt: toNanoseconds(now), doneAt: null }
    this.#slots.take(id, kind === 'exit', this.#perMinute)
    assert(this.#slots.count <= this.#ceiling, 'more requests under way than the plan allows')
    this.#options.write(slot)
    return slot
  }

  /** Ends the request that uses this slot. The slot stays in use for one more minute. Returns the current time. */
  #cool(slot: Slot): number {
    const now = this.#update()
    this.#slots.end(slot.id, now)
    this.#options.write({ ...slot, doneAt: toNanoseconds(now) })
    return now
  }

  /** Frees the request slots of requests that ended more than a minute ago, and raises a rate that a 429 had lowered.
   *  Returns the current time. */
  #update(): number {
    const now = this.#options.monotonicMs()
    this.#slots.update(now)
    this.#throttle.update(now)
    return now
  }

  #serve(): void {
    if (this.#serving) return
    this.#serving = true
    let now = this.#update()
    for (let kind = this.#next('entry'); kind !== undefined && this.#isFree(kind, now); kind = this.#next('entry')) {
      this.#waiting[kind].shift()?.run?.(this.#take(kind, now))
      now = this.#update()
    }
    this.#serving = false
    this.#schedule(now)
  }

  /** Returns the class with the highest priority that has a waiting request; undefined if there is none. Ignores
   *  classes of lower priority than `last`. Drops cancelled requests. */
  #next(last: RequestClass): RequestClass | undefined {
    for (const kind of CLASSES) {
      if (this.#dropLeft(kind) > 0) return kind
      if (kind === last) return undefined
    }
    return undefined
  }

  /** Drops cancelled requests from the front of a queue, and returns the length of the queue. If they were not dropped,
   *  the queue of a class that waits behind another class would grow without limit. */
  #dropLeft(kind: RequestClass): number {
    const line = this.#waiting[kind]
    while (line.length > 0 && line.peek()?.run === undefined) line.shift()
    return line.length
  }

  /** Sets one timer, for the next moment at which the first request of a queue may get a request slot. A system timer
   *  may fire early, so `#serve` checks again. */
  #schedule(now: number): void {
    const head = this.#next('entry')
    const at = head === undefined ? Number.POSITIVE_INFINITY : this.#nextChance(head, now)
    // A timer that is already set and fires earlier can stay, because `#serve` checks again when it fires.
    if (at !== Number.POSITIVE_INFINITY && this.#timerAt <= at) return
    this.#timer?.()
    this.#timer = undefined
    this.#timerAt = at
    if (at === Number.POSITIVE_INFINITY) return
    this.#timer = this.#options.clock.after(Math.max(1, Math.ceil(at - now)), () => {
      this.#timer = undefined
      this.#timerAt = Number.POSITIVE_INFINITY
      this.#serve()
    })
  }

  #nextChance(head: RequestClass, now: number): number {
    if (this.#closed) return Number.POSITIVE_INFINITY
    if (now < this.#notBefore) return this.#notBefore
    if (this.#isFree(head, now)) return now // its request slot has just become free
    const freed = this.#slots.nextFreeAt
    if (now < this.#unknownUntil) return Math.min(freed, this.#unknownUntil)
    return Math.min(freed, this.#throttle.nextStepAt(now))
  }

  /** Restores the request slots of earlier processes, with times on the clock of this boot. */
  #restore(past: readonly Slot[], now: number): void {
    const { boot, write } = this.#options
    const log = readSlotLog(past, boot, now)
    this.#nextId = (log?.lastId ?? past.reduce((most, { id }) => Math.max(most, id), 0)) + 1
    if (log === undefined) {
      write(beginningOf({ key: this.key, boot }, now))
      this.#unknownUntil = now + WINDOW_MS
      return
    }
    const { beginning, slots } = log
    const known = new Map(past.map((slot) => [slot.id, slot]))
    for (const slot of beginning === undefined ? slots : [beginning, ...slots]) {
      const before = known.get(slot.id)
      if (before?.boot !== slot.boot || before.doneAt === null) write(slot)
    }
    if (beginning !== undefined) this.#unknownUntil = toMillis(beginning.doneAt) + WINDOW_MS
    const held = slots.filter(({ doneAt }) => toMillis(doneAt) + WINDOW_MS > now)
    // If the log has more request slots in use than the plan allows, they were taken under a larger plan whose size is
    // unknown.
    const plan = held.length > this.#perMinute ? held.length + exitShareOf(this.#perMinute) : this.#perMinute
    const isExit = now < this.#unknownUntil // only exits could be sent since the log began
    for (const { id, doneAt } of held) this.#slots.restore({ id, isExit, plan }, toMillis(doneAt) + WINDOW_MS)
  }
}

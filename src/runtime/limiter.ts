import assert from '../core/assert.ts'
import type { Cancel, Clock, Slot } from '../core/ports.ts'
import { Fifo } from './fifo.ts'

/** Who a request is for; exits go before reconciliation, that before entries. */
export type RequestClass = 'exit' | 'reconcile' | 'entry'
const CLASSES: readonly RequestClass[] = ['exit', 'reconcile', 'entry']

/** The service counts requests a minute; how it counts is not shown. */
const WINDOW_MS = 60_000
/** The hard limit of the `Http` port: an exchange is over so long after it began, whatever happened. */
export const REQUEST_LIMIT_MS = 60_000
/** Of the slots, for exits and reconciliation only. */
const RESERVED_SHARE = 0.2
/** What is left at least after refusals (429), so that an exit can try again within the minute. */
const LEAST_SHARE = 0.1
/** Of the plan, won back each minute after a 429. */
const RECOVERY_SHARE = 0.05
/** A longer Retry-After is not waited for in full: exits are tried once a minute. */
export const LONGEST_RETRY_AFTER_MS = 60_000

/** How many of so many slots entries never take. */
export function reservedOf(slots: number): number {
  return Math.floor(slots * RESERVED_SHARE)
}

export interface LimiterOptions {
  /** Names the API key in the slot log: a hash, never the key itself. */
  readonly key: string
  readonly clock: Clock
  /** Milliseconds since the machine's boot; never steps. The simulated clock's `now` where time is simulated. */
  readonly monotonicMs: () => number
  /** Which boot `monotonicMs` counts from. */
  readonly boot: string
  readonly requestsPerMinute: number
  /** The slot log of this key, or `fresh`: a key that nobody can have used in the last minute. An empty log says nothing about that
   *  minute, so it counts as lost. */
  readonly past: readonly Slot[] | 'fresh'
  /** Keeps a slot as taken, and again as done; called before the request is sent, and to be made durable before it. */
  readonly write: (slot: Slot) => void
}

/** After a key was refused. */
const TRIED_AGAIN_MS = 30_000

interface Waiter {
  /** undefined: gave up. */
  run: ((slot: Slot) => void) | undefined
}

/** The plan's requests a minute as slots. A slot is held from before its request is sent until a minute after the request completed; so
 *  whatever instant between the two the server counts it at, no window of a minute, fixed or sliding, holds more than there are slots. */
export class Limiter {
  readonly key: string
  readonly #options: LimiterOptions
  readonly #waiting = { exit: new Fifo<Waiter>(), reconcile: new Fifo<Waiter>(), entry: new Fifo<Waiter>() }
  readonly #underWay = new Set<number>()
  /** When each completed request's slot is free again, on the monotonic clock: ascending, because they complete in time's order. */
  readonly #cooling = new Fifo<number>()
  #nextId = 1
  #slots: number
  /** How many of them may be used; a fraction while it recovers from a 429. */
  #allowed: number
  #recoveredAt: number
  #cutAt = Number.NEGATIVE_INFINITY
  #notBefore = Number.NEGATIVE_INFINITY
  #closed = false
  #serving = false
  #timer: Cancel | undefined
  #timerAt = Number.POSITIVE_INFINITY

  constructor(options: LimiterOptions) {
    this.key = options.key
    this.#options = options
    this.#slots = options.requestsPerMinute
    this.#allowed = options.requestsPerMinute
    this.#recoveredAt = options.monotonicMs()
    if (options.past !== 'fresh') this.#restore(options.past, this.#recoveredAt)
  }

  /** Calls `run` with a slot: within this call where one is free (then the answer is undefined), else when its turn comes, unless the
   *  returned function is called before. `first` puts it before all others of its class. The slot must be ended by `done` or `giveBack`. */
  request(kind: RequestClass, run: (slot: Slot) => void, first = false): Cancel | undefined {
    const now = this.#update()
    if (!this.#serving && this.#isFree(kind, now) && (first || this.#next(kind) === undefined)) {
      run(this.#take(now))
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

  /** The request is over: its answer is whole, or can not come any more. */
  done(slot: Slot): void {
    const now = this.#end(slot)
    this.#options.write({ ...slot, doneAt: toNanoseconds(now) })
    this.#cooling.push(now + WINDOW_MS)
    this.#schedule(now)
  }

  /** The request was never sent, so nobody counted it. Written as done a minute before it was taken. */
  giveBack(slot: Slot): void {
    this.#end(slot)
    this.#options.write({ ...slot, doneAt: slot.takenAt - toNanoseconds(WINDOW_MS) })
    this.#serve()
  }

  /** The service answered 429 although we held a slot: somebody shares the key, or it counts otherwise than we think. Halves the rate, once
   *  for all requests that were under way together. `retryAfterMs`: what the service asked for. */
  throttled(slot: Slot, retryAfterMs = 0): void {
    const now = this.#update()
    if (toMillis(slot.takenAt) >= this.#cutAt) {
      this.#allowed = Math.max(1, this.#slots * LEAST_SHARE, this.#allowed / 2)
      this.#cutAt = now
    }
    if (retryAfterMs > 0)
      this.#notBefore = Math.max(this.#notBefore, now + Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS))
    this.#schedule(now)
  }

  /** The plan's number from now on. With fewer slots than are held there is no new one until enough of them are free. */
  setRequestsPerMinute(requestsPerMinute: number): void {
    this.#update()
    this.#allowed = this.#allowed < this.#slots ? Math.min(this.#allowed, requestsPerMinute) : requestsPerMinute
    this.#slots = requestsPerMinute
    this.#serve()
  }

  /** No slot for anybody until `open`: the key is refused, so that every request would be. After a while one is tried all the same: the
   *  feed, which would say that the key is good, may never have lost its connection. */
  close(): void {
    this.#closed = true
    this.#options.clock.after(TRIED_AGAIN_MS, () => this.open())
  }

  open(): void {
    this.#closed = false
    this.#serve()
  }

  get closed(): boolean {
    return this.#closed
  }

  /** For display: slots held, slots that may be used now, and requests that wait. */
  status(): { held: number; allowed: number; waiting: number } {
    this.#update()
    let waiting = 0
    for (const kind of CLASSES) waiting += this.#waiting[kind].length
    return { held: this.#held, allowed: Math.floor(this.#allowed), waiting }
  }

  get #held(): number {
    return this.#underWay.size + this.#cooling.length
  }

  #isFree(kind: RequestClass, now: number): boolean {
    if (this.#closed || now < this.#notBefore) return false
    const allowed = Math.floor(this.#allowed)
    return this.#held < (kind === 'entry' ? allowed - reservedOf(allowed) : allowed)
  }

  #take(now: number): Slot {
    const id = this.#nextId++
    const slot = { key: this.key, id, boot: this.#options.boot, takenAt: toNanoseconds(now), doneAt: null }
    this.#underWay.add(id)
    assert(this.#held <= this.#slots, 'more requests under way than the plan allows')
    this.#options.write(slot)
    return slot
  }

  #end(slot: Slot): number {
    if (!this.#underWay.delete(slot.id)) assert(false, `slot ${slot.id} is ended twice, or was never taken`)
    return this.#update()
  }

  /** Frees what has cooled and wins back what a 429 took; returns the time. */
  #update(): number {
    const now = this.#options.monotonicMs()
    for (let at = this.#cooling.peek(); at !== undefined && at <= now; at = this.#cooling.peek()) this.#cooling.shift()
    if (this.#allowed < this.#slots) {
      this.#allowed = Math.min(this.#slots, this.#allowed + (now - this.#recoveredAt) * this.#recoveryPerMs)
    }
    this.#recoveredAt = now
    return now
  }

  get #recoveryPerMs(): number {
    return Math.max(1, this.#slots * RECOVERY_SHARE) / 60_000
  }

  #serve(): void {
    if (this.#serving) return
    this.#serving = true
    let now = this.#update()
    for (let kind = this.#next('entry'); kind !== undefined && this.#isFree(kind, now); kind = this.#next('entry')) {
      this.#waiting[kind].shift()?.run?.(this.#take(now))
      now = this.#update()
    }
    this.#serving = false
    this.#schedule(now)
  }

  /** The first class of those up to `last` in which somebody waits; whoever gave up is dropped on the way. */
  #next(last: RequestClass): RequestClass | undefined {
    for (const kind of CLASSES) {
      if (this.#dropLeft(kind) > 0) return kind
      if (kind === last) return undefined
    }
    return undefined
  }

  /** Those at the head of a line who gave up; how many are left. A line that is not served, because another one goes before it, would grow
   *  with all who ever stood in it. */
  #dropLeft(kind: RequestClass): number {
    const line = this.#waiting[kind]
    while (line.length > 0 && line.peek()?.run === undefined) line.shift()
    return line.length
  }

  /** One timer, for the head: at the next moment that can give it a slot. Timers of the system may fire early, so `serve` looks again. */
  #schedule(now: number): void {
    const head = this.#next('entry')
    const at = head === undefined ? Number.POSITIVE_INFINITY : this.#nextChance(head, now)
    if (at !== Number.POSITIVE_INFINITY && this.#timerAt <= at) return // fires early, and looks again
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
    if (this.#isFree(head, now)) return now // its slot came free at this very moment
    const freed = this.#cooling.peek() ?? Number.POSITIVE_INFINITY
    if (this.#allowed >= this.#slots) return freed
    return Math.min(freed, now + (Math.floor(this.#allowed) + 1 - this.#allowed) / this.#recoveryPerMs)
  }

  /** Takes over the log of an earlier process. Times of another boot can not be compared with ours; but as no slot is given in the first
   *  minute after such a start, a slot of this boot also says that those of earlier boots are over. */
  #restore(past: readonly Slot[], now: number): void {
    const last = past.reduce<Slot | undefined>((a, b) => (a !== undefined && a.id > b.id ? a : b), undefined)
    this.#nextId = (last?.id ?? 0) + 1
    if (last === undefined || last.boot !== this.#options.boot || toMillis(last.takenAt) > now) {
      this.#notBefore = now + WINDOW_MS
      return
    }
    const doneAt: number[] = []
    for (const slot of past) {
      if (slot.boot !== this.#options.boot) continue
      if (slot.doneAt !== null) doneAt.push(toMillis(slot.doneAt))
      else doneAt.push(this.#endOfLost(slot, now))
    }
    for (const at of doneAt.sort((a, b) => a - b)) if (at + WINDOW_MS > now) this.#cooling.push(at + WINDOW_MS)
  }

  /** A request whose process died is over now at the latest. */
  #endOfLost(slot: Slot, now: number): number {
    const doneAt = Math.min(now, toMillis(slot.takenAt) + REQUEST_LIMIT_MS)
    this.#options.write({ ...slot, doneAt: toNanoseconds(doneAt) })
    return doneAt
  }
}

/** Whole milliseconds, rounded up: a slot is rather held too long. */
function toNanoseconds(ms: number): bigint {
  return BigInt(Math.ceil(ms)) * 1_000_000n
}

function toMillis(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000n)
}

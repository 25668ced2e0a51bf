import type { ErrorCode } from '../core/errors.ts'
import type { Input } from '../core/messages.ts'
import type { CalledOff, OrderState } from '../core/order.ts'
import type { Cancel, Clock, Journal, Outcome, Slot } from '../core/ports.ts'
import type { Millis } from '../core/units.ts'
import { nextAttempt } from './attempt.ts'
import { waitReason } from './budget.ts'
import { failpoint } from './failpoint.ts'
import type { Refusals } from './refusals.ts'
import type { ReportDetails, Reports } from './reports.ts'
import type { Tries } from './retry.ts'
import { climb, type Flight, isExecuted, isLast, mayRepeat, takeOff, type WorkingOrder } from './working-order.ts'

/** An entry that finds no free slot for so long, or within its time to live, is refused. */
const ENTRY_WAIT_MS = 2_000
/** What is refused costs a slot, what reverts costs a fee: waiting for the next repetition doubles with each, up to this many times. */
const MOST_DOUBLINGS = 6
const CALLED_OFF: Readonly<Record<CalledOff, string>> = {
  EXIT_UNPROVED: 'a full exit of its mint was accepted before it was sent',
  HALTED: 'entries were halted before it was sent',
  DISK_LOW: 'the disk that holds the journal ran low before it was sent',
}
const REPEATED = 'sent again: there is no evidence yet that it has executed'

/** What a gateway stands on. */
export interface Outside {
  readonly clock: Clock
  /** Milliseconds that never step; the simulated clock's `now` where time is simulated. */
  readonly monotonicMs: () => number
  readonly journal: Journal
  /** The runner's door, for reports. */
  readonly post: (input: Input) => void
}

export interface DepartureParts extends Outside {
  readonly reports: Reports
  readonly refusals: Refusals
  /** It does not leave: the order is over. */
  readonly end: (working: WorkingOrder, state: OrderState, code: ErrorCode, details?: ReportDetails) => void
  /** What is out has an outcome. */
  readonly settle: (working: WorkingOrder, flight: Flight, outcome: Outcome) => void
}

/** From the line for a slot to the executor: each attempt durable before it can execute. An order waits for one attempt at most. */
export class Departures {
  readonly #parts: DepartureParts

  constructor(parts: DepartureParts) {
    this.#parts = parts
  }

  /** Takes a slot, or stands in the line for one; `first`: at its head. */
  enqueue(working: WorkingOrder, first: boolean): void {
    const { order, route } = working
    const isEntry = order.class === 'entry'
    this.callOff(working)
    const refusal = isEntry ? this.#parts.refusals.of(working) : undefined
    if (refusal !== undefined) {
      this.#parts.end(working, 'refused', refusal)
      return
    }
    const askedAt = this.#parts.clock.now()
    const leave = route.limiter.request(order.class, (slot) => this.#arm(working, slot, askedAt), first)
    if (leave === undefined) return
    working.stopWaiting = leave
    if (isEntry) this.#boundWait(working, leave)
  }

  enqueueAfter(working: WorkingOrder, ms: number, first: boolean): void {
    this.callOff(working)
    working.stopWaiting = this.#parts.clock.after(ms, () => this.enqueue(working, first))
  }

  /** A full exit goes again, a step further, when there is no evidence by then. Where it waits for an attempt already, it is left at that. */
  repeatLater(working: WorkingOrder): void {
    const { repeatMs } = working.order
    if (repeatMs === null || !mayRepeat(working) || working.stopWaiting !== undefined) return
    const afterMs = repeatMs * 2 ** Math.min(working.failures, MOST_DOUBLINGS)
    working.stopWaiting = this.#parts.clock.after(afterMs, () => {
      climb(working, working.step)
      this.enqueue(working, false)
    })
  }

  /** The chain shows that this attempt failed for its slippage, though not yet finally: a full exit has no reason to wait for more. */
  repeatNow(working: WorkingOrder, flight: Flight): void {
    const isTop = flight.step + 1 >= working.order.slippagePercents.length
    if (isTop || !isLast(working, flight) || !mayRepeat(working)) return
    climb(working, flight.step)
    this.enqueue(working, true)
  }

  /** Leaves the line, or calls off the next try. */
  callOff(working: WorkingOrder): void {
    working.stopWaiting?.()
    working.stopWaiting = undefined
  }

  /** Until the order may not be sent any more, by whichever clock is ahead; Infinity for exits. */
  timeLeftMs({ order, deadlineMs }: WorkingOrder): number {
    if (order.notAfter === null) return Number.POSITIVE_INFINITY
    return Math.min(order.notAfter - this.#parts.clock.now(), deadlineMs - this.#parts.monotonicMs())
  }

  timesOf(working: WorkingOrder): Pick<Tries, 'sinceDecisionMs' | 'leftMs'> {
    return { sinceDecisionMs: this.#parts.clock.now() - working.order.time, leftMs: this.timeLeftMs(working) }
  }

  #boundWait(working: WorkingOrder, leave: Cancel): void {
    const leftMs = this.timeLeftMs(working)
    if (leftMs < 0) {
      this.#parts.end(working, 'expired', 'TTL')
      return
    }
    const waitMs = Math.min(leftMs, ENTRY_WAIT_MS)
    const { clock, end } = this.#parts
    const stop = clock.after(waitMs, () => {
      const reason = waitReason(working.route.limiter.status(), clock.now())
      end(working, 'refused', 'LIMIT_WAIT', { reason })
    })
    working.stopWaiting = () => {
      leave()
      stop()
    }
  }

  /** Has the slot: makes order, attempt and slot durable in one commit, then executes. */
  #arm(working: WorkingOrder, slot: Slot, askedAt: Millis): void {
    const { clock, journal, reports, post, end } = this.#parts
    this.callOff(working)
    if (this.timeLeftMs(working) < 0) {
      working.route.limiter.giveBack(slot)
      end(working, 'expired', 'TTL')
      return
    }
    const isRepeated = working.flights.length > 0
    const now = clock.now()
    const flight = takeOff(working, nextAttempt(working, now, now - askedAt), slot)
    journal.write({ kind: 'attempt', attempt: { ...flight.attempt } })
    const report = reports.write(working, 'working', '', isRepeated ? { reason: REPEATED } : {})
    failpoint('armed')
    journal.commit(() => {
      post(report)
      this.#execute(working, flight)
    })
  }

  #execute(working: WorkingOrder, flight: Flight): void {
    const { monotonicMs, refusals, settle } = this.#parts
    if (this.timeLeftMs(working) < 0) {
      settle(working, flight, { kind: 'unsent', reason: 'the commit took longer than the time to live' })
      return
    }
    const calledOff = refusals.callOff(working)
    if (calledOff !== undefined) {
      settle(working, flight, { kind: 'unsent', code: calledOff, reason: CALLED_OFF[calledOff] })
      return
    }
    if (isExecuted(working)) {
      settle(working, flight, { kind: 'unsent', reason: 'an earlier attempt was seen to execute' })
      return
    }
    failpoint('before-execute')
    flight.sentMs = monotonicMs()
    working.route.executor.execute(flight.attempt, (outcome) => settle(working, flight, outcome))
    failpoint('after-execute')
    this.repeatLater(working)
  }
}

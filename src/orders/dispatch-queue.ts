import type { ErrorCode } from '../base/errors.ts'
import { failpoint } from '../base/failpoint.ts'
import type { Cancel, Clock } from '../base/machine.ts'
import type { Millis } from '../base/units.ts'
import type { Input } from '../engine/messages.ts'
import { isOpen, type OrderState } from '../engine/order.ts'
import { type CalledOff, isAnswered } from './attempt.ts'
import { nextAttempt } from './attempt-moves.ts'
import { waitReason } from './budget.ts'
import type { OpenOrders } from './open-orders.ts'
import type { OrderReports, ReportDetails } from './order-reports.ts'
import type { Journal, Outcome, Slot } from './ports.ts'
import type { Tries } from './retry.ts'
import type { ServiceRefusals } from './service-refusals.ts'
import { climb, type Flight, isExecuted, isLast, mayRepeat, takeOff, type WorkingOrder } from './working-order.ts'

/** An entry that finds no free slot for so long, or within its time to live, is refused. */
const ENTRY_WAIT_MS = 2_000
/** What is refused costs a slot, what reverts costs a fee: waiting for the next repetition doubles with each, up to
 *  this many times. */
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
  readonly reports: OrderReports
  readonly refusals: ServiceRefusals
  /** It does not leave: the order is over. */
  readonly end: (working: WorkingOrder, state: OrderState, code: ErrorCode, details?: ReportDetails) => void
  /** What is out has an outcome. */
  readonly settle: (working: WorkingOrder, flight: Flight, outcome: Outcome) => void
}

/** From the line for a slot to the executor: each attempt durable before it can execute. An order waits for one attempt
 *  at most. */
export class DispatchQueue {
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

  /** A full exit goes again, a step further, when there is no evidence by then. Where it waits for an attempt already,
   *  it is left at that. */
  repeatLater(working: WorkingOrder): void {
    const { repeatMs } = working.order
    if (repeatMs === null || !mayRepeat(working) || working.stopWaiting !== undefined) return
    const afterMs = repeatMs * 2 ** Math.min(working.failures, MOST_DOUBLINGS)
    working.stopWaiting = this.#parts.clock.after(afterMs, () => {
      climb(working, working.step)
      this.enqueue(working, false)
    })
  }

  /** The chain shows that this attempt failed for its slippage, though not yet finally: a full exit has no reason to
   *  wait for more. */
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

/** What an executor may ask about orders that are out: between arming an attempt and sending it, time passes where it
 *  is built and checked. */
export class Outgoing {
  readonly #orders: OpenOrders
  readonly #departures: DispatchQueue
  readonly #refusals: ServiceRefusals

  constructor(orders: OpenOrders, departures: DispatchQueue, refusals: ServiceRefusals) {
    this.#orders = orders
    this.#departures = departures
    this.#refusals = refusals
  }

  /** Why an order may not be signed or sent any more: it is called off, its time is over, or something of it was seen
   *  to execute. */
  refusalOf(orderId: string): CalledOff | 'TTL' | undefined {
    const working = this.#orders.get(orderId)
    if (working === undefined) return 'TTL'
    const isWanted = this.#departures.timeLeftMs(working) >= 0 && !isExecuted(working)
    return this.#refusals.callOff(working) ?? (isWanted ? undefined : 'TTL')
  }

  /** Nothing is being looked at, built, signed or asked of the service: what is out by now is out, and known to be. */
  get isAnswered(): boolean {
    for (const { flights } of this.#orders.values())
      if (flights.some(({ attempt }) => attempt.executor !== 'paper' && !isAnswered(attempt.state))) return false
    return true
  }

  /** What an order may take out of the wallet at most, lamports; 0 where it is over. */
  reserveLamports(orderId: string): bigint {
    return BigInt(this.#orders.get(orderId)?.order.reserveLamports ?? 0)
  }

  /** What may be ordered in this account while something is on its way: twice what each of its bots has ordered at once
   *  at most, lamports. */
  headroomLamports(account: string): bigint {
    return 2n * this.#orders.onceMoreLamports(account)
  }

  /** What the account's open orders may take out of the wallet at most, lamports, this one left out. */
  reservedLamports(account: string, orderId: string): bigint {
    let sum = 0n
    for (const { order, state } of this.#orders.values())
      if (order.account === account && order.id !== orderId && isOpen(state)) sum += BigInt(order.reserveLamports)
    return sum
  }
}

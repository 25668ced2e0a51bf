import type { ErrorCode } from '../base/errors.ts'
import { assert } from '../base/errors.ts'
import type { Clock } from '../base/machine.ts'
import type { Lamports } from '../base/units.ts'
import { type Fill, isFullExit, isOpen, type OrderState } from '../engine/order.ts'
import type { Attempt } from './attempt.ts'
import { filledLate, nextAttempt } from './attempt-moves.ts'
import type { DispatchQueue } from './dispatch-queue.ts'
import type { Lanes, OpenOrders } from './open-orders.ts'
import type { OrderReports, ReportDetails } from './order-reports.ts'
import type { Journal, Outcome } from './ports.ts'
import { type Flight, isWaiting, takeOff, type WorkingOrder } from './working-order.ts'

export interface FindingParts {
  readonly clock: Clock
  readonly journal: Journal
  readonly reports: OrderReports
  readonly lanes: Lanes
  readonly orders: OpenOrders
  readonly departures: DispatchQueue
  /** The order is over. */
  readonly end: (working: WorkingOrder, state: OrderState, code: ErrorCode, details?: ReportDetails) => void
  /** The service, or a proof, was wrong. */
  readonly breached: (account: string) => void
  /** What is out has an outcome. */
  readonly settle: (working: WorkingOrder, flight: Flight, outcome: Outcome) => void
}

/** What the chain shows of orders beside the outcomes of attempts that are out. */
export class LateEvidence {
  readonly #parts: FindingParts

  constructor(parts: FindingParts) {
    this.#parts = parts
  }

  /** The chain shows, finally, that an attempt executed which had ended otherwise, or executed once more. Booked
   *  whatever became of its order; one that still waits for its next try has got what it wanted, and a full exit
   *  whatever else of it is out. */
  late(attempt: Attempt, fill: Fill, code: 'LATE_FILL' | 'SERVICE_DUPLICATE'): void {
    const { journal, reports, lanes, orders, departures, breached, end } = this.#parts
    if (code === 'LATE_FILL') journal.write({ kind: 'attempt', attempt: filledLate(attempt, fill) })
    journal.write({ kind: 'fill', fill })
    const working = orders.get(attempt.orderId)
    const details = { attemptId: attempt.id, fill }
    if (working === undefined) reports.tell(attempt.orderId, 'filled', code, details)
    else if (isWaiting(working)) end(working, 'filled', code, details)
    else {
      const isOver = isFullExit(working.order) && isOpen(working.state)
      working.executed = true
      departures.callOff(working)
      if (isOver) lanes.free(working.order)
      reports.say(working, isOver ? 'filled' : working.state, code, details)
    }
    breached(attempt.account)
  }

  /** A transaction failed, finally, that was most likely this attempt's: it costs its fee, and decides nothing. */
  paid(attempt: Attempt, signature: string, feeLamports: Lamports): void {
    const { orders, reports } = this.#parts
    const working = orders.get(attempt.orderId)
    assert(working !== undefined, `${attempt.id} is out, and its order is not`)
    const reason = `${signature} failed; whether it was the only try is not known`
    reports.say(working, working.state, working.code, { attemptId: attempt.id, feeLamports, reason })
  }

  /** The chain shows an execution of a full exit, and any of several attempts may have made it: each of them is still
   *  out. What was seen becomes an attempt of its own, which is filled, or taken back by a fork, in their place. */
  standIn(attempt: Attempt): { attempt: Attempt; done: (outcome: Outcome) => void } {
    const { clock, orders, settle } = this.#parts
    const working = orders.get(attempt.orderId)
    assert(working !== undefined, `${attempt.id} is out, and its order is not`)
    const next = nextAttempt(working, clock.now())
    const flight = takeOff(working, { ...next, baseline: attempt.baseline, state: 'unknown' }, undefined)
    return { attempt: flight.attempt, done: (outcome) => settle(working, flight, outcome) }
  }
}

import type { ErrorCode } from '../base/errors.ts'
import { assert } from '../base/errors.ts'
import { failpoint } from '../base/failpoint.ts'
import type { Cancel } from '../base/machine.ts'
import { isFullExit, isOpen, type Order, type OrderState } from '../engine/order.ts'
import { isUndecided, isUnsigned } from './attempt.ts'
import { advance, isProgress } from './attempt-moves.ts'
import { DispatchQueue, Outgoing, type Outside } from './dispatch-queue.ts'
import { LateEvidence } from './late-evidence.ts'
import type { Limiter } from './limiter.ts'
import { Lanes, OpenOrders, WaitingOrders } from './open-orders.ts'
import { detailsOf, OrderReports, type ReportDetails } from './order-reports.ts'
import type { GatewayPort, Journal, Outcome, Slot } from './ports.ts'
import { endRequest } from './request.ts'
import { causeOf, codeOf, type Failure, type Move, moveAfter, RETRY } from './retry.ts'
import { ServiceRefusals } from './service-refusals.ts'
import {
  climb,
  type Flight,
  isExecuted,
  isLast,
  isWaiting,
  land,
  leaveFee,
  mayRepeat,
  type Route,
  takeUp,
  triesOf,
  type Unfinished,
  type WorkingOrder,
  workingOrder,
} from './working-order.ts'

export interface GatewayOptions extends Outside {
  /** How the orders of a bot go out. */
  readonly route: (order: Pick<Order, 'account' | 'bot'>) => Route
  /** Number of the next report in this journal. */
  readonly nextReport: number
}

/** Gets orders out, one open order a lane, each of its attempts durable before it can execute. A synchronous state
 *  machine: what it waits for comes from the clock, the limiter, the journal's commits and the executors, and may find
 *  its order ended by then. An order has one attempt out at a time, but for a full exit: that goes again without proof,
 *  because the chain refuses to sell what is not held. */
export class Gateway implements GatewayPort {
  readonly #options: GatewayOptions
  readonly #journal: Journal
  readonly #reports: OrderReports
  readonly #lanes = new Lanes()
  readonly #orders = new OpenOrders()
  readonly #refusals = new ServiceRefusals()
  readonly #departures: DispatchQueue
  readonly stops: WaitingOrders
  /** What the chain shows beside the outcomes that are waited for. */
  readonly findings: LateEvidence
  readonly outgoing: Outgoing

  constructor(options: GatewayOptions) {
    this.#options = options
    this.#journal = options.journal
    this.#reports = new OrderReports(options.journal, options.post, options.nextReport)
    this.#departures = new DispatchQueue({
      ...options,
      reports: this.#reports,
      refusals: this.#refusals,
      end: (working, state, code, details) => this.#end(working, state, code, details),
      settle: (working, flight, outcome) => this.#settle(working, flight, outcome),
    })
    this.outgoing = new Outgoing(this.#orders, this.#departures, this.#refusals)
    this.stops = new WaitingOrders({
      ...{ journal: options.journal, orders: this.#orders, refusals: this.#refusals },
      end: (working, state, code) => this.#end(working, state, code),
    })
    this.findings = new LateEvidence({
      ...{ clock: options.clock, journal: options.journal, reports: this.#reports, lanes: this.#lanes },
      ...{ orders: this.#orders, departures: this.#departures },
      end: (working, state, code, details) => this.#end(working, state, code, details),
      breached: (account) => this.trust(account, false),
      settle: (working, flight, outcome) => this.#settle(working, flight, outcome),
    })
  }

  submit(order: Order): void {
    const working = this.#workingOrder(order, 'accepted')
    if (this.#lanes.isReopened(order) && !this.#lanes.takes(order)) {
      this.#reports.say(working, 'refused', 'LANE_BUSY')
      return
    }
    if (this.#orders.mayBeSold(order)) assert(false, `${order.id} buys what an exit may still sell`)
    this.#lanes.hold(order)
    this.#orders.add(working)
    failpoint('accepted')
    const isExit = isFullExit(order)
    if (isExit) this.stops.overtakeBuys(order)
    this.#departures.enqueue(working, false)
    if (isExit) this.stops.refuseBuys(order)
    // Where a slot was free, the order became durable together with its attempt.
    if (isWaiting(working)) this.#journal.commit(() => {})
  }

  /** Calls an order off that is not out yet. One that is gets the code TOO_LATE; one that has ended is left alone. */
  cancel(orderId: string, code: ErrorCode): void {
    const working = this.#orders.get(orderId)
    if (working === undefined || !isOpen(working.state)) return
    if (isWaiting(working)) this.#end(working, 'cancelled', code)
    else this.#reports.say(working, working.state, 'TOO_LATE')
  }

  trust(account: string, isTrusted: boolean): void {
    this.#refusals.trust(account, isTrusted)
    if (!isTrusted) this.stops.endRepeats()
  }

  halt(account: string, isHalted: boolean): void {
    if (this.#refusals.halt(account, isHalted)) this.stops.refuseEntries()
  }

  /** Goes on with what an earlier process left. An attempt that is out is looked up, never sent again. Exits go
   *  first. */
  resume({ orders, attempts, untold, fills }: Unfinished): void {
    const said = new Map(untold.map(({ report }) => [report.orderId, report.state]))
    const taken: WorkingOrder[] = []
    for (const { order, state: recorded } of orders) {
      const state = said.get(order.id) ?? recorded
      const own = attempts.filter((attempt) => attempt.orderId === order.id)
      if (!isOpen(state) && !own.some((attempt) => isUndecided(attempt.state))) continue
      const working = this.#workingOrder(order, state)
      // else a fork has opened it, as the engine has yet to hear
      const isKnown = isOpen(recorded) && this.#lanes.takes(order)
      if (isOpen(state)) isKnown ? this.#lanes.hold(order) : this.#lanes.reopen(order)
      this.#orders.add(working)
      takeUp(working, own, fills)
      for (const attempt of own.filter(({ state }) => isUnsigned(state)))
        this.#journal.write({
          kind: 'attempt',
          attempt: { ...attempt, state: 'unsent', code: attempt.code || 'CRASHED' },
        })
      taken.push(working)
    }
    // All lanes are held by now: what the engine hears here may make it decide.
    for (const report of untold) this.#options.post(report)
    this.stops.resume()
    this.stops.endRepeats()
    taken.sort((a, b) => Number(a.order.class === 'entry') - Number(b.order.class === 'entry'))
    for (const working of taken) {
      for (const flight of working.flights)
        working.route.executor.resume(flight.attempt, (outcome) => this.#settle(working, flight, outcome))
      this.#departures.repeatLater(working)
      if (isWaiting(working)) this.#departures.enqueue(working, false)
    }
  }

  /** A slot for a request of the service that is no order; `run` is called when the slot is durable, and ends it with
   *  the limiter. */
  requestSlot(limiter: Limiter, run: (slot: Slot) => void): Cancel | undefined {
    return limiter.request('reconcile', (slot) => this.#journal.commit(() => run(slot)))
  }

  /** The service refuses the key: entries end, exits wait at the head. */
  keyRefused(limiter: Limiter): void {
    limiter.close()
    this.stops.refuseEntries()
  }

  /** The service knows the key, or another one in its place, or the plan has changed. */
  keyAccepted(limiter: Limiter): void {
    this.#refusals.reset(limiter)
  }

  #workingOrder(order: Order, state: OrderState): WorkingOrder {
    const { clock, monotonicMs, route } = this.#options
    const deadlineMs = order.notAfter === null ? Number.POSITIVE_INFINITY : monotonicMs() + order.notAfter - clock.now()
    return workingOrder(order, route(order), state, deadlineMs)
  }

  /** Takes an outcome. Whatever calls the engine (`say`, `#end`) comes last: it may come back with another order or a
   *  cancel. */
  #settle(working: WorkingOrder, flight: Flight, outcome: Outcome): void {
    const { clock, monotonicMs } = this.#options
    const { attempt } = flight
    if (!working.flights.includes(flight)) assert(false, `attempt ${attempt.id} spoke after its end`)
    const { signature } = attempt
    endRequest(flight, working.route.limiter, outcome, clock, monotonicMs())
    advance(attempt, outcome, clock.now())
    if (isProgress(outcome) || outcome.kind === 'filled') this.#refusals.accepted(working.route)
    this.#journal.write({ kind: 'attempt', attempt: { ...attempt } })
    if (flight.hasFilled && (outcome.kind !== 'filled' || outcome.fill.signature !== signature))
      this.#takeBack(working, flight, signature)
    if (outcome.kind === 'filled') this.#filled(working, flight, outcome)
    else if (outcome.kind === 'acked') this.#stillOut(working, flight, '', '')
    else if (isProgress(outcome))
      return // rides along: the commit that counts is the one before it is sent
    else if (outcome.kind === 'unknown') this.#stillOut(working, flight, 'ANSWER_LOST', outcome.reason)
    else if (outcome.kind === 'undecided') this.#undecided(working, flight, outcome.reason)
    else if (outcome.kind === 'reverted' && !outcome.final) this.#reverted(working, flight, outcome)
    else this.#failed(working, flight, outcome)
  }

  #filled(working: WorkingOrder, flight: Flight, { fill, final }: Extract<Outcome, { kind: 'filled' }>): void {
    this.#journal.write({ kind: 'fill', fill })
    if (isOpen(working.state)) this.#lanes.free(working.order)
    this.#departures.callOff(working)
    flight.hasFilled = true
    if (final) {
      working.executed = true
      this.#land(working, flight, true)
    }
    this.#reports.say(working, 'filled', '', { attemptId: fill.attemptId, fill })
  }

  /** A fork took the fill back: the order is open again, unless another of its attempts has executed. */
  #takeBack(working: WorkingOrder, flight: Flight, signature: string): void {
    flight.hasFilled = false
    const isOver = isExecuted(working)
    if (!isOver) this.#lanes.reopen(working.order)
    const details = { attemptId: flight.attempt.id, reversed: signature }
    this.#reports.add(working, isOver ? 'filled' : 'working', 'REVERSED', details)
  }

  /** Not an end: the lane stays held. The engine hears of it where it changes what the user sees. */
  #stillOut(working: WorkingOrder, { attempt }: Flight, code: ErrorCode | '', reason: string): void {
    this.#departures.repeatLater(working)
    const isNews = working.state === 'working' && working.code !== code
    if (isNews) this.#reports.say(working, 'working', code, { attemptId: attempt.id, reason })
    else this.#reports.sayAll()
  }

  #reverted(working: WorkingOrder, flight: Flight, { code }: Extract<Outcome, { kind: 'reverted' }>): void {
    this.#stillOut(working, flight, code, 'not final yet')
    if (code === 'SLIPPAGE_EXCEEDED') this.#departures.repeatNow(working, flight)
  }

  /** A person decides, or later evidence; unless others of its attempts may, or one that is still to go. */
  #undecided(working: WorkingOrder, flight: Flight, reason: string): void {
    const isStuck = working.flights.every(({ attempt }) => attempt.state === 'undecided') && !mayRepeat(working)
    if (!isStuck || !isOpen(working.state)) this.#stillOut(working, flight, 'HELD', reason)
    else this.#reports.say(working, 'held', 'HELD', { attemptId: flight.attempt.id, reason })
  }

  /** Proved not to have executed: the retry table says what follows, unless another attempt has followed already. */
  #failed(working: WorkingOrder, flight: Flight, failure: Failure): void {
    const { order, route, flights } = working
    const cause = causeOf(failure)
    const code = codeOf(failure)
    const details = detailsOf(flight.attempt, failure)
    const mayGoOn = isLast(working, flight) && this.#refusals.mayRepeat(flight.attempt, failure, cause)
    this.#land(working, flight, !isOpen(working.state))
    working.refusedFor = failure.kind === 'refused' ? cause : undefined
    const entriesStop = this.#refusals.learn(cause, route)
    const tries = triesOf(working, flight.step, failure, this.#departures.timesOf(working))
    const calledOff = this.#orders.mayBeSold(order) ? 'EXIT_UNPROVED' : this.#refusals.callOff(working)
    const move: Move = mayGoOn ? moveAfter(cause, tries) : { kind: 'end' }
    if (isExecuted(working) || !isOpen(working.state)) this.#failedToo(working, code, details)
    else if (flights.length === 0 && (move.kind === 'end' || working.state === 'held'))
      this.#end(working, RETRY[cause].ends, code, details)
    else if (calledOff !== undefined) this.#end(working, 'refused', calledOff, details)
    else if (move.kind === 'again' && move.afterMs > this.#departures.timeLeftMs(working))
      this.#end(working, 'expired', 'TTL', details)
    else this.#goOn(working, flight, move, code, details)
    if (entriesStop) this.stops.refuseEntries()
  }

  /** Another attempt of its order has executed, or the service executed this one twice, as far as anybody knew before a
   *  restart. */
  #failedToo(working: WorkingOrder, code: ErrorCode, details: ReportDetails): void {
    const { state, flights } = working
    if (!isOpen(state)) this.#reports.say(working, state, '', { ...details, reason: `${details.attemptId}: ${code}` })
    else if (flights.length > 0) this.#reports.say(working, state, code, details)
    else this.#end(working, 'filled', 'LATE_FILL', details)
  }

  #goOn(working: WorkingOrder, flight: Flight, move: Move, code: ErrorCode, details: ReportDetails): void {
    const first = working.order.class === 'exit'
    const state = working.state === 'held' ? 'held' : working.flights.length > 0 ? 'working' : 'accepted'
    this.#reports.say(working, state, code, details)
    // The engine may have cancelled it on hearing that; what is held tries nothing more.
    if (working.state !== state || state === 'held') return
    if (move.kind === 'end') {
      if (code !== 'ABSENT') working.failures++
      this.#departures.repeatLater(working)
    } else if (move.kind === 'again') {
      working.waits++
      this.#departures.enqueueAfter(working, move.afterMs, first)
    } else {
      if (move.kind === 'climb') climb(working, flight.step)
      if (move.kind === 'otherFee') leaveFee(working, flight.attempt)
      if (move.kind !== 'hold') working.waits = 0
      if (move.kind === 'climb' && move.afterMs > 0) this.#departures.enqueueAfter(working, move.afterMs, first)
      else this.#departures.enqueue(working, first)
    }
  }

  /** It has ended; with the last one of an order that is over, nothing is left to come of that. */
  #land(working: WorkingOrder, flight: Flight, isOver: boolean): void {
    land(working, flight)
    if (isOver && working.flights.length === 0) this.#orders.remove(working)
  }

  #end(working: WorkingOrder, state: OrderState, code: ErrorCode, details?: ReportDetails): void {
    this.#departures.callOff(working)
    this.#lanes.free(working.order)
    this.#orders.remove(working)
    this.#reports.say(working, state, code, details)
  }
}

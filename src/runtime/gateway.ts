import assert from '../core/assert.ts'
import type { ErrorCode } from '../core/errors.ts'
import type { Input } from '../core/messages.ts'
import type { OpenOrder } from '../core/money.ts'
import { type Attempt, type Fill, isOpen, isUndecided, type Order, type OrderState } from '../core/order.ts'
import type { Cancel, Clock, GatewayPort, Journal, Outcome, Slot } from '../core/ports.ts'
import { advance, filledLate, nextAttempt } from './attempt.ts'
import { failpoint } from './failpoint.ts'
import { Lanes } from './lanes.ts'
import type { Limiter } from './limiter.ts'
import { Refusals } from './refusals.ts'
import { detailsOf, type NumberedReport, type ReportDetails, Reports } from './reports.ts'
import { endRequest } from './request.ts'
import { causeOf, codeOf, type Failure, type Move, moveAfter, RETRY } from './retry.ts'
import { isWaiting, type Route, takeUp, triesOf, type WorkingOrder, workingOrder } from './working-order.ts'

/** An entry that finds no free slot for so long, or within its time to live, is refused. */
const ENTRY_WAIT_MS = 2_000
const NOTHING = (): void => {}

export interface GatewayOptions {
  readonly clock: Clock
  /** Milliseconds that never step; the simulated clock's `now` where time is simulated. */
  readonly monotonicMs: () => number
  readonly journal: Journal
  /** How the orders of a bot go out. */
  readonly route: (order: Pick<Order, 'account' | 'bot'>) => Route
  /** The runner's door, for reports. */
  readonly post: (input: Input) => void
  /** Number of the next report in this journal. */
  readonly nextReport: number
}

/** Gets orders out, one open order a lane, each of its attempts durable before it can execute. A synchronous state machine: what it waits
 *  for comes from the clock, the limiter, the journal's commits and the executors, and may find its order ended by then. */
export class Gateway implements GatewayPort {
  readonly #options: GatewayOptions
  readonly #journal: Journal
  readonly #reports: Reports
  readonly #lanes = new Lanes()
  /** Open ones, and filled ones whose fill is not final. */
  readonly #orders = new Map<string, WorkingOrder>()
  readonly #refusals = new Refusals()

  constructor(options: GatewayOptions) {
    this.#options = options
    this.#journal = options.journal
    this.#reports = new Reports(options.journal, options.post, options.nextReport)
  }

  submit(order: Order): void {
    const working = this.#workingOrder(order, 'accepted')
    if (this.#lanes.isReopened(working.lane)) {
      this.#reports.say(working, 'refused', 'LANE_BUSY')
      return
    }
    this.#lanes.hold(working.lane)
    this.#orders.set(order.id, working)
    failpoint('accepted')
    this.#enqueue(working, false)
    // Where a slot was free, the order became durable together with its attempt.
    if (isWaiting(working)) this.#journal.commit(NOTHING)
  }

  /** Calls an order off that is not out yet. One that is gets the code TOO_LATE; one that has ended is left alone. */
  cancel(orderId: string, code: ErrorCode): void {
    const working = this.#orders.get(orderId)
    if (working === undefined || !isOpen(working.state)) return
    if (isWaiting(working)) this.#end(working, 'cancelled', code)
    else this.#reports.say(working, working.state, 'TOO_LATE')
  }

  /** Goes on with what an earlier process left: `orders` that are open or have an attempt that may still execute, all their `attempts`,
   *  and the reports that the engine never took. An attempt that is out is looked up, never sent again. Exits go first. */
  resume(orders: readonly OpenOrder[], attempts: readonly Attempt[], untold: readonly NumberedReport[]): void {
    const said = new Map(untold.map(({ report }) => [report.orderId, report.state]))
    const taken: WorkingOrder[] = []
    for (const { order, state: recorded } of orders) {
      const state = said.get(order.id) ?? recorded
      const own = attempts.filter((attempt) => attempt.orderId === order.id)
      if (!isOpen(state) && !own.some((attempt) => isUndecided(attempt.state))) continue
      const working = this.#workingOrder(order, state)
      if (isOpen(state) && this.#lanes.isHeld(working.lane)) this.#lanes.reopen(working.lane)
      else if (isOpen(state)) this.#lanes.hold(working.lane)
      this.#orders.set(order.id, working)
      takeUp(working, own)
      taken.push(working)
    }
    // All lanes are held by now: what the engine hears here may make it decide.
    for (const report of untold) this.#options.post(report)
    taken.sort((a, b) => Number(a.order.class === 'entry') - Number(b.order.class === 'entry'))
    for (const working of taken) {
      const { attempt, route } = working
      if (attempt !== undefined) route.executor.resume(attempt, (outcome) => this.#settle(working, attempt, outcome))
      else if (isWaiting(working)) this.#enqueue(working, false)
    }
  }

  /** The chain shows, finally, that an attempt executed which had ended otherwise, or executed once more. Booked whatever became of its
   *  order; one that still waits for its next try has got what it wanted. */
  late(attempt: Attempt, fill: Fill, code: 'LATE_FILL' | 'SERVICE_DUPLICATE'): void {
    if (attempt.state === 'refused') this.#refusals.breached()
    if (code === 'LATE_FILL') this.#journal.write({ kind: 'attempt', attempt: filledLate(attempt, fill) })
    this.#journal.write({ kind: 'fill', fill })
    const working = this.#orders.get(attempt.orderId)
    const details = { attemptId: attempt.id, fill }
    if (working === undefined) this.#reports.tell(attempt.orderId, 'filled', code, details)
    else if (isWaiting(working)) this.#end(working, 'filled', code, details)
    else {
      working.executed = true
      this.#reports.say(working, working.state, code, details)
    }
  }

  /** A slot for a request of the service that is no order; `run` is called when the slot is durable, and ends it with the limiter. */
  requestSlot(limiter: Limiter, run: (slot: Slot) => void): Cancel | undefined {
    return limiter.request('reconcile', (slot) => this.#journal.commit(() => run(slot)))
  }

  /** The service refuses the key: entries end, exits wait at the head. */
  keyRefused(limiter: Limiter): void {
    limiter.close()
    this.#refuseEntries()
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

  /** Takes a slot, or stands in the line for one. */
  #enqueue(working: WorkingOrder, first: boolean): void {
    const { order, route } = working
    const isEntry = order.class === 'entry'
    working.stopWaiting = undefined
    const refusal = isEntry ? this.#refusals.of(route) : undefined
    if (refusal !== undefined) {
      this.#end(working, 'refused', refusal)
      return
    }
    const leave = route.limiter.request(order.class, (slot) => this.#arm(working, slot), first)
    if (leave === undefined) return
    working.stopWaiting = leave
    if (isEntry) this.#boundWait(working, leave)
  }

  #boundWait(working: WorkingOrder, leave: Cancel): void {
    const leftMs = this.#timeLeftMs(working)
    if (leftMs < 0) {
      this.#end(working, 'expired', 'TTL')
      return
    }
    const waitMs = Math.min(leftMs, ENTRY_WAIT_MS)
    const stop = this.#options.clock.after(waitMs, () => this.#end(working, 'refused', 'LIMIT_WAIT'))
    working.stopWaiting = () => {
      leave()
      stop()
    }
  }

  /** Has the slot: makes order, attempt and slot durable in one commit, then executes. */
  #arm(working: WorkingOrder, slot: Slot): void {
    working.stopWaiting?.()
    working.stopWaiting = undefined
    if (this.#timeLeftMs(working) < 0) {
      working.route.limiter.giveBack(slot)
      this.#end(working, 'expired', 'TTL')
      return
    }
    const attempt = nextAttempt(working, this.#options.clock.now())
    working.attempt = attempt
    working.slot = slot
    this.#journal.write({ kind: 'attempt', attempt: { ...attempt } })
    const report = this.#reports.write(working, 'working', '')
    failpoint('armed')
    this.#journal.commit(() => {
      this.#options.post(report)
      this.#execute(working, attempt)
    })
  }

  #execute(working: WorkingOrder, attempt: Attempt): void {
    if (this.#timeLeftMs(working) < 0) {
      this.#settle(working, attempt, { kind: 'unsent', reason: 'the commit took longer than the time to live' })
      return
    }
    failpoint('before-execute')
    working.sentMs = this.#options.monotonicMs()
    working.route.executor.execute(attempt, (outcome) => this.#settle(working, attempt, outcome))
    failpoint('after-execute')
  }

  /** Takes an outcome. Whatever calls the engine (`say`, `#end`) comes last: it may come back with another order or a cancel. */
  #settle(working: WorkingOrder, attempt: Attempt, outcome: Outcome): void {
    assert(working.attempt === attempt, `attempt ${attempt.id} spoke after its end`)
    const { signature } = attempt
    endRequest(working, outcome, this.#options.clock, this.#options.monotonicMs())
    advance(attempt, outcome)
    if (outcome.kind === 'acked' || outcome.kind === 'filled') this.#refusals.accepted(working.route)
    this.#journal.write({ kind: 'attempt', attempt: { ...attempt } })
    if (working.state === 'filled' && outcome.kind !== 'filled') this.#takeBack(working, signature)
    if (outcome.kind === 'filled') this.#filled(working, outcome)
    else if (outcome.kind === 'acked') this.#stillOut(working, '', '')
    else if (outcome.kind === 'unknown') this.#stillOut(working, 'ANSWER_LOST', outcome.reason)
    else if (outcome.kind === 'reverted' && !outcome.final) this.#stillOut(working, outcome.code, 'not final yet')
    else if (outcome.kind === 'undecided') this.#reports.say(working, 'held', 'HELD', { reason: outcome.reason })
    else this.#failed(working, outcome)
  }

  #filled(working: WorkingOrder, { fill, final }: Extract<Outcome, { kind: 'filled' }>): void {
    this.#journal.write({ kind: 'fill', fill })
    if (isOpen(working.state)) this.#lanes.free(working.lane)
    const details = { attemptId: fill.attemptId, fill }
    if (final) {
      this.#orders.delete(working.order.id)
      working.attempt = undefined
    }
    this.#reports.say(working, 'filled', '', details)
  }

  /** A fork took the fill back: the order is open again. */
  #takeBack(working: WorkingOrder, signature: string): void {
    this.#lanes.reopen(working.lane)
    this.#reports.add(working, 'working', 'REVERSED', { reversed: signature })
  }

  /** Not an end: the lane stays held. The engine hears of it where it changes what the user sees. */
  #stillOut(working: WorkingOrder, code: ErrorCode | '', reason: string): void {
    const isSaid = working.state === 'held' || (working.state === 'working' && working.code === code)
    if (isSaid) this.#journal.commit(NOTHING)
    else this.#reports.say(working, 'working', code, { reason })
  }

  /** Proved not to have executed: the retry table says what follows. */
  #failed(working: WorkingOrder, failure: Failure): void {
    const { order, route } = working
    const cause = causeOf(failure)
    const code = codeOf(failure)
    const details = detailsOf(working.attempt, failure)
    working.attempt = undefined
    const entriesStop = this.#refusals.learn(cause, route)
    const move = moveAfter(cause, triesOf(working, failure, this.#options.clock.now() - order.time))
    if (working.executed) this.#end(working, 'filled', 'LATE_FILL', details)
    else if (move.kind === 'end' || working.state === 'held' || !this.#refusals.mayRepeat(failure, cause))
      this.#end(working, RETRY[cause].ends, code, details)
    else if (move.kind === 'again' && move.afterMs > this.#timeLeftMs(working))
      this.#end(working, 'expired', 'TTL', details)
    else this.#goOn(working, move, code, details)
    if (entriesStop) this.#refuseEntries()
  }

  #goOn(working: WorkingOrder, move: Exclude<Move, { kind: 'end' }>, code: ErrorCode, details: ReportDetails): void {
    const first = working.order.class === 'exit'
    this.#reports.say(working, 'accepted', code, details)
    if (!isWaiting(working)) return // the engine cancelled it on hearing that
    if (move.kind === 'again') {
      working.waits++
      working.stopWaiting = this.#options.clock.after(move.afterMs, () => this.#enqueue(working, first))
      return
    }
    if (move.kind === 'climb') {
      working.step++
      working.waits = 0
    }
    this.#enqueue(working, first)
  }

  #end(working: WorkingOrder, state: OrderState, code: ErrorCode, details?: ReportDetails): void {
    working.stopWaiting?.()
    working.stopWaiting = undefined
    this.#lanes.free(working.lane)
    this.#orders.delete(working.order.id)
    this.#reports.say(working, state, code, details)
  }

  /** Ends the entries that wait where entries have stopped. */
  #refuseEntries(): void {
    for (const working of this.#orders.values()) {
      if (working.order.class === 'exit' || !isWaiting(working)) continue
      const refusal = this.#refusals.of(working.route)
      if (refusal !== undefined) this.#end(working, 'refused', refusal)
    }
  }

  /** Until the order may not be sent any more, by whichever clock is ahead; Infinity for exits. */
  #timeLeftMs({ order, deadlineMs }: WorkingOrder): number {
    if (order.notAfter === null) return Number.POSITIVE_INFINITY
    const { clock, monotonicMs } = this.#options
    return Math.min(order.notAfter - clock.now(), deadlineMs - monotonicMs())
  }
}

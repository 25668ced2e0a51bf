import type { ErrorCode } from '../base/errors.ts'
import { failpoint } from '../base/failpoint.ts'
import type { Cancel, Clock } from '../base/machine.ts'
import type { Lamports, Millis } from '../base/units.ts'
import type { Input } from '../engine/messages.ts'
import type { Fill, Order } from '../engine/order.ts'
import type { Attempt } from './attempt.ts'
import type { Effect, LateCode, OrderEvent } from './events.ts'
import { addStandIn } from './late-evidence.ts'
import { OrderQueries } from './order-queries.ts'
import type { Limiter } from './plan-limiter.ts'
import type { GatewayPort, Journal, Outcome, Slot } from './ports.ts'
import { step } from './reducer.ts'
import { Orders } from './reducer-state.ts'
import type { OpenAttempt, Route, Unfinished, WorkingOrder } from './working-order.ts'

export interface GatewayOptions {
  readonly clock: Clock
  /** Returns the milliseconds of a monotonic clock; if time is simulated, the simulated clock's `now`. */
  readonly monotonicMs: () => number
  readonly journal: Journal
  /** Delivers reports to the engine, through the runner. */
  readonly post: (input: Input) => void
  readonly route: (order: Pick<Order, 'account' | 'bot'>) => Route
  /** Number of the next report in this journal. */
  readonly nextReport: number
}

/** Sends orders. Each lane (account, mint and side) has one open order, and each attempt is durable before it can
 *  execute. The reducer's function `step` makes the decisions. The gateway turns calls, timers, commits, request slots
 *  and outcomes into events, and carries out the effects of each step. Meanwhile the engine may answer a report, which
 *  causes another event. The gateway handles this event immediately. This is safe, because the step has ended, and its
 *  remaining effects do not depend on older state. */
export class Gateway implements GatewayPort {
  readonly #options: GatewayOptions
  readonly #orders: Orders
  /** For each order: the function that removes it from the limiter's queue, or clears the timer for its next
   *  attempt. */
  readonly #scheduled = new Map<WorkingOrder, Cancel>()
  readonly outgoing: OrderQueries

  constructor(options: GatewayOptions) {
    this.#options = options
    this.#orders = new Orders(options.route, options.nextReport)
    this.outgoing = new OrderQueries(this.#orders, options.clock, options.monotonicMs)
  }

  submit(order: Order): void {
    this.#take({ kind: 'submitted', order })
  }

  /** Cancels an order that was not sent yet. If it may already be sent, sends a report with TOO_LATE instead. Does
   *  nothing for an order that has ended. */
  cancel(orderId: string, code: ErrorCode): void {
    this.#take({ kind: 'cancelled', orderId, code })
  }

  trust(account: string, isTrusted: boolean): void {
    this.#take({ kind: 'trustChanged', account, isTrusted })
  }

  halt(account: string, isHalted: boolean): void {
    this.#take({ kind: 'haltChanged', account, isHalted })
  }

  /** Stops entries while the disk that holds the journal is nearly full. */
  diskLow(isLow: boolean): void {
    this.#take({ kind: 'diskLowChanged', isLow })
  }

  /** Resumes the orders of an earlier process. Outcomes of attempts that may have been sent are looked up; no attempt
   *  is sent again. */
  resume(past: Unfinished): void {
    this.#take({ kind: 'recovered', past })
  }

  /** Called when the service refuses the API key. Entries end, and exits wait at the head of the queue. */
  keyRefused(limiter: Limiter): void {
    this.#take({ kind: 'keyRefused', limiter })
  }

  /** Allows requests again that were stopped because of the key or the plan. Called when the service accepts the API
   *  key, or when the plan has changed. */
  keyAccepted(limiter: Limiter): void {
    this.#take({ kind: 'keyAccepted', limiter })
  }

  /** Requests a request slot for a request that does not belong to an order. `run` is called once the slot is durable,
   *  and must return the slot to the limiter. If no slot is free, returns a function that removes the request from the
   *  queue. */
  requestSlot(limiter: Limiter, run: (slot: Slot) => void): Cancel | undefined {
    return limiter.request('reconcile', (slot) => this.#options.journal.commit(() => run(slot)))
  }

  /** Books an execution that is final on the chain: the execution of an attempt that had ended in another state, or a
   *  second execution. */
  lateFill(attempt: Attempt, fill: Fill, code: LateCode): void {
    this.#take({ kind: 'lateFill', attempt, fill, code })
  }

  /** Books the fee of a transaction whose failure is final and which most likely belongs to this open attempt. */
  feePaid(attempt: Attempt, signature: string, feeLamports: Lamports): void {
    this.#take({ kind: 'feePaid', attempt, signature, feeLamports })
  }

  /** Adds a stand-in to a full exit: an attempt to which an execution is booked if it is unknown which of the exit's
   *  open attempts executed. */
  standIn(attempt: Attempt): { attempt: Attempt; done: (outcome: Outcome) => void } {
    const [working, open] = addStandIn(this.#orders, attempt, this.#options.clock.now())
    return { attempt: open.attempt, done: this.#outcomeOf(working, open) }
  }

  #take(event: OrderEvent): void {
    const { clock, monotonicMs } = this.#options
    this.#carryOut(step(this.#orders, event, clock.now(), monotonicMs()))
  }

  #carryOut(effects: readonly Effect[]): void {
    for (const effect of effects) this.#do(effect)
  }

  #do(effect: Effect): void {
    const { clock, journal, post } = this.#options
    switch (effect.kind) {
      case 'write':
        journal.write(effect.record)
        break
      case 'commit':
        journal.commit(() => this.#carryOut(effect.whenDurable))
        break
      case 'report':
        post(effect.report)
        break
      case 'event':
        this.#take(effect.event)
        break
      case 'failpoint':
        failpoint(effect.at)
        break
      case 'execute':
        effect.working.route.executor.execute(effect.open.attempt, this.#outcomeOf(effect.working, effect.open))
        break
      case 'resume':
        effect.working.route.executor.resume(effect.open.attempt, this.#outcomeOf(effect.working, effect.open))
        break
      case 'requestSlot':
        this.#requestSlot(effect.working, effect.first, effect.askedAt)
        break
      case 'limitSlotWait':
        this.#limitSlotWait(effect.working, effect.ms)
        break
      case 'schedule':
        this.#scheduled.set(
          effect.working,
          clock.after(effect.ms, () => this.#take(effect.event)),
        )
        return
      case 'unschedule':
        this.#scheduled.get(effect.working)?.()
        this.#scheduled.delete(effect.working)
        return
      case 'after':
        clock.after(effect.ms, () => this.#take(effect.event))
        return
      default:
        limit(effect)
    }
  }

  #outcomeOf(working: WorkingOrder, open: OpenAttempt): (outcome: Outcome) => void {
    return (outcome) => this.#take({ kind: 'outcome', working, open, outcome })
  }

  #requestSlot(working: WorkingOrder, first: boolean, askedAt: Millis): void {
    const { limiter, baseline } = working.route
    const granted = (slot: Slot): void =>
      this.#take({ kind: 'slotGranted', working, slot, askedAt, baseline: baseline?.() ?? null })
    const leave = limiter.request(working.order.class, granted, first)
    if (leave === undefined) return
    this.#scheduled.set(working, leave)
    this.#take({ kind: 'queued', working })
  }

  #limitSlotWait(working: WorkingOrder, ms: number): void {
    const leave = this.#scheduled.get(working)
    const stop = this.#options.clock.after(ms, () =>
      this.#take({ kind: 'slotWaitOver', working, budget: working.route.limiter.status() }),
    )
    this.#scheduled.set(working, () => {
      leave?.()
      stop()
    })
  }
}

/** Informs the limiter how a request slot was used, or whether the service accepts the key. */
function limit(effect: Extract<Effect, { limiter: Limiter }>): void {
  switch (effect.kind) {
    case 'slotDone':
      effect.limiter.done(effect.slot)
      break
    case 'slotUnused':
      effect.limiter.giveBack(effect.slot)
      break
    case 'slotThrottled':
      effect.limiter.throttled(effect.slot, effect.retryAfterMs)
      break
    case 'closeLimiter':
      effect.limiter.close()
      break
    case 'openLimiter':
      effect.limiter.open()
      break
  }
}

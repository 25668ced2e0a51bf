import type { ErrorCode } from '../base/errors.ts'
import type { Failpoint } from '../base/failpoint.ts'
import type { Lamports, Millis } from '../base/units.ts'
import type { Input } from '../engine/messages.ts'
import type { Fill, Order } from '../engine/order.ts'
import type { Attempt, Baseline } from './attempt.ts'
import type { Budget } from './budget-status.ts'
import type { Limiter } from './plan-limiter.ts'
import type { JournalRecord, Outcome, Slot } from './ports.ts'
import type { Move } from './retry-policy.ts'
import type { OpenAttempt, Unfinished, WorkingOrder } from './working-order.ts'

/** An event of the order path, which is the code that takes an order to its executions. Events come from the engine,
 *  the limiter, the journal's commits, the executors, the clock, the service and the audit. */
export type OrderEvent =
  | { readonly kind: 'submitted'; readonly order: Order }
  | { readonly kind: 'cancelled'; readonly orderId: string; readonly code: ErrorCode }
  | { readonly kind: 'recovered'; readonly past: Unfinished }
  | SlotGranted
  /** No request slot was free, so the order is in the limiter's queue. */
  | { readonly kind: 'queued'; readonly working: WorkingOrder }
  | { readonly kind: 'slotWaitOver'; readonly working: WorkingOrder; readonly budget: Budget }
  /** The delay before the next attempt is over. If `first` is true, the order goes to the head of the queue. */
  | { readonly kind: 'retryDue'; readonly working: WorkingOrder; readonly first: boolean }
  /** The delay before the repeat of a full exit is over, and there is still no evidence of an execution. */
  | { readonly kind: 'repeatDue'; readonly working: WorkingOrder }
  | ({ readonly kind: 'outcome' } & AttemptOutcome)
  /** A request whose answer was lost must have ended by now, because its time limit is over. */
  | { readonly kind: 'requestOver'; readonly working: WorkingOrder; readonly open: OpenAttempt; readonly slot: Slot }
  | { readonly kind: 'lateFill'; readonly attempt: Attempt; readonly fill: Fill; readonly code: LateCode }
  | { readonly kind: 'feePaid'; readonly attempt: Attempt; readonly signature: string; readonly feeLamports: Lamports }
  | { readonly kind: 'trustChanged'; readonly account: string; readonly isTrusted: boolean }
  | { readonly kind: 'haltChanged'; readonly account: string; readonly isHalted: boolean }
  | { readonly kind: 'diskLowChanged'; readonly isLow: boolean }
  | { readonly kind: 'keyRefused'; readonly limiter: Limiter }
  | { readonly kind: 'keyAccepted'; readonly limiter: Limiter }
  | FollowUp

/** An event that continues a step. It is handled only after the effects before it were carried out. After one of those
 *  effects, such as a commit or a report, the engine may cancel an order or submit another one. */
export type FollowUp =
  | { readonly kind: 'expired'; readonly working: WorkingOrder }
  | { readonly kind: 'attemptDurable'; readonly working: WorkingOrder; readonly open: OpenAttempt }
  /** The limiter knows by now how the attempt used its request slot. The outcome is applied to the order next. */
  | ({ readonly kind: 'outcomeCounted' } & AttemptOutcome)
  | { readonly kind: 'slippageSeen'; readonly working: WorkingOrder; readonly open: OpenAttempt }
  | { readonly kind: 'failureReported'; readonly retry: Retry }
  | { readonly kind: 'entriesBlocked' }
  | { readonly kind: 'entryBlocked'; readonly working: WorkingOrder }
  | { readonly kind: 'repeatsEnd' }
  | { readonly kind: 'repeatEnds'; readonly working: WorkingOrder }
  | { readonly kind: 'buysOvertaken'; readonly exits: 'all' | Order }
  | { readonly kind: 'resumed'; readonly working: WorkingOrder }

export type LateCode = 'LATE_FILL' | 'SERVICE_DUPLICATE'

interface AttemptOutcome {
  readonly working: WorkingOrder
  readonly open: OpenAttempt
  readonly outcome: Outcome
}

export interface SlotGranted {
  readonly kind: 'slotGranted'
  readonly working: WorkingOrder
  readonly slot: Slot
  /** Time at which the order asked for the request slot. */
  readonly askedAt: Millis
  readonly baseline: Baseline | null
}

/** A failed attempt whose order may be tried again. */
export interface Retry {
  readonly working: WorkingOrder
  readonly open: OpenAttempt
  readonly move: Move
  readonly code: ErrorCode
  /** State of the order when its failure was reported. */
  readonly state: WorkingOrder['state']
}

/** A report with its number in the journal. */
export type NumberedReport = Extract<Input, { kind: 'report' }>

/** An effect of a step. The gateway carries out the effects of a step one after the other. */
export type Effect =
  | { readonly kind: 'write'; readonly record: JournalRecord }
  /** Commits everything written so far. `whenDurable`: the effects that are carried out once it is durable. */
  | { readonly kind: 'commit'; readonly whenDurable: readonly Effect[] }
  /** Delivers a report to the engine, which may submit or cancel orders before the next effect. */
  | { readonly kind: 'report'; readonly report: NumberedReport }
  | { readonly kind: 'execute'; readonly working: WorkingOrder; readonly open: OpenAttempt }
  /** Looks up the outcome of an attempt of an earlier process. Never sends the attempt again. */
  | { readonly kind: 'resume'; readonly working: WorkingOrder; readonly open: OpenAttempt }
  /** Asks the limiter for a request slot. If one is free, the event `slotGranted` follows immediately. Otherwise
   *  `queued` follows immediately, and `slotGranted` follows later. */
  | { readonly kind: 'requestSlot'; readonly working: WorkingOrder; readonly first: boolean; readonly askedAt: Millis }
  /** Limits the wait for a request slot. If the order is still in the queue after `ms`, the event `slotWaitOver`
   *  follows. */
  | { readonly kind: 'limitSlotWait'; readonly working: WorkingOrder; readonly ms: number }
  | { readonly kind: 'schedule'; readonly working: WorkingOrder; readonly ms: number; readonly event: OrderEvent }
  /** Takes the order out of the queue, or clears the timer for its next attempt. */
  | { readonly kind: 'unschedule'; readonly working: WorkingOrder }
  | { readonly kind: 'after'; readonly ms: number; readonly event: OrderEvent }
  | { readonly kind: 'slotDone'; readonly limiter: Limiter; readonly slot: Slot }
  | { readonly kind: 'slotUnused'; readonly limiter: Limiter; readonly slot: Slot }
  | {
      readonly kind: 'slotThrottled'
      readonly limiter: Limiter
      readonly slot: Slot
      readonly retryAfterMs: number | undefined
    }
  | { readonly kind: 'closeLimiter'; readonly limiter: Limiter }
  | { readonly kind: 'openLimiter'; readonly limiter: Limiter }
  | { readonly kind: 'failpoint'; readonly at: Failpoint }
  | { readonly kind: 'event'; readonly event: FollowUp | OrderEvent }

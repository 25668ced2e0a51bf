import type { ErrorCode } from '../base/errors.ts'
import type { Millis } from '../base/units.ts'
import type { Input } from '../engine/messages.ts'
import {
  type ExecutorKind,
  type Fill,
  isFullExit,
  isOpen,
  MOST_OPEN_EXITS,
  type Order,
  type OrderState,
} from '../engine/order.ts'
import type { OpenOrder } from '../engine/recovered-money.ts'
import { type Attempt, type Baseline, isUnsigned } from './attempt.ts'
import type { Limiter } from './plan-limiter.ts'
import type { Executor, Slot } from './ports.ts'
import type { Cause } from './retry-policy.ts'

/** The executor of an account's orders, and the limiter of its requests. */
export interface Route {
  readonly kind: ExecutorKind
  readonly executor: Executor
  readonly limiter: Limiter
  /** Returns the last finalized reading of the wallet, from memory and without an RPC call. */
  readonly baseline?: () => Baseline | null
}

/** An attempt in progress: from the commit that makes it durable until its last outcome. */
export interface OpenAttempt {
  readonly attempt: Attempt
  /** Index into the order's slippages. */
  readonly slippageStep: number
  /** Whether a provisional fill was seen, and no fork has reversed it since. */
  hasFilled: boolean
  /** Request slot of the attempt; undefined once the request is over. */
  slot: Slot | undefined
  /** Time at which the request was sent, on the monotonic clock. */
  sentMs: number
}

/** An order in progress: it is queued for a request slot, waits for its next attempt, or has an open attempt. */
export interface WorkingOrder {
  readonly order: Order
  readonly route: Route
  /** End of the order's time to live, on the monotonic clock; Infinity for exits. */
  readonly deadlineMs: number
  state: OrderState
  /** Code of the order's last report. */
  code: ErrorCode | ''
  /** Number of attempts so far. */
  attempts: number
  /** Index into the order's slippages, for the next attempt. */
  slippageStep: number
  /** Number of priority fees that were refused. */
  refusedFees: number
  /** Number of repeats at the present slippage. */
  waits: number
  /** Number of attempts that were refused or reverted while other attempts of the order were open. */
  failures: number
  /** Cause of the last failure if it was a refusal; undefined after another failure, and while a newer attempt is
   *  open. */
  refusedFor: Cause | undefined
  /** The open attempts: at most one; for a full exit, at most MOST_OPEN_EXITS. */
  readonly openAttempts: OpenAttempt[]
  /** Whether an attempt has ended in the state `filled`, on time or late. The order then cannot end in another
   *  state. */
  executed: boolean
  /** Whether this is a buy after which a full exit of its mint was accepted. Such a buy is not signed, sent or retried,
   *  even if that exit fails. */
  overtaken: boolean
  /** Whether the order is queued for a request slot, or has a timer for its next attempt. */
  isScheduled: boolean
}

export function workingOrder(order: Order, route: Route, state: OrderState, deadlineMs: number): WorkingOrder {
  return {
    order,
    route,
    deadlineMs,
    state,
    code: '',
    attempts: 0,
    slippageStep: 0,
    refusedFees: 0,
    waits: 0,
    failures: 0,
    refusedFor: undefined,
    openAttempts: [],
    executed: false,
    overtaken: false,
    isScheduled: false,
  }
}

/** Orders and attempts that an earlier process did not finish. */
export interface Unfinished {
  /** Open orders, and ended orders with an attempt that may still execute. */
  readonly orders: readonly OpenOrder[]
  /** All attempts of these orders, including ended ones. */
  readonly attempts: readonly Attempt[]
  /** The reports that the engine has not processed yet. */
  readonly untaken: readonly Extract<Input, { kind: 'report' }>[]
  /** The last fills, including those of the unprocessed reports. */
  readonly fills: readonly Fill[]
}

/** Adds an attempt that is about to be sent, or that was sent. */
export function openAttempt(working: WorkingOrder, attempt: Attempt, slot: Slot | undefined): OpenAttempt {
  const hasFilled = attempt.state === 'landed' && attempt.code === ''
  const open: OpenAttempt = { attempt, slippageStep: working.slippageStep, hasFilled, slot, sentMs: 0 }
  working.openAttempts.push(open)
  working.refusedFor = undefined
  return open
}

/** Whether this is the latest attempt of its order, so that its outcome decides on the next one. */
export function isLatest({ attempts }: WorkingOrder, { attempt }: OpenAttempt): boolean {
  return numberOf(attempt) === attempts
}

/** Returns the number of an attempt within its order, from 1. */
export function numberOf({ id }: Attempt): number {
  return Number(id.slice(id.lastIndexOf('.') + 1))
}

/** Returns the time in ms until the order may no longer be sent; Infinity for exits. The wall clock and the monotonic
 *  clock may give different times; the shorter time applies. */
export function timeLeftMs({ order, deadlineMs }: WorkingOrder, now: Millis, monotonicMs: number): number {
  if (order.notAfter === null) return Number.POSITIVE_INFINITY
  return Math.min(order.notAfter - now, deadlineMs - monotonicMs)
}

/** Whether the order is open without an open attempt, so that it can still be cancelled. */
export function isWaiting(working: WorkingOrder): boolean {
  return working.openAttempts.length === 0 && isOpen(working.state)
}

/** Marks a buy as overtaken: a full exit of its mint was accepted after it. Returns its unsigned attempts with the code
 *  EXIT_UNPROVED, which the journal records. After a crash, these attempts count as ended, and the code prevents a
 *  retry of the order. */
export function overtake(working: WorkingOrder): readonly Attempt[] {
  working.overtaken = true
  const unsigned = working.openAttempts.map(({ attempt }) => attempt).filter(({ state }) => isUnsigned(state))
  for (const attempt of unsigned) attempt.code = 'EXIT_UNPROVED'
  return unsigned
}

/** Whether an attempt of the order has executed, even if the execution is not final yet. */
export function isExecuted({ executed, openAttempts }: WorkingOrder): boolean {
  return executed || openAttempts.some(({ hasFilled }) => hasFilled)
}

/** Whether this is a full exit with an open attempt and without evidence of an execution, so that it may be sent
 *  again. */
export function mayRepeat(working: WorkingOrder): boolean {
  const { order, state, openAttempts } = working
  if (order.repeatMs === null || !isFullExit(order) || state !== 'working' || isExecuted(working)) return false
  return openAttempts.length > 0 && openAttempts.length < MOST_OPEN_EXITS
}

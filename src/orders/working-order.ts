import type { ErrorCode } from '../base/errors.ts'
import type { Cancel } from '../base/machine.ts'
import type { Lamports } from '../base/units.ts'
import { LEAST_PRIORITY_FEE } from '../engine/limits/order-bounds.ts'
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
import { type Attempt, type Baseline, isUndecided, isUnsigned } from './attempt.ts'
import type { Limiter } from './limiter.ts'
import type { Executor, Slot } from './ports.ts'
import { type Cause, causeOf, type Failure, type Tries } from './retry.ts'

/** How an account's orders go out: who carries them out, and the budget that their requests draw on. */
export interface Route {
  readonly kind: ExecutorKind
  readonly executor: Executor
  readonly limiter: Limiter
  /** The last finalized reading of the wallet, from memory: nothing is asked for it. */
  readonly baseline?: () => Baseline | null
}

/** An attempt that is out: from the commit that arms it until its last outcome. */
export interface Flight {
  readonly attempt: Attempt
  /** Which of the order's slippages it has. */
  readonly step: number
  /** Its fill was seen, and no fork has taken it back up to now. */
  hasFilled: boolean
  /** Slot of its request, while that is not known to be over. */
  slot: Slot | undefined
  /** When that request was sent, on the monotonic clock. */
  sentMs: number
}

/** An order on its way: in the line for a slot, waiting for its next try, or out. */
export interface WorkingOrder {
  readonly order: Order
  readonly route: Route
  /** End of its time to live on the monotonic clock; Infinity for exits. */
  readonly deadlineMs: number
  state: OrderState
  /** Why it is in that state; what was said last. */
  code: ErrorCode | ''
  /** Attempts so far. */
  attempts: number
  /** Index into the order's slippages: of the next attempt. */
  step: number
  /** How many priority fees were refused: of the next attempt's. */
  feeTries: number
  /** Repeats since the last climb. */
  waits: number
  /** Attempts that were refused or reverted while others were out. */
  failures: number
  /** Why its last attempt was refused, where it goes again after that. */
  refusedFor: Cause | undefined
  /** What is out: one attempt, and of a full exit up to MOST_OPEN_EXITS. */
  readonly flights: Flight[]
  /** An attempt has ended as filled, in its time or late: the order will not end as anything else. */
  executed: boolean
  /** A buy, and a full exit of its mint was accepted after it: it is not signed, sent or tried again, whatever becomes
   *  of that exit. */
  overtaken: boolean
  /** Leaves the line, or calls off the next try. */
  stopWaiting: Cancel | undefined
}

export function workingOrder(order: Order, route: Route, state: OrderState, deadlineMs: number): WorkingOrder {
  return {
    order,
    route,
    deadlineMs,
    state,
    code: '',
    attempts: 0,
    step: 0,
    feeTries: 0,
    waits: 0,
    failures: 0,
    refusedFor: undefined,
    flights: [],
    executed: false,
    overtaken: false,
    stopWaiting: undefined,
  }
}

/** What an earlier process left. */
export interface Unfinished {
  /** Open, or with an attempt that may still execute. */
  readonly orders: readonly OpenOrder[]
  /** All of theirs. */
  readonly attempts: readonly Attempt[]
  /** Reports that the engine never took. */
  readonly untold: readonly Extract<Input, { kind: 'report' }>[]
  /** The last ones, those that the engine has yet to hear of among them. */
  readonly fills: readonly Fill[]
}

/** Puts an order of an earlier process where its attempts, in the order in which they were made, show it to be: some
 *  may still be out. `fills`: those that are told already, among them what executed once too often. */
export function takeUp(working: WorkingOrder, attempts: readonly Attempt[], fills: readonly Fill[]): void {
  working.executed = fills.some(({ orderId, final }) => final && orderId === working.order.id)
  for (const attempt of attempts) {
    working.attempts = numberOf(attempt)
    working.step = Math.max(0, working.order.slippagePercents.indexOf(attempt.slippagePercent))
    if (isUndecided(attempt.state)) takeOff(working, { ...attempt }, undefined)
    else if (attempt.code === 'SLIPPAGE_EXCEEDED') climb(working, working.step)
    if (attempt.state === 'refused' && attempt.code === 'PRIORITY_FEE') leaveFee(working, attempt)
    if (attempt.state === 'filled') working.executed = true
    if (attempt.code === 'EXIT_UNPROVED') working.overtaken = true
    working.refusedFor = causeOfRefused(attempt)
    if (working.refusedFor !== undefined) working.code = attempt.code
  }
}

/** An attempt goes out. */
export function takeOff(working: WorkingOrder, attempt: Attempt, slot: Slot | undefined): Flight {
  const hasFilled = attempt.state === 'landed' && attempt.code === ''
  const flight: Flight = { attempt, step: working.step, hasFilled, slot, sentMs: 0 }
  working.flights.push(flight)
  working.refusedFor = undefined
  return flight
}

function causeOfRefused({ state, code }: Attempt): Cause | undefined {
  if (state !== 'refused' || code === '') return undefined
  return causeOf({ kind: 'refused', code, reason: '', retry: code === 'RATE_LIMIT' ? 'wait' : 'never' })
}

/** It has ended. */
export function land({ flights }: WorkingOrder, flight: Flight): void {
  flights.splice(flights.indexOf(flight), 1)
}

/** What comes after an attempt at `step` asks for more than that one. */
export function climb(working: WorkingOrder, step: number): void {
  working.step = Math.min(Math.max(working.step, step + 1), working.order.slippagePercents.length - 1)
}

/** The priority fees that an attempt may ask for, one after the other as they are refused: the order's own, the
 *  service's, and the least, for a service that charges more than the policy allows where it chooses. */
export function feesOf({ order: { priorityFeeLamports, priorityFeeLadder }, step }: WorkingOrder): (Lamports | null)[] {
  const own = priorityFeeLadder[Math.min(step, priorityFeeLadder.length - 1)] ?? priorityFeeLamports
  return [...new Set([own, null, LEAST_PRIORITY_FEE])]
}

/** The fee of this attempt was refused: what comes after it asks for the next. */
export function leaveFee(working: WorkingOrder, { priorityFeeLamports }: Attempt): void {
  working.feeTries = Math.max(working.feeTries, feesOf(working).indexOf(priorityFeeLamports) + 1)
}

/** Nothing was sent after it: what becomes of it decides on the next try. */
export function isLast({ attempts }: WorkingOrder, { attempt }: Flight): boolean {
  return numberOf(attempt) === attempts
}

function numberOf({ id }: Attempt): number {
  return Number(id.slice(id.lastIndexOf('.') + 1))
}

/** What the retry table asks of an order whose attempt, at `step`, has just failed. */
export function triesOf(
  working: WorkingOrder,
  step: number,
  failure: Failure,
  times: Pick<Tries, 'sinceDecisionMs' | 'leftMs'>,
): Tries {
  const { order, waits, feeTries } = working
  const { class: orderClass, slippagePercents } = order
  const hasOtherFee = feeTries + 1 < feesOf(working).length
  const retryAfterMs = failure.kind === 'refused' ? failure.retryAfterMs : undefined
  return { class: orderClass, waits, step, steps: slippagePercents.length, hasOtherFee, retryAfterMs, ...times }
}

/** Not out yet, so that it may still be called off. */
export function isWaiting(working: WorkingOrder): boolean {
  return working.flights.length === 0 && isOpen(working.state)
}

/** A full exit of what it buys was accepted after it. On record with what is not signed: that is over after a crash,
 *  and its order goes again. */
export function overtake(working: WorkingOrder): readonly Attempt[] {
  working.overtaken = true
  const unsigned = working.flights.map(({ attempt }) => attempt).filter(({ state }) => isUnsigned(state))
  for (const attempt of unsigned) attempt.code = 'EXIT_UNPROVED'
  return unsigned
}

/** One of its attempts has executed, as far as is known now. */
export function isExecuted({ executed, flights }: WorkingOrder): boolean {
  return executed || flights.some(({ hasFilled }) => hasFilled)
}

/** A full exit that is out and of which nothing proves that it sells: it may go again. */
export function mayRepeat(working: WorkingOrder): boolean {
  const { order, state, flights } = working
  if (order.repeatMs === null || !isFullExit(order) || state !== 'working' || isExecuted(working)) return false
  return flights.length > 0 && flights.length < MOST_OPEN_EXITS
}

import type { ErrorCode } from '../base/errors.ts'
import type { Lamports, Millis } from '../base/units.ts'
import type { ExecutorKind, OrderClass, Size } from '../engine/order.ts'
import type { TradeSide } from '../market/block.ts'

/** One possible execution of an order; durable before it can execute. */
export interface Attempt {
  /** `o1.1`, `o1.2`, ... */
  readonly id: string
  readonly orderId: string
  readonly account: string
  readonly bot: string
  readonly executor: ExecutorKind
  readonly mint: string
  readonly side: TradeSide
  readonly class: OrderClass
  readonly size: Size
  readonly slippagePercent: number
  readonly priorityFeeLamports: Lamports | null
  /** The order's price, for executors that simulate; null where there was none. */
  readonly price: number | null
  readonly armedAt: Millis
  /** Where the chain's evidence about it begins; null where the chain was not read before, and for what is
   *  simulated. */
  readonly baseline: Baseline | null
  state: AttemptState
  /** Once it is known; '' before. */
  signature: string
  /** Why it is where it is; '' while there is nothing to say. */
  code: ErrorCode | ''
  /** How long its order had stood in the line for a request of the plan, ms. Absent where an older Sluice made it, as
   *  the next one is. */
  readonly waitedMs?: number
  /** What was heard of it since it was armed, the first steps. */
  trail?: readonly AttemptStep[]
}

/** A move of an attempt, for people: when, whereto, and what was said. */
export interface AttemptStep {
  readonly at: Millis
  readonly state: AttemptState
  readonly code: ErrorCode | ''
  /** In the words of whoever told; '' where the state says it all. */
  readonly reason: string
}

/** A finalized reading of a wallet from before an attempt: nothing of it can have landed up to there. */
export interface Baseline {
  readonly slot: number
  /** Blocks up to that slot. */
  readonly height: number
}

export type AttemptState =
  | 'armed'
  | 'unsent'
  | 'acked'
  | 'refused'
  | 'unknown'
  | 'landed'
  | 'filled'
  | 'reverted'
  | 'absent'
  | 'undecided'
  | 'built'
  | 'verified'
  | 'signed'
  | 'sent'
  | 'expired'

/** The moves an attempt may make: cloud and paper start at `armed`, local at `built`. Any end may turn out to have
 *  executed. */
export const ATTEMPT_MOVES: Readonly<Record<AttemptState, readonly AttemptState[]>> = {
  armed: ['unsent', 'acked', 'refused', 'unknown', 'landed', 'filled', 'reverted', 'absent'],
  acked: ['landed', 'filled', 'reverted', 'absent', 'unknown', 'undecided'],
  unknown: ['acked', 'landed', 'filled', 'reverted', 'absent', 'undecided', 'refused', 'unknown', 'expired'],
  landed: ['filled', 'reverted', 'unknown', 'landed'],
  undecided: ['landed', 'filled', 'reverted', 'absent', 'expired'],
  built: ['verified', 'refused', 'unsent'],
  verified: ['signed', 'refused', 'unsent'],
  signed: ['sent', 'landed', 'filled', 'reverted', 'expired', 'unknown', 'undecided'],
  sent: ['landed', 'filled', 'reverted', 'expired', 'unknown', 'undecided'],
  unsent: [],
  refused: ['landed', 'filled'],
  filled: ['unknown'],
  reverted: ['landed', 'filled', 'unknown'],
  absent: ['landed', 'filled'],
  expired: ['landed', 'filled'],
}

/** Where an attempt ends that is proved not to execute any more: what we signed ourselves expires. */
export function deadState(executor: ExecutorKind): 'absent' | 'expired' {
  return executor === 'local' ? 'expired' : 'absent'
}

/** Attempts that may still execute: their lane stays closed and they are resumed after a restart. */
export function isUndecided(state: AttemptState): boolean {
  return (
    state === 'armed' ||
    state === 'acked' ||
    state === 'unknown' ||
    state === 'landed' ||
    state === 'signed' ||
    state === 'sent' ||
    state === 'undecided'
  )
}

/** Built for us, and not signed: it cannot execute. */
export function isUnsigned(state: AttemptState): boolean {
  return state === 'built' || state === 'verified'
}

/** Sent, and not only about to be; where the service sends it, with its answer. Or over before that. */
export function isAnswered(state: AttemptState): boolean {
  return state !== 'armed' && state !== 'signed' && !isUnsigned(state)
}

/** Why a buy is not signed, sent, or sent again: a full exit of its mint went past it, an operator has stopped entries,
 *  or the disk that holds the journal is nearly full. */
export type CalledOff = 'EXIT_UNPROVED' | 'HALTED' | 'DISK_LOW'

import type { ErrorCode } from '../base/errors.ts'
import type { Lamports, Millis } from '../base/units.ts'
import type { ExecutorKind, OrderClass, Size } from '../engine/order.ts'
import type { TradeSide } from '../market/block.ts'

/** One possible execution of an order. The journal records it durably before it can execute. */
export interface Attempt {
  /** `o1.1`, `o1.2`, ...: the id of the order and the number of the attempt. */
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
  /** Price at the decision on the order, which simulated executors use; null if the token had none. */
  readonly price: number | null
  readonly armedAt: Millis
  /** The last finalized reading of the wallet before the attempt. The attempt's transaction can only land after the
   *  Solana slot of this reading. null if the wallet had not been read yet, and for simulated attempts. */
  readonly baseline: Baseline | null
  state: AttemptState
  /** Signature of the attempt's transaction; '' until it is known. */
  signature: string
  /** Code of the reason for the state; '' if the state needs no reason. */
  code: ErrorCode | ''
  /** Time for which the order waited for a request slot, ms. Like `trail`, it is absent in records of older
   *  versions. */
  readonly waitedMs?: number
  /** Tag of the order, which the fill inherits; absent if there is none. */
  readonly tag?: string
  /** The first changes of the attempt's state, oldest first. */
  trail?: readonly AttemptStep[]
}

/** A change of an attempt's state, for display. */
export interface AttemptStep {
  readonly at: Millis
  readonly state: AttemptState
  readonly code: ErrorCode | ''
  /** Reason as the executor reported it; '' if it reported none. */
  readonly reason: string
}

/** A finalized reading of a wallet before an attempt. The attempt's transaction can only land after the Solana slot of
 *  this reading. */
export interface Baseline {
  readonly slot: number
  /** Block height at the slot of the reading. */
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

/** Allowed changes of an attempt's state. Cloud and paper attempts start as `armed`, local ones as `built`. An attempt
 *  that was sent and has ended may still turn out to have executed. */
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

/** Returns the end state of an attempt that is proved unable to execute: `expired` if it was signed locally, otherwise
 *  `absent`. */
export function deadState(executor: ExecutorKind): 'absent' | 'expired' {
  return executor === 'local' ? 'expired' : 'absent'
}

/** Whether an attempt in this state may still execute. Its order then blocks other orders of its lane (account, mint
 *  and side), and a restart looks up the outcome. */
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

/** Whether an attempt in this state is built but not signed, and therefore cannot execute. */
export function isUnsigned(state: AttemptState): boolean {
  return state === 'built' || state === 'verified'
}

/** Whether an attempt in this state was sent or has ended. An attempt of the service's executor counts as sent once the
 *  service has answered. */
export function isAnswered(state: AttemptState): boolean {
  return state !== 'armed' && state !== 'signed' && !isUnsigned(state)
}

/** Code of the reason why a buy is not signed, sent or retried: a full exit of its mint was accepted after the buy, an
 *  operator halted entries, or the disk that holds the journal is nearly full. */
export type CalledOff = 'EXIT_UNPROVED' | 'HALTED' | 'DISK_LOW'

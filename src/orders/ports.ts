import type { ErrorCode } from '../base/errors.ts'
import type { Lamports, Millis, Seq } from '../base/units.ts'
import type { Input, Output } from '../engine/messages.ts'
import type { ExecutionReport, Fill, Order } from '../engine/order.ts'
import type { Block } from '../market/block.ts'
import type { Attempt } from './attempt.ts'
import type { Learned } from './learned.ts'
import type { WalletCursor, WalletTransaction, Watch } from './wallet-audit.ts'

/** Carries one attempt out once. `done`: any number of what is no end (`acked`, `unknown`, `undecided`, a provisional
 *  `filled` or `reverted`), then one end; never from inside the call itself. An `unknown` after a provisional fill is
 *  its reversal. What the chain shows after that end, or of no one attempt, does not come through here: the audit tells
 *  it to the gateway's findings. No promise crosses this seam, so a simulated executor is a timer and a backtest is one
 *  synchronous loop. */
export interface Executor {
  execute(attempt: Attempt, done: (outcome: Outcome) => void): void
  /** Goes on with an attempt that an earlier process armed: never sends it again, only finds out. */
  resume(attempt: Attempt, done: (outcome: Outcome) => void): void
}

export type Outcome =
  | { kind: 'filled'; fill: Fill; final: boolean }
  | { kind: 'reverted'; signature: string; feeLamports: Lamports; code: ErrorCode; final: boolean }
  | { kind: 'refused'; code: ErrorCode; reason: string; retry: 'wait' | 'slippage' | 'never'; retryAfterMs?: number } // the service said no
  | { kind: 'unsent'; code?: ErrorCode; reason: string } // proved: not a byte was written; UNSENT where no code says why
  | { kind: 'absent'; code?: ErrorCode } // proved: it cannot execute any more; ABSENT where no other code says why
  | { kind: 'acked'; signature: string } // not an end: it may land
  | { kind: 'verified' } // not an end: what was built is what was ordered
  | { kind: 'signed' | 'sent'; signature: string } // not an end: it may land; before `sent` not a byte of it has left
  | { kind: 'unknown'; reason: string; signature?: string } // not an end: lane and reservation stay held
  | { kind: 'undecided'; reason: string } // not an end: the chain contradicts itself; a person may decide, and so may later evidence

/** Lane and slot are taken in `submit`, synchronously; then one commit (tape, order, attempt, slot); then `execute`. */
export interface GatewayPort {
  submit(order: Order): void
  cancel(orderId: string, code: ErrorCode): void
  /** Whether what is refused in this account may be tried again at once; false once something executed that was
   *  refused. */
  trust(account: string, isTrusted: boolean): void
  /** Whether entries of this account have stopped: what is not out yet does not go either. */
  halt(account: string, isHalted: boolean): void
}

/** The record. Rows, inputs and outputs come in the order of their seq; `commit` makes everything before it durable
 *  (FULL), in order. What is written between two commits within one turn becomes durable together, or not at all. */
export interface Journal {
  rows(block: Block, from: number, to: number, firstSeq: Seq): void
  input(seq: Seq, time: Millis, input: Input): void
  output(seq: Seq, time: Millis, index: number, output: Output): void
  write(record: JournalRecord): void
  commit(then: () => void): void
}

export type JournalRecord =
  | { kind: 'attempt'; attempt: Attempt }
  | { kind: 'fill'; fill: Fill }
  /** A report that the engine has not taken yet: the input with its id takes it; on start those that no input took are
   *  delivered again. */
  | { kind: 'report'; id: number; report: ExecutionReport }
  | { kind: 'slot'; slot: Slot }
  | { kind: 'watch'; watch: Watch }
  | { kind: 'watchOver'; attemptId: string }
  /** What the audit of a wallet found, and how far it came with that: durable together. */
  | { kind: 'wallet'; cursor: WalletCursor; transactions: readonly WalletTransaction[] }
  | { kind: 'learned'; learned: Learned }
  | { kind: 'mark'; account: string; mint: string; highPrice: number }
  | { kind: 'frame'; time: Millis; why: string; text: string } // a frame that did not fit, kept for inspection, bounded

/** A request of the plan's budget, held until 60 s after it completed. Times are hrtime nanoseconds of the boot
 *  `boot`. */
export interface Slot {
  readonly key: string
  readonly id: number
  readonly boot: string
  readonly takenAt: bigint
  readonly doneAt: bigint | null
}

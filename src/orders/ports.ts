import type { ErrorCode } from '../base/errors.ts'
import type { Lamports, Millis, Seq } from '../base/units.ts'
import type { Mark } from '../engine/accounting/position.ts'
import type { Input, Output } from '../engine/messages.ts'
import type { ExecutionReport, Fill, Order } from '../engine/order.ts'
import type { Block } from '../market/block.ts'
import type { Attempt } from './attempt.ts'
import type { WalletCursor, WalletTransaction, Watch } from './audit-records.ts'
import type { Learned } from './service-facts.ts'

/** Executes attempts, each at most once. For each attempt, it calls `done` with any number of intermediate outcomes
 *  (`acked`, `unknown`, `undecided`, a provisional `filled` or `reverted`), and then with one final outcome, but never
 *  before `execute` returns. An `unknown` after a provisional fill reverses the fill. If evidence comes after the final
 *  outcome, or may belong to several attempts, the audit passes the evidence to the gateway (`lateFill`, `feePaid`,
 *  `standIn`). This port has no promises, so a simulated executor is only a timer, and a backtest is one synchronous
 *  loop. */
export interface Executor {
  execute(attempt: Attempt, done: (outcome: Outcome) => void): void
  /** Looks up the outcome of an attempt that an earlier process may have sent. Never sends the attempt again. */
  resume(attempt: Attempt, done: (outcome: Outcome) => void): void
}

export type Outcome =
  | { kind: 'filled'; fill: Fill; final: boolean }
  | { kind: 'reverted'; signature: string; feeLamports: Lamports; code: ErrorCode; final: boolean }
  | { kind: 'refused'; code: ErrorCode; reason: string; retry: 'wait' | 'slippage' | 'never'; retryAfterMs?: number } // the service refused the attempt
  | { kind: 'unsent'; code?: ErrorCode; reason: string } // proved: no byte was written; the default code is UNSENT
  | { kind: 'absent'; code?: ErrorCode } // proved: the attempt cannot execute any more; the default code is ABSENT
  | { kind: 'acked'; signature: string } // intermediate: the transaction may land
  | { kind: 'verified' } // intermediate: the built transaction matches the order
  | { kind: 'signed' | 'sent'; signature: string } // intermediate: the transaction may land; before `sent` no byte has left
  | { kind: 'unknown'; reason: string; signature?: string } // intermediate: lane and reservation stay occupied
  | { kind: 'undecided'; reason: string } // intermediate: the evidence contradicts itself; a person or later evidence decides

/** Sends orders. `submit` synchronously reserves the order's lane (account, mint and side) and a request slot. One
 *  commit makes the market rows that were recorded so far, the order, the attempt and the request slot durable. After
 *  this commit, the gateway calls `execute` of the executor. */
export interface GatewayPort {
  submit(order: Order): void
  cancel(orderId: string, code: ErrorCode): void
  /** Sets whether an order of this account may be retried immediately after a refusal. The retries stop once a refused
   *  attempt has executed. */
  trust(account: string, isTrusted: boolean): void
  /** Stops the entries of an account, or allows them again. A stop ends entries that were not sent yet. */
  halt(account: string, isHalted: boolean): void
}

/** The journal of a run. Market rows, inputs and outputs are written in the order of their seq. `commit` makes
 *  everything that was written before it durable (synchronous=FULL). Everything that is written between two commits,
 *  within one turn of the event loop, becomes durable together or not at all. */
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
  /** A report to the engine. An input with the same id shows that the engine has processed the report. A start delivers
   *  the unprocessed reports again. */
  | { kind: 'report'; id: number; report: ExecutionReport }
  | { kind: 'slot'; slot: Slot }
  | { kind: 'watch'; watch: Watch }
  | { kind: 'watchOver'; attemptId: string }
  /** Transactions that the audit of a wallet classified, and the progress of the audit. Both become durable
   *  together. */
  | { kind: 'wallet'; cursor: WalletCursor; transactions: readonly WalletTransaction[] }
  | { kind: 'learned'; learned: Learned }
  | { kind: 'mark'; mark: Mark }
  | { kind: 'netResult'; result: NetResult }
  | { kind: 'frame'; time: Millis; why: string; text: string } // a frame that could not be decoded, kept for inspection; only a limited number is kept

/** Result of a bot in an account at a time. */
export interface NetResult {
  readonly time: Millis
  readonly account: string
  readonly bot: string
  /** Net result since the first start of the journal, as if the open positions were sold at `time`, lamports. */
  readonly netLamports: number
}

/** A request slot: one request of the plan's request limit. It is in use until 60 s after the request completed.
 *  `takenAt` and `doneAt` are hrtime nanoseconds since the boot `boot`. */
export interface Slot {
  readonly key: string
  readonly id: number
  readonly boot: string
  readonly takenAt: bigint
  readonly doneAt: bigint | null
}

import type { Block } from './block.ts'
import type { ErrorCode, Refusal } from './errors.ts'
import type { Learned } from './learned.ts'
import type { Input, Output } from './messages.ts'
import type { Attempt, ExecutionReport, Fill, Order } from './order.ts'
import type { Lamports, Millis, Seq } from './units.ts'
import type { WalletCursor, WalletTransaction, Watch } from './wallet.ts'

/** All bots and accounts of one process under one seq. Pure: no clock, no I/O, nothing shared with the gateway but messages, so it may
 *  sit on the main thread or in one worker. `outputs` is drained and reused by the runner: empty for nearly every row. */
export interface EnginePort {
  readonly outputs: Output[]
  /** Returns the next row not taken: it stops after a row with outputs. A row's time is the block's, and never falls. */
  rows(firstSeq: Seq, block: Block, from: number, to: number): number
  input(seq: Seq, time: Millis, input: Input): void
  /** Strategies see it, their requests are discarded, money is untouched. */
  warm(block: Block, row: number): void
}

/** System or simulated. Delays are monotonic and never end early. Timers fire in the order of their due times, ties in the order in which
 *  they were set, however late the event loop is. */
export interface Clock {
  now(): Millis
  after(ms: number, run: () => void): Cancel
}

/** What a process stands on. */
export interface Machine {
  readonly clock: Clock
  /** Milliseconds since its boot; never steps. */
  readonly monotonicMs: () => number
  /** Which boot those count from. */
  readonly boot: string
}

/** The runner's one door. */
export interface Sink {
  /** Returns the next row not taken: it stops after a row with outputs, so that the driver can look at the clock. */
  rows(block: Block, from: number, to: number): number
  post(input: Input): void
}

/** Where market rows come from: service/feed, or simulation/tape which drives the simulated clock between rows. */
export interface Source {
  start(sink: Sink): Stop
  /** The subscription keys wanted from now on; the whole set. */
  want(keys: readonly string[]): void
}

/** Carries one attempt out once. `done`: any number of what is no end (`acked`, `unknown`, `undecided`, a provisional `filled` or `reverted`),
 *  then one end; never from inside the call itself. An `unknown` after a provisional fill is its reversal. What the chain shows after that
 *  end, or of no one attempt, does not come through here: the audit tells it to the gateway's findings. No promise crosses this
 *  seam, so a simulated executor is a timer and a backtest is one synchronous loop. */
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
  /** Whether what is refused in this account may be tried again at once; false once something executed that was refused. */
  trust(account: string, isTrusted: boolean): void
  /** Whether entries of this account have stopped: what is not out yet does not go either. */
  halt(account: string, isHalted: boolean): void
}

/** The record. Rows, inputs and outputs come in the order of their seq; `commit` makes everything before it durable (FULL), in order. What
 *  is written between two commits within one turn becomes durable together, or not at all. */
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
  /** A report that the engine has not taken yet: the input with its id takes it; on start those that no input took are delivered again. */
  | { kind: 'report'; id: number; report: ExecutionReport }
  | { kind: 'slot'; slot: Slot }
  | { kind: 'watch'; watch: Watch }
  | { kind: 'watchOver'; attemptId: string }
  /** What the audit of a wallet found, and how far it came with that: durable together. */
  | { kind: 'wallet'; cursor: WalletCursor; transactions: readonly WalletTransaction[] }
  | { kind: 'learned'; learned: Learned }
  | { kind: 'mark'; account: string; mint: string; highPrice: number }
  | { kind: 'frame'; time: Millis; why: string; text: string } // a frame that did not fit, kept for inspection, bounded

/** A request of the plan's budget, held until 60 s after it completed. Times are hrtime nanoseconds of the boot `boot`. */
export interface Slot {
  readonly key: string
  readonly id: number
  readonly boot: string
  readonly takenAt: bigint
  readonly doneAt: bigint | null
}

// What a simulation replaces under the live adapters: service/ and chain/ take these, never undici, ws or web3.js themselves.

/** One HTTPS exchange; never throws. The promise ends when the answer is whole or can not come any more (hard limit 60 s). */
export type Http = (request: HttpRequest) => Promise<HttpResult>
export interface HttpRequest {
  method: 'GET' | 'POST'
  url: string
  headers: Readonly<Record<string, string>>
  body?: string
}
export type HttpResult =
  | { kind: 'unsent'; reason: string } // proved by the client's diagnostics: no byte of the request was written
  | {
      kind: 'answered'
      status: number
      headers: Readonly<Record<string, string>>
      body: string
      /** The body as it came, where it is no text. */
      bytes?: Uint8Array
    }
  | { kind: 'lost'; reason: string }

export type Dial = (url: string, on: SocketEvents) => Socket
export interface SocketEvents {
  open(): void
  /** Bytes `start..end` of `data`, all of them where left out: many messages lie in one chunk, and a view of each would cost more than reading it. */
  message(data: Uint8Array, binary: boolean, start?: number, end?: number): void
  /** Every message of what was read at once has been told. */
  settled(): void
  closed(reason: string): void // once, whatever happened
}
export interface Socket {
  send(text: string): void
  terminate(): void
}

/** One JSON-RPC call to the chain; never throws. */
export type Rpc = (method: string, params: readonly unknown[]) => Promise<RpcResult>
export type RpcResult = { ok: true; value: unknown } | { ok: false; code: number; message: string }

/** What holds the wallet's key. It reads the message itself and signs only what keeps to its rules and to the declared bound. Below the
 *  executor, so it answers by a promise, which never rejects. */
export interface Signer {
  /** SIGNER_DOWN: nobody has a signature of it, and nobody gets one any more. */
  sign(request: SignRequest): Promise<SignResult>
}
export interface SignRequest {
  orderId: string
  attemptId: string
  /** The exact bytes to sign, prefix of the version included. */
  message: Uint8Array
  /** What may leave the wallet at most if it lands, as the verifier found; counts against the caps. */
  boundLamports: bigint
  /** Which policy of the builder it was held against. */
  policyHash: string
  /** The guards stand at its end, so the bound holds whatever the programs in it do. */
  guarded: boolean
}
/** `signature`: 64 bytes, checked against the wallet's public key. */
export type SignResult = { ok: true; signature: Uint8Array } | ({ ok: false } & Refusal)

export type Cancel = () => void
export type Stop = () => Promise<void>

import type { ErrorCode } from '../core/errors.ts'
import type { Input, Output } from '../core/messages.ts'
import type { ExecutionReport, Fill, Order, TradeSide } from '../core/order.ts'
import type { Lamports, Millis, Seq } from '../core/units.ts'
import { Results } from './results.ts'

/** What a run's journal tells of one attempt. */
export interface RecordedAttempt {
  readonly bot: string
  readonly mint: string
  readonly side: TradeSide
  /** When the engine was told that it is under way, ... */
  readonly sentAt: Millis
  /** ... and first what became of it; null where it was not told. */
  toldAt: Millis | null
  landing: 'filled' | 'reverted' | 'absent' | 'refused' | 'unsent' | null
  /** Why it was refused; '' where it was not. */
  code: ErrorCode | ''
  fill: Fill | null
  /** Of one that failed. */
  feeLamports: number | null
}

/** A run that was really made, from what its journal holds: what it made of its money, and what became of each attempt. */
export class RunRecord {
  readonly results: Results
  /** Of the last thing that happened in it. */
  endedAt: Millis = 0
  readonly attempts: RecordedAttempt[] = []
  /** What the wallet of live bots had when it was first read; null where it never was. */
  walletLamports: Lamports | null = null
  readonly #orders = new Map<string, Order>()
  readonly #open = new Map<string, RecordedAttempt>()

  constructor(bots: readonly string[]) {
    this.results = new Results(bots, false)
  }

  input(seq: Seq, time: Millis, input: Input): void {
    this.results.input(seq, time, input)
    this.endedAt = time
    if (input.kind === 'report') this.#report(time, input.report)
    if (input.kind === 'wallet') this.walletLamports ??= input.lamports
  }

  output(seq: Seq, time: Millis, index: number, output: Output): void {
    this.results.output(seq, time, index, output)
    if (output.kind === 'order') this.#orders.set(output.order.id, output.order)
  }

  #report(time: Millis, { orderId, attemptId, state, code, fill, feeLamports }: ExecutionReport): void {
    const order = this.#orders.get(orderId)
    if (order === undefined || attemptId === '') return
    const known = this.#open.get(attemptId)
    if (known === undefined) {
      if (state !== 'working') return
      const { bot, mint, side } = order
      const unknown = { toldAt: null, landing: null, code: '', fill: null, feeLamports: null } as const
      const attempt: RecordedAttempt = { bot, mint, side, sentAt: time, ...unknown }
      this.#open.set(attemptId, attempt)
      this.attempts.push(attempt)
      return
    }
    if (known.toldAt !== null) return
    if (fill !== undefined) Object.assign(known, { toldAt: time, landing: 'filled', fill })
    else if (feeLamports !== undefined) Object.assign(known, { toldAt: time, landing: 'reverted', feeLamports })
    // A sale that another attempt of it has filled: this one is over, and nothing came of it.
    else if (state === 'not_executed' || code === 'ABSENT' || state === 'filled')
      Object.assign(known, { toldAt: time, landing: 'absent' })
    else if (state === 'refused' || state === 'failed') Object.assign(known, { toldAt: time, landing: 'refused', code })
    else if (state === 'accepted' && code !== '') Object.assign(known, { toldAt: time, landing: 'unsent' })
  }
}

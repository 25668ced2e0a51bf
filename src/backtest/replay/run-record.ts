import type { ErrorCode } from '../../base/errors.ts'
import type { Lamports, Millis, Seq } from '../../base/units.ts'
import type { Position } from '../../engine/accounting/position.ts'
import type { Input, Output, StartInput } from '../../engine/messages.ts'
import { type ExecutionReport, type Fill, type Order, orderNumber } from '../../engine/order.ts'
import type { Plan } from '../../engine/settings.ts'
import type { TradeSide } from '../../market/block.ts'
import { BacktestResults } from '../results.ts'

/** Record of one attempt. */
export interface RecordedAttempt {
  readonly bot: string
  readonly mint: string
  readonly side: TradeSide
  /** When the engine took its first report, ... */
  readonly sentAt: Millis
  /** ... and its outcome; null if it took none. */
  toldAt: Millis | null
  landing: 'filled' | 'reverted' | 'absent' | 'refused' | 'unsent' | null
  /** Code of the refusal; '' without one. */
  code: ErrorCode | ''
  fill: Fill | null
  /** Fee of a failed attempt. */
  feeLamports: number | null
}

export interface Told {
  readonly time: Millis
  readonly input: Input
}

/** One start of the run with its end. */
export interface RecordedStart {
  readonly start: StartInput
  /** Last plan received. */
  plan: Plan
  /** Time of its last event, ... */
  endedAt: Millis
  /** ... and positions held then. */
  held: readonly Position[]
  /** Outcomes of orders that an earlier start had decided. */
  readonly carried: Told[]
  /** Operator commands other than the final stop, and changed lists. */
  readonly operated: Told[]
  /** When the audit opened and closed the gate for entries. */
  readonly gated: Told[]
}

/** A real run as recorded by its journal: its results and the outcome of each attempt. */
export class RunRecord {
  readonly starts: RecordedStart[] = []
  /** Attempts of orders decided in this start. Orders of an earlier start that were sent again are in `carried`. */
  readonly attempts: RecordedAttempt[] = []
  /** First reading of the live wallet; null if it was never read. */
  walletLamports: Lamports | null = null
  /** Times that tokens came or went without an order. */
  moved = 0
  readonly #results: BacktestResults
  readonly #orders = new Map<string, Order>()
  readonly #open = new Map<string, RecordedAttempt>()
  /** Fills by order and signature, without reversed ones; ... */
  readonly #fills = new Map<string, Fill>()
  /** ... and fees of failed transactions by bot. */
  readonly #failed = new Map<string, number>()

  constructor(bots: readonly string[]) {
    this.#results = new BacktestResults(bots, false)
  }

  input(seq: Seq, time: Millis, input: Input): void {
    if (input.kind === 'start') this.#began(input, time)
    const current = this.starts.at(-1)
    if (current === undefined) throw new Error('the journal has an event before its first start')
    this.#results.input(seq, time, input)
    current.endedAt = time
    if (input.kind === 'report') this.#report(current, time, input)
    if (input.kind === 'wallet') this.walletLamports ??= input.lamports
    if (input.kind === 'adopt' || input.kind === 'deficit') this.moved++
    if (input.kind === 'plan') current.plan = input.plan
    if (input.kind === 'list' || (input.kind === 'command' && input.command.name !== 'stop'))
      current.operated.push({ time, input })
    if (input.kind === 'gate' || input.kind === 'foreign') current.gated.push({ time, input })
  }

  output(seq: Seq, time: Millis, index: number, output: Output): void {
    this.#results.output(seq, time, index, output)
    if (output.kind === 'order') this.#orders.set(output.order.id, output.order)
  }

  /** Ends the record. */
  end(): void {
    const last = this.starts.at(-1)
    if (last !== undefined) last.held = this.#held()
  }

  /** Change of the wallets by all transactions of a bot. */
  netLamports(bot: string): number {
    let sum = -(this.#failed.get(bot) ?? 0)
    for (const fill of this.#fills.values()) if (fill.bot === bot) sum += fill.walletLamports
    return sum
  }

  #began(start: StartInput, time: Millis): void {
    this.end()
    this.starts.push({
      start,
      plan: start.plan,
      endedAt: time,
      held: [],
      carried: [],
      operated: [],
      gated: closedGates(start, time),
    })
  }

  #held(): Position[] {
    return this.#results.bots.flatMap(({ positions }) => [...positions.values()].map((one) => ({ ...one })))
  }

  #report(current: RecordedStart, time: Millis, input: Extract<Input, { kind: 'report' }>): void {
    const { report } = input
    const { orderId, fill, reversed, feeLamports } = report
    if (fill !== undefined) this.#fills.set(`${orderId} ${fill.signature}`, fill)
    if (reversed !== undefined) this.#fills.delete(`${orderId} ${reversed}`)
    const bot = this.#orders.get(orderId)?.bot
    if (bot !== undefined && feeLamports !== undefined)
      this.#failed.set(bot, (this.#failed.get(bot) ?? 0) + feeLamports)
    const isCarried = orderNumber({ id: orderId }) < current.start.money.nextOrder
    if (isCarried) current.carried.push({ time, input })
    this.#followed(time, report, isCarried)
  }

  #followed(time: Millis, report: ExecutionReport, isCarried: boolean): void {
    const { orderId, attemptId, state, code, fill, feeLamports } = report
    const order = this.#orders.get(orderId)
    if (order === undefined || attemptId === '') return
    const known = this.#open.get(attemptId)
    if (known === undefined) {
      if (state !== 'working' || isCarried) return
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
    // Another attempt filled the sale, so this attempt ended without effect.
    else if (state === 'not_executed' || code === 'ABSENT' || state === 'filled')
      Object.assign(known, { toldAt: time, landing: 'absent' })
    else if (state === 'refused' || state === 'failed') Object.assign(known, { toldAt: time, landing: 'refused', code })
    else if (state === 'accepted' && code !== '') Object.assign(known, { toldAt: time, landing: 'unsent' })
  }
}

/** Live accounts start with the chain unread. */
function closedGates({ bots }: StartInput, time: Millis): Told[] {
  const live = new Set(bots.flatMap(({ account: { mode, id } }) => (mode === 'live' ? [id] : [])))
  return [...live].map((account) => ({ time, input: { kind: 'gate', account, open: false } }))
}

import type { ErrorCode } from '../../base/errors.ts'
import type { Lamports, Millis, Seq } from '../../base/units.ts'
import type { Position } from '../../engine/accounting/position.ts'
import type { Input, Output, StartInput } from '../../engine/messages.ts'
import { type ExecutionReport, type Fill, isOpen, type Order, orderNumber } from '../../engine/order.ts'
import type { Plan } from '../../engine/settings.ts'
import type { TradeSide } from '../../market/block.ts'
import { BacktestResults } from '../results.ts'
import { type Place, TimerPlaces } from './moments.ts'

/** The record of one attempt. */
export interface RecordedAttempt {
  readonly bot: string
  readonly mint: string
  readonly side: TradeSide
  readonly id: string
  readonly orderId: string
  /** Amount of a buy, lamports; null for a sale. */
  readonly orderedLamports: Lamports | null
  /** Time of the decision. If the order was sent again: time of the first report about this attempt. */
  readonly decidedAt: Millis
  /** Time at which the engine received the first report about the attempt. */
  readonly sentAt: Millis
  /** Position among the market rows at which the engine received the first report about the landing; null if it
   *  received no such report. In that case, `told` and `final` are null too. */
  seen: Place | null
  /** Position among the market rows at which the engine received the report of the outcome. */
  told: Place | null
  /** Position among the market rows at which the engine received the report that made the outcome final. */
  final: Place | null
  landing: 'filled' | 'reverted' | 'absent' | 'refused' | 'unsent' | null
  /** Code of the failure; '' if there was none. */
  code: ErrorCode | ''
  fill: Fill | null
  /** Fee of a failed attempt; null if it did not fail. */
  feeLamports: number | null
}

/** An order, with the reports that the engine received before the end of the process that decided the order. */
export interface RecordedOrder {
  readonly order: Order
  readonly reports: { readonly place: Place; readonly report: ExecutionReport }[]
}

/** The record of one process of the run, from its start to its end. */
export interface RecordedStart {
  readonly start: StartInput
  /** Last request plan that the process received. */
  plan: Plan
  /** Time of the last event of the process. */
  endedAt: Millis
  /** Positions held at `endedAt`. */
  held: readonly Position[]
  /** Inputs that every replay receives: events of the feed, the operator's stop at the end of the run, and the outcomes
   *  of orders that an earlier process had decided. */
  readonly carried: Map<Seq, Input>
  /** Operator commands except the stop at the end, and changed filter lists. */
  readonly operated: Map<Seq, Input>
  /** Inputs from the chain and the service that are not reports: whether an account may buy, balances, mints, pools,
   *  and the request plan. */
  readonly gated: Map<Seq, Input>
  readonly timers: TimerPlaces
}

/** The record of a real run in its journal: its results, and the outcome of each attempt. */
export class RunRecord {
  readonly starts: RecordedStart[] = []
  /** Attempts of the orders. What a later process learned about the orders of an earlier one, for example because it
   *  sent an order again, is in `RecordedStart.carried`. */
  readonly attempts: RecordedAttempt[] = []
  readonly orders = new Map<string, RecordedOrder>()
  /** Balance of the live wallet when it was read for the first time; null if it was never read. */
  walletLamports: Lamports | null = null
  readonly #results: BacktestResults
  readonly #open = new Map<string, RecordedAttempt>()
  /** Ids of the orders for which at least one attempt is recorded. */
  readonly #begun = new Set<string>()
  /** Fills by order and signature, without reversed fills. */
  readonly #fills = new Map<string, Fill>()
  /** Fees of failed transactions by bot. */
  readonly #failed = new Map<string, number>()

  constructor(bots: readonly string[]) {
    this.#results = new BacktestResults(bots, { logged: false })
  }

  input(seq: Seq, time: Millis, input: Input): void {
    if (input.kind === 'start') this.#began(input, time)
    const current = this.starts.at(-1)
    if (current === undefined) throw new Error('the journal has an event before its first start')
    this.#results.input(seq, time, input)
    current.endedAt = time
    if (input.kind === 'report') this.#report(current, { seq, time }, input)
    else if (input.kind === 'timer') current.timers.fire(input.id, { seq, time })
    else if (input.kind !== 'start') toldIn(current, input).set(seq, input)
    if (input.kind === 'wallet') this.walletLamports ??= input.lamports
    if (input.kind === 'plan') current.plan = input.plan
  }

  output(seq: Seq, time: Millis, index: number, output: Output): void {
    this.#results.output(seq, time, index, output)
    const { timers } = this.starts.at(-1) as RecordedStart
    if (output.kind === 'order') this.orders.set(output.order.id, { order: output.order, reports: [] })
    else if (output.kind === 'timer') timers.set(output.timer)
    else if (output.kind === 'timerCleared') timers.clear(output.id, { seq, time })
  }

  /** Ends the record. */
  end(): void {
    const last = this.starts.at(-1)
    if (last !== undefined) last.held = this.#held()
  }

  /** Change of the wallets by all transactions of a bot, lamports. */
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
      carried: new Map(),
      operated: new Map(),
      gated: new Map(),
      timers: new TimerPlaces(),
    })
  }

  #held(): Position[] {
    return this.#results.bots.flatMap(({ positions }) => [...positions.values()].map((one) => ({ ...one })))
  }

  #report(current: RecordedStart, place: Place, input: Extract<Input, { kind: 'report' }>): void {
    const { report } = input
    const { orderId, fill, reversed, feeLamports } = report
    if (fill !== undefined) this.#fills.set(`${orderId} ${fill.signature}`, fill)
    if (reversed !== undefined) this.#fills.delete(`${orderId} ${reversed}`)
    const bot = this.orders.get(orderId)?.order.bot
    if (bot !== undefined && feeLamports !== undefined)
      this.#failed.set(bot, (this.#failed.get(bot) ?? 0) + feeLamports)
    const isCarried = orderNumber({ id: orderId }) < current.start.money.nextOrder
    if (isCarried) current.carried.set(place.seq, input)
    else this.orders.get(orderId)?.reports.push({ place, report })
    this.#followed(place, report, isCarried)
  }

  #followed(place: Place, report: ExecutionReport, isCarried: boolean): void {
    const { orderId, attemptId, state, code, fill, feeLamports } = report
    const order = this.orders.get(orderId)?.order
    if (order === undefined) return
    const known = this.#open.get(attemptId)
    if (known === undefined) {
      if (isCarried) return
      if (state === 'working' && attemptId !== '') this.#sent(attemptId, order, place.time)
      // The order ended before its first request.
      else if (attemptId === '' && !isOpen(state)) this.#unsent(order, code, place)
      return
    }
    if (fill?.final === true && known.landing === 'filled') known.final ??= place
    if (known.told !== null) return
    const told = { seen: known.seen ?? place, told: place }
    if (fill !== undefined)
      Object.assign(known, { ...told, landing: 'filled', fill, ...(fill.final && { final: place }) })
    else if (feeLamports !== undefined)
      Object.assign(known, { ...told, final: place, landing: 'reverted', code, feeLamports })
    // Another attempt filled the sale, so this attempt ended without an effect.
    else if (state === 'not_executed' || code === 'ABSENT' || state === 'filled')
      Object.assign(known, { ...told, landing: 'absent' })
    else if (state === 'refused' || state === 'failed' || (state === 'accepted' && MOVES_ON.has(code)))
      Object.assign(known, { ...told, landing: 'refused', code })
    else if (state === 'accepted' && code !== '') Object.assign(known, { ...told, landing: 'unsent' })
    else if (state === 'working' && code === 'SLIPPAGE_EXCEEDED') known.seen ??= place
  }

  #sent(id: string, { id: orderId, time, bot, mint, side, size }: Order, sentAt: Millis): RecordedAttempt {
    const attempt: RecordedAttempt = {
      ...{ bot, mint, side, sentAt },
      ...{ id, orderId },
      orderedLamports: size.kind === 'sol' ? size.lamports : null,
      decidedAt: this.#begun.has(orderId) ? sentAt : time,
      ...{ seen: null, told: null, final: null, landing: null, code: '', fill: null, feeLamports: null },
    }
    this.#begun.add(orderId)
    this.#open.set(id, attempt)
    this.attempts.push(attempt)
    return attempt
  }

  #unsent(order: Order, code: ErrorCode | '', told: Place): void {
    Object.assign(this.#sent(`${order.id}.0`, order, order.time), { seen: told, told, landing: 'refused', code })
  }
}

/** Codes of refusals after which an order is sent again immediately with a changed setting. After other refusals, it is
 *  sent again after a delay. */
const MOVES_ON: ReadonlySet<string> = new Set<ErrorCode>([
  'SLIPPAGE_EXCEEDED',
  'PRIORITY_FEE',
  'KEY_REFUSED',
  'PLAN_REFUSED',
])

/** Returns the map of a recorded start in which an input is stored. The input is neither a report nor a timer. */
function toldIn({ carried, operated, gated }: RecordedStart, input: Input): Map<Seq, Input> {
  if (input.kind === 'feed' || input.kind === 'gap' || input.kind === 'source') return carried
  if (input.kind === 'list') return operated
  if (input.kind !== 'command') return gated
  return input.command.name === 'stop' ? carried : operated
}

import { assert, ERRORS, type ErrorCode } from '../base/errors.ts'
import { failpoint } from '../base/failpoint.ts'
import type { Input } from '../engine/messages.ts'
import { type ExecutionReport, isFullExit, ORDER_MOVES, type OrderState } from '../engine/order.ts'
import type { Attempt } from './attempt.ts'
import type { Journal } from './ports.ts'
import type { Failure } from './retry.ts'
import type { WorkingOrder } from './working-order.ts'

/** What may stand in a report beside the order's state. */
export type ReportDetails = Partial<Pick<ExecutionReport, 'attemptId' | 'reason' | 'fill' | 'reversed' | 'feeLamports'>>

/** A report with its number in the journal. */
export type NumberedReport = Extract<Input, { kind: 'report' }>

export function detailsOf(attempt: Attempt, failure: Failure): ReportDetails {
  return {
    attemptId: attempt.id,
    ...('reason' in failure && { reason: failure.reason }),
    ...(failure.kind === 'reverted' && { feeLamports: failure.feeLamports }),
  }
}

/** One for each step of every order: put together field by field, a few times as fast as by spreading. */
function reportOf(
  working: WorkingOrder,
  state: OrderState,
  code: ErrorCode | '',
  { attemptId, reason, fill, reversed, feeLamports }: ReportDetails,
): ExecutionReport {
  const { order, flights } = working
  const report: { -readonly [K in keyof ExecutionReport]: ExecutionReport[K] } = {
    orderId: order.id,
    attemptId: attemptId ?? flights.at(-1)?.attempt.id ?? '',
    state,
    code,
    reason: reason ?? (code === '' ? '' : ERRORS[code]),
  }
  if (isFullExit(order)) report.unproved = flights.length
  if (fill !== undefined) report.fill = fill
  if (reversed !== undefined) report.reversed = reversed
  if (feeLamports !== undefined) report.feeLamports = feeLamports
  return report
}

/** Says to the engine what became of orders. What it says is durable before it is said, so that it can be said again
 *  after a crash. */
export class OrderReports {
  readonly #journal: Journal
  readonly #post: (input: Input) => void
  /** Written, to be said with the next. */
  #unsaid: NumberedReport[] = []
  #nextId: number

  constructor(journal: Journal, post: (input: Input) => void, nextId: number) {
    this.#journal = journal
    this.#post = post
    this.#nextId = nextId
  }

  /** Moves the order and says so once that is durable. */
  say(working: WorkingOrder, state: OrderState, code: ErrorCode | '', details: ReportDetails = {}): void {
    this.add(working, state, code, details)
    this.sayAll()
  }

  /** Says what was added, once that and all that was written is durable. */
  sayAll(): void {
    const reports = this.#unsaid
    if (reports.length === 0) {
      this.#journal.commit(() => {})
      return
    }
    this.#unsaid = []
    failpoint('before-report')
    this.#journal.commit(() => {
      failpoint('after-report')
      for (const report of reports) this.#post(report)
    })
  }

  /** As `say`, of an order that is over and forgotten. */
  tell(orderId: string, state: OrderState, code: ErrorCode, details: ReportDetails): void {
    const report = this.#numbered({ orderId, attemptId: '', state, code, reason: ERRORS[code], ...details })
    this.#journal.commit(() => this.#post(report))
  }

  /** As `say`, but together with what is said next: one cannot be durable without the other. */
  add(working: WorkingOrder, state: OrderState, code: ErrorCode | '', details: ReportDetails = {}): void {
    this.#unsaid.push(this.write(working, state, code, details))
  }

  /** Moves the order and writes the report; the caller commits and then posts what it got. */
  write(working: WorkingOrder, state: OrderState, code: ErrorCode | '', details: ReportDetails = {}): NumberedReport {
    if (state !== working.state && !ORDER_MOVES[working.state].includes(state))
      assert(false, `order ${working.order.id} can not move from ${working.state} to ${state}`)
    working.state = state
    working.code = code
    return this.#numbered(reportOf(working, state, code, details))
  }

  #numbered(report: ExecutionReport): NumberedReport {
    const id = this.#nextId++
    this.#journal.write({ kind: 'report', id, report })
    return { kind: 'report', id, report }
  }
}

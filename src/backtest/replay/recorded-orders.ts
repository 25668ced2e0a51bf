import type { ErrorCode } from '../../base/errors.ts'
import { type Lamports, lamports, type Millis, ZERO } from '../../base/units.ts'
import type { ModelOf } from '../../engine/accounting/fill-assumptions.ts'
import { walletChange } from '../../engine/accounting/fill-costs.ts'
import type { Input } from '../../engine/messages.ts'
import { type ExecutionReport, type Fill, type Order, withTag } from '../../engine/order.ts'
import type { Attempt } from '../../orders/attempt.ts'
import type { GatewayPort, Outcome } from '../../orders/ports.ts'
import { networkFee } from '../../simulation/fill-model.ts'
import type { PaperExecutor } from '../../simulation/paper-executor.ts'
import { BASE_FEE } from '../../solana/constants.ts'
import type { AttemptMatches } from './attempt-matches.ts'
import type { Moments } from './moments.ts'

export interface RecordedOrdersOptions {
  readonly matches: AttemptMatches
  readonly moments: Moments
  readonly modelOf: ModelOf
  /** The gateway for orders that only the replay made. */
  readonly inner: GatewayPort
  readonly post: (input: Input) => void
  readonly executorOf: (account: string) => PaperExecutor
}

/** The gateway of a replay in which orders land as in the recorded run. An order that the recorded run also made
 *  receives the recorded reports, each at the position at which the recorded run received it. Waits, lost answers,
 *  repetitions and forks then need no model. The amounts and fees of the fills come from the model or from the recorded
 *  run. */
export class RecordedOrders implements GatewayPort {
  readonly #options: RecordedOrdersOptions
  readonly #followed = new Set<string>()
  /** Last report of each fill by signature, without reversed fills. */
  readonly #fills = new Map<string, Fill>()
  /** For each attempt that was filled in the recorded run, by its id: the outcome that the fill model computed for it;
   *  undefined before the computation. */
  readonly #simulated = new Map<string, Outcome | undefined>()
  /** Ids of attempts that the model did not fill. */
  readonly #failed = new Set<string>()

  constructor(options: RecordedOrdersOptions) {
    this.#options = options
  }

  submit(order: Order): void {
    const { matches, moments, inner } = this.#options
    const run = matches.follow(order)
    if (run === undefined) {
      inner.submit(order)
      return
    }
    this.#followed.add(order.id)
    for (const { place, report } of run.reports) {
      const deliver = (): void => this.#deliver(order, report)
      if (moments.at(place.seq, deliver) === undefined) deliver()
    }
  }

  /** Cancels an order. An order that receives recorded reports is not cancelled here, because one of these reports ends
   *  it. */
  cancel(orderId: string, code: ErrorCode): void {
    if (!this.#followed.has(orderId)) this.#options.inner.cancel(orderId, code)
  }

  trust(account: string, isTrusted: boolean): void {
    this.#options.inner.trust(account, isTrusted)
  }

  halt(account: string, isHalted: boolean): void {
    this.#options.inner.halt(account, isHalted)
  }

  /** Posts a recorded report with the ids of the replay's order. */
  #deliver(order: Order, { fill, reversed, feeLamports, ...recorded }: ExecutionReport): void {
    const attemptId = recorded.attemptId.replace(recorded.orderId, order.id)
    const { matches, modelOf, post } = this.#options
    if (matches.fills(attemptId)) this.#begin(order, attemptId)
    const failure = failureOf(this.#simulated.get(attemptId))
    if (failure !== undefined && (fill === undefined || this.#failed.has(attemptId))) return
    if (failure !== undefined) this.#failed.add(attemptId)
    if (reversed !== undefined) this.#reverse(reversed)
    const feePaid = matches.has('fees') ? feeLamports : networkFee(order.priorityFeeLamports, modelOf(order.bot))
    const report: ExecutionReport = {
      ...{ ...recorded, orderId: order.id, attemptId },
      ...(reversed !== undefined && { reversed }),
      ...(feeLamports !== undefined && feePaid !== undefined && { feeLamports: feePaid }),
      ...(fill !== undefined && (failure ?? { fill: this.#filled(order, { ...fill, orderId: order.id, attemptId }) })),
    }
    post({ kind: 'report', id: 0, report })
  }

  /** Lets the fill model execute an attempt, unless the amounts come from the recorded run. The execution begins with
   *  the first recorded report of the attempt, and ends before the recorded report of its fill. */
  #begin(order: Order, attemptId: string): void {
    const { matches, moments, executorOf } = this.#options
    if (matches.has('impact') || this.#simulated.has(attemptId)) return
    this.#simulated.set(attemptId, undefined)
    executorOf(order.account).execute(attemptOf(order, attemptId, Math.max(order.time, moments.time)), (outcome) => {
      if (outcome.kind !== 'acked') this.#simulated.set(attemptId, outcome)
    })
  }

  #filled({ account, bot, priorityFeeLamports }: Order, recorded: Fill): Fill {
    const { matches, modelOf, executorOf } = this.#options
    const { signature, final } = recorded
    const known = this.#fills.get(signature)
    if (known !== undefined) return { ...known, final }
    const simulated = this.#simulated.get(recorded.attemptId)
    let fill: Fill = { ...recorded, account, bot }
    if (simulated?.kind === 'filled') fill = { ...simulated.fill, signature, final }
    else {
      const rentLamports = executorOf(account).hold(recorded)
      if (!matches.has('fees')) fill = withFees(fill, networkFee(priorityFeeLamports, modelOf(bot)), rentLamports)
    }
    this.#fills.set(signature, fill)
    return fill
  }

  #reverse(signature: string): void {
    const fill = this.#fills.get(signature)
    this.#fills.delete(signature)
    if (fill !== undefined)
      this.#options.executorOf(fill.account).hold({ ...fill, side: fill.side === 'buy' ? 'sell' : 'buy' })
  }
}

/** Returns the report fields for an attempt that was filled in the recorded run but not by the fill model; undefined if
 *  the model filled it. */
function failureOf(outcome: Outcome | undefined): Pick<ExecutionReport, 'state' | 'code' | 'unproved'> | undefined {
  if (outcome === undefined || outcome.kind === 'filled') return undefined
  return { state: 'failed', code: 'code' in outcome ? (outcome.code ?? 'REVERTED') : 'REVERTED', unproved: 0 }
}

function attemptOf(order: Order, id: string, armedAt: Millis): Attempt {
  const { account, bot, mint, side, class: kind, size, slippagePercents, priorityFeeLamports, price } = order
  const attempt: Attempt = {
    ...{ id, orderId: order.id, account, bot, executor: 'paper', mint, side, class: kind, size },
    slippagePercent: slippagePercents[0] as number,
    ...{ priorityFeeLamports, price, armedAt, baseline: null, state: 'armed', signature: '', code: '' },
  }
  return withTag(attempt, order.tag)
}

/** Returns a copy of a fill with the given fees and rent. */
function withFees(fill: Fill, feeLamports: Lamports, rentLamports: Lamports): Fill {
  const base = Math.min(BASE_FEE, feeLamports)
  const costs = {
    ...fill.costs,
    baseFeeLamports: lamports(base),
    priorityFeeLamports: lamports(feeLamports - base),
    tipLamports: ZERO,
    rentPaidLamports: lamports(Math.max(0, rentLamports)),
    rentReturnedLamports: lamports(Math.max(0, -rentLamports)),
  }
  return { ...fill, feeLamports, rentLamports, costs, walletLamports: lamports(walletChange(fill.side, costs)) }
}

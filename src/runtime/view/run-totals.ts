import { lamportsToSol, type Millis } from '../../base/units.ts'
import type { Input, Output } from '../../engine/messages.ts'
import { type Fill, isOpen } from '../../engine/order.ts'
import { TimeCounts } from './distribution.ts'
import type { OpenOrders } from './open-orders.ts'
import type { EndedOrders, FillTotals, Totals } from './view.ts'

/** The times from a decision to its fill are counted in classes. These are the upper limits of the classes, seconds. */
const FILL_SECONDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300]

type Counted<T> = { -readonly [Key in keyof T]: T[Key] }
type SumsOfFills = Counted<Omit<FillTotals, 'bot' | 'side' | 'count'>>

/** Counts what happened since this start. */
export class RunTotals {
  readonly #ended = new Map<string, Counted<EndedOrders>>()
  /** Sums in lamports. */
  readonly #fills = new Map<string, Pick<FillTotals, 'bot' | 'side'> & { count: number; readonly sums: SumsOfFills }>()
  readonly #failedFees = new Map<string, number>()
  readonly #times = { entry: new TimeCounts(FILL_SECONDS), exit: new TimeCounts(FILL_SECONDS) }
  #read: Totals | undefined

  /** The present totals. The object stays the same until something is counted. */
  get totals(): Totals {
    this.#read ??= {
      endedOrders: [...this.#ended.values()].map((one) => ({ ...one })),
      fillTimes: { entry: this.#times.entry.distribution, exit: this.#times.exit.distribution },
      fills: [...this.#fills.values()].map(({ bot, side, count, sums }) => ({ bot, side, count, ...inSol(sums) })),
      failedFeesSol: Object.fromEntries([...this.#failedFees].map(([bot, lamports]) => [bot, lamportsToSol(lamports)])),
    }
    return this.#read
  }

  /** Counts the fee of a transaction that failed. */
  hear(input: Input, orders: Pick<OpenOrders, 'find'>): void {
    if (input.kind !== 'report' || !input.report.feeLamports) return
    const bot = orders.find(input.report.orderId)?.order.bot
    if (bot === undefined) return
    this.#failedFees.set(bot, (this.#failedFees.get(bot) ?? 0) + input.report.feeLamports)
    this.#read = undefined
  }

  /** Counts the order of `output`, if the order has just ended. `orders`: the open orders before `output` was applied.
   *  An order is not counted again if it already had the new state: when a fill becomes final, the engine reports the
   *  state of the order a second time. */
  take(time: Millis, output: Output, orders: Pick<OpenOrders, 'find'>): void {
    if (output.kind !== 'orderState' || isOpen(output.state)) return
    const { state, code } = output
    const before = orders.find(output.orderId)
    if (before === undefined || before.state === state) return
    const { order } = before
    const { bot, side } = order
    const key = `${bot}|${side}|${state}|${code}`
    const counted = this.#ended.get(key)
    if (counted === undefined) this.#ended.set(key, { bot, side, state, code, count: 1 })
    else counted.count++
    if (state === 'filled') this.#times[order.class].add(Math.max(0, time - order.time) / 1000)
    this.#read = undefined
  }

  /** Counts a fill. Must be called once for each fill. */
  fill({ bot, side, tradeLamports, costs }: Fill): void {
    const key = `${bot}|${side}`
    const known = this.#fills.get(key) ?? { bot, side, count: 0, sums: { ...NO_SUMS } }
    const { sums } = known
    known.count++
    sums.tradedSol += tradeLamports
    sums.venueFeesSol += costs.venueFeeLamports
    sums.serviceFeesSol += costs.serviceFeeLamports
    sums.baseFeesSol += costs.baseFeeLamports
    sums.priorityFeesSol += costs.priorityFeeLamports
    sums.tipsSol += costs.tipLamports
    sums.rentPaidSol += costs.rentPaidLamports
    sums.rentReturnedSol += costs.rentReturnedLamports
    this.#fills.set(key, known)
    this.#read = undefined
  }
}

const NO_SUMS: SumsOfFills = {
  tradedSol: 0,
  venueFeesSol: 0,
  serviceFeesSol: 0,
  baseFeesSol: 0,
  priorityFeesSol: 0,
  tipsSol: 0,
  rentPaidSol: 0,
  rentReturnedSol: 0,
}

function inSol(sums: SumsOfFills): SumsOfFills {
  return Object.fromEntries(Object.entries(sums).map(([key, lamports]) => [key, lamportsToSol(lamports)])) as never
}

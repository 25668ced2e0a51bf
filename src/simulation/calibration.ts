import { type Lamports, lamports, type Millis } from '../base/units.ts'
import type { FillModel } from '../engine/accounting/fill-assumptions.ts'
import type { Fill } from '../engine/order.ts'
import type { Block } from '../market/block.ts'
import type { Mints } from '../market/mints.ts'
import type { UnitSettings } from '../market/unit-proof.ts'
import type { Attempt, AttemptState } from '../orders/attempt.ts'
import { BASE_FEE } from '../solana/constants.ts'
import { buy, lossFactor, printsPerSlot, sell } from './fill-model.ts'
import { PaperMarket } from './paper-market.ts'
import type { PricePath } from './price-path.ts'

/** A real attempt, and its fill if it was filled. */
export interface Execution {
  readonly attempt: Attempt
  readonly fill: Fill | undefined
}

/** Parameters of a fill model, measured from real attempts. A parameter is null if there are too few samples; the model
 *  then keeps its assumed value. */
export interface Measured {
  readonly fills: number
  /** Number of attempts whose outcome is certain: they landed, or can no longer land. */
  readonly decided: number
  readonly latencyMs: FillModel['latencyMs'] | null
  readonly landingFailurePercent: number | null
  readonly autoPriorityFeeLamports: Lamports | null
  readonly venueFeePercent: number | null
  readonly serviceFeePercent: number | null
}

const MIN_FILLS = 20
const MIN_DECIDED = 50
const MIN_FEES = 5
/** Mean error of a block time, ms: block times are rounded down to whole seconds. */
const HALF_SECOND_MS = 500

const LANDED: ReadonlySet<AttemptState> = new Set(['filled', 'reverted'])
const LOST: ReadonlySet<AttemptState> = new Set(['absent', 'expired'])

/** Whether the outcome of the attempt is certain: it landed, or it can no longer land. */
function isDecided({ state }: Attempt): boolean {
  return LANDED.has(state) || LOST.has(state)
}

/** Returns the time at which a real fill landed, ms. Adds half a second to a time in whole seconds, which was rounded
 *  down. */
function landedAt({ time }: Fill): number {
  return time % 1_000 === 0 ? time + HALF_SECOND_MS : time
}

export function measure(executions: readonly Execution[]): Measured {
  const fills = executions.flatMap(({ attempt, fill }) => (fill === undefined ? [] : [{ attempt, fill }]))
  const latencies = fills.map(({ attempt, fill }) => Math.max(1, landedAt(fill) - attempt.armedAt))
  const landed = executions.filter(({ attempt: { state } }) => LANDED.has(state)).length
  const lost = executions.filter(({ attempt: { state } }) => LOST.has(state)).length
  const chosen = fills.filter(({ attempt }) => attempt.priorityFeeLamports === null)
  const auto = median(
    chosen.map(({ fill }) => Math.max(0, fill.feeLamports - BASE_FEE)),
    MIN_FEES,
  )
  const known = (name: 'venueFee' | 'serviceFee') => fills.filter(({ fill }) => !fill.costs.unknown.includes(name))
  return {
    fills: fills.length,
    decided: landed + lost,
    latencyMs: latencies.length < MIN_FILLS ? null : { p50: at(latencies, 0.5), p95: at(latencies, 0.95) },
    landingFailurePercent: landed + lost < MIN_DECIDED ? null : (lost / (landed + lost)) * 100,
    autoPriorityFeeLamports: auto === null ? null : lamports(Math.round(auto)),
    venueFeePercent: median(
      known('venueFee').map(({ fill }) => venuePercent(fill)),
      MIN_FEES,
    ),
    serviceFeePercent: median(
      known('serviceFee').map(({ fill }) => servicePercent(fill)),
      MIN_FEES,
    ),
  }
}

/** Returns the model with measured parameters in place of assumed ones. `lossFactor`: mean factor by which the model
 *  would raise the loss rate of the measured attempts because of competition. The measured loss rate is divided by
 *  `lossFactor`, because the model multiplies the rate by the factor of each order itself. */
export function calibrated(model: FillModel, measured: Measured, lossFactor = 1): FillModel {
  const { landingFailurePercent: lost } = measured
  return {
    ...model,
    latencyMs: measured.latencyMs ?? model.latencyMs,
    landingFailurePercent: lost === null ? model.landingFailurePercent : Math.min(100, lost / lossFactor),
    autoPriorityFeeLamports: measured.autoPriorityFeeLamports ?? model.autoPriorityFeeLamports,
    venueFeePercent: measured.venueFeePercent ?? model.venueFeePercent,
    serviceFeePercent: measured.serviceFeePercent ?? model.serviceFeePercent,
  }
}

/** Returns the venue's fee as the model defines it: in percent of the amount that the trade puts into the pool or takes
 *  out. */
function venuePercent({ costs }: Fill): number {
  return (costs.venueFeeLamports / Math.max(1, costs.tradeLamports)) * 100
}

/** Returns the service's fee: for a buy, in percent of the amount spent; for a sale, in percent of the proceeds after
 *  the venue's fee. */
function servicePercent({ side, tradeLamports, costs }: Fill): number {
  const whole = side === 'buy' ? tradeLamports : costs.tradeLamports - costs.venueFeeLamports
  return (costs.serviceFeeLamports / Math.max(1, whole)) * 100
}

function median(values: readonly number[], least: number): number | null {
  return values.length < least ? null : at(values, 0.5)
}

function at(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number
}

/** Slippage limit, in percent, at which no predicted fill fails. The real attempt was filled, so its own slippage limit
 *  does not matter. */
const ANY_SLIPPAGE = 1e9

/** An interruption of the feed, and the subscription keys that it affected. */
export interface Unheard {
  readonly from: Millis
  readonly to: Millis
  readonly keys: readonly string[]
}

interface Moment {
  readonly time: Millis
  readonly run: () => void
}

/** Compares each real fill with the fill that the model predicts from the prices of the tape, for an order at the same
 *  time and with the same latency. The impact of the real fill counts twice in the prediction: the tape contains the
 *  print of this fill, and the model adds the impact. After a gap of the tape, the price is unknown until the next
 *  print. Attempts that were under way during a gap are not compared, because their prices are unknown. */
export class FillComparison {
  /** For each compared fill, by how much the real fill was better than the predicted one, in percent of the predicted
   *  one. For a buy, the tokens are compared; for a sale, the SOL. A negative value means that the model is too
   *  optimistic. */
  readonly errorPercents: number[] = []
  /** For each attempt whose outcome is known: the factor by which the model raises the loss rate because of
   *  competition. */
  readonly lossFactors: number[] = []
  /** Number of fills that are not compared because of a gap in the tape. */
  unheard = 0
  readonly #market: PaperMarket
  readonly #model: FillModel
  readonly #moments: readonly Moment[]
  #next = 0

  constructor(
    mints: Mints,
    units: UnitSettings,
    model: FillModel,
    executions: readonly Execution[],
    gaps: readonly Unheard[],
  ) {
    this.#market = new PaperMarket(mints, units)
    this.#model = model
    // The row at the time of the reconnect comes after the gap, so the end of the gap is placed 1 ms before that row.
    const interruptions = gaps.map(({ to, keys }) => ({ time: to - 1, run: () => this.#market.interrupted(keys) }))
    const trades = executions.flatMap((one) => this.#momentsOf(one, gaps))
    this.#moments = [...interruptions, ...trades].sort((a, b) => a.time - b.time)
  }

  /** Adds rows of the tape; they must come in order. */
  rows(block: Block, from: number, to: number): void {
    let row = from
    while (row < to) {
      const next = this.#moments[this.#next]
      const end = next === undefined ? to : firstAfter(block.time, next.time, row, to)
      if (end > row) this.#market.observe(block, row, end)
      row = end
      if (next === undefined || end === to) return
      this.#next++
      next.run()
    }
  }

  /** Completes the attempts that were still under way at the end of the tape. */
  end(): void {
    for (; this.#next < this.#moments.length; this.#next++) this.#moments[this.#next]?.run()
  }

  /** Returns the times at which an attempt was sent and landed. If an attempt never landed, the median latency of the
   *  model is assumed. */
  #momentsOf({ attempt, fill }: Execution, gaps: readonly Unheard[]): Moment[] {
    if (fill === undefined && !isDecided(attempt)) return []
    const { armedAt, mint, priorityFeeLamports } = attempt
    const latencyMs = fill === undefined ? this.#model.latencyMs.p50 : Math.max(0, landedAt(fill) - armedAt)
    const isUnheard = ({ from, to, keys }: Unheard): boolean =>
      from < armedAt + latencyMs && armedAt < to && (keys.includes('trades') || keys.includes(mint))
    if (gaps.some(isUnheard)) {
      if (fill !== undefined) this.unheard++
      return []
    }
    let path: PricePath | undefined
    const start = (): void => {
      path = this.#market.follow(mint, this.#model)
    }
    const land = (): void => {
      if (path === undefined) return
      this.#market.unfollow(mint, path)
      if (isDecided(attempt))
        this.lossFactors.push(
          lossFactor(this.#model, priorityFeeLamports, printsPerSlot(path.prints, latencyMs, this.#model)),
        )
      if (fill !== undefined) this.#compare({ attempt, fill }, path)
    }
    return [
      { time: armedAt, run: start },
      { time: armedAt + latencyMs + this.#model.slotMs, run: land },
    ]
  }

  #compare({ attempt, fill }: Required<Execution>, path: PricePath): void {
    if (fill === undefined) return
    const { mint, side } = attempt
    const worst = this.#market.reserves(mint, side === 'buy' ? path.high : path.low, this.#model)
    const pool = { quoted: worst, worst }
    const swap =
      side === 'buy'
        ? buy(fill.tradeLamports, ANY_SLIPPAGE, pool, this.#model)
        : sell(fill.tokens, fill.decimals, ANY_SLIPPAGE, pool, this.#model)
    if (swap === undefined) return
    const [actual, predicted] =
      side === 'buy'
        ? [Number(fill.tokens) / 10 ** fill.decimals, Number(swap.tokens) / 1e6]
        : [fill.tradeLamports, swap.tradeLamports]
    if (predicted > 0) this.errorPercents.push((actual / predicted - 1) * 100)
  }
}

/** Returns the index of the first row in `from` to `to` that is later than `time`; `to` if there is none. */
function firstAfter(times: Float64Array, time: Millis, from: number, to: number): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] as number) <= time) low = middle + 1
    else high = middle
  }
  return low
}

import { type Lamports, lamports, type Millis } from '../base/units.ts'
import type { Fill } from '../engine/order.ts'
import type { Block } from '../market/block.ts'
import type { Mints } from '../market/mints.ts'
import type { UnitSettings } from '../market/unit-proof.ts'
import type { Attempt, AttemptState } from '../orders/attempt.ts'
import { BASE_FEE } from '../solana/constants.ts'
import { buy, type FillModel, lossFactor, printsPerSlot, SLOT_MS, sell } from './fill-model.ts'
import { PaperMarket, type PricePath } from './paper-market.ts'

/** A real attempt, and what it came to where it was filled. */
export interface Execution {
  readonly attempt: Attempt
  readonly fill: Fill | undefined
}

/** What real attempts say of a fill model; null: too few to say it, and what was assumed stays. */
export interface Measured {
  readonly fills: number
  /** Attempts of which it is known whether they landed. */
  readonly decided: number
  readonly latencyMs: FillModel['latencyMs'] | null
  readonly landingFailurePercent: number | null
  readonly autoPriorityFeeLamports: Lamports | null
  readonly venueFeePercent: number | null
  readonly serviceFeePercent: number | null
}

const LEAST_FILLS = 20
const LEAST_DECIDED = 50
const LEAST_FEES = 5
/** Times of blocks are whole seconds, rounded down. */
const HALF_SECOND_MS = 500

const LANDED: ReadonlySet<AttemptState> = new Set(['filled', 'reverted'])
const LOST: ReadonlySet<AttemptState> = new Set(['absent', 'expired'])

/** Whether it is known if it landed. */
function isDecided({ state }: Attempt): boolean {
  return LANDED.has(state) || LOST.has(state)
}

/** When a real fill landed, ms. */
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
    LEAST_FEES,
  )
  const known = (name: 'venueFee' | 'serviceFee') => fills.filter(({ fill }) => !fill.costs.unknown.includes(name))
  return {
    fills: fills.length,
    decided: landed + lost,
    latencyMs: latencies.length < LEAST_FILLS ? null : { p50: at(latencies, 0.5), p95: at(latencies, 0.95) },
    landingFailurePercent: landed + lost < LEAST_DECIDED ? null : (lost / (landed + lost)) * 100,
    autoPriorityFeeLamports: auto === null ? null : lamports(Math.round(auto)),
    venueFeePercent: median(
      known('venueFee').map(({ fill }) => venuePercent(fill)),
      LEAST_FEES,
    ),
    serviceFeePercent: median(
      known('serviceFee').map(({ fill }) => servicePercent(fill)),
      LEAST_FEES,
    ),
  }
}

/** The model with what was measured in the place of what was assumed. `lossFactor`: how many times as often as alone at
 *  the usual fee it has the measured attempts lost. The crowd that they met is in what was measured of them, so it is
 *  taken out again: the model adds that of each order. */
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

/** As the model takes it: of what goes into the pool, or comes out of it. */
function venuePercent({ costs }: Fill): number {
  return (costs.venueFeeLamports / Math.max(1, costs.tradeLamports)) * 100
}

/** Of what is spent, or of what is left once the venue has its share. */
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

/** No bound: it was filled. */
const ANY_SLIPPAGE = 1e9

/** Nobody heard the feed in between, for these keys as subscribed. */
export interface Unheard {
  readonly from: Millis
  readonly to: Millis
  readonly keys: readonly string[]
}

interface Moment {
  readonly time: Millis
  readonly run: () => void
}

/** Real fills beside what a model makes of them: each at its own time and latency, on the prices of its tape. The print
 *  of the fill itself is on the tape, and the model pays its own impact on top. Behind a gap there is no price until
 *  there is a new one, and what was under way in one is not compared: nobody knows which prices it met. */
export class FillComparison {
  /** Of each fill that could be compared, how much better it was than predicted, percent of the prediction: tokens of a
   *  buy, SOL of a sale. Below 0 the model flatters. */
  readonly errorPercents: number[] = []
  /** Of each attempt of which it is known whether it landed, how many times as often as alone at the usual fee the
   *  model has it lost. */
  readonly lossFactors: number[] = []
  /** Fills that are not compared for a gap of the tape. */
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
    // A row of the instant in which the feed was back is heard.
    const interruptions = gaps.map(({ to, keys }) => ({ time: to - 1, run: () => this.#market.interrupted(keys) }))
    const trades = executions.flatMap((one) => this.#momentsOf(one, gaps))
    this.#moments = [...interruptions, ...trades].sort((a, b) => a.time - b.time)
  }

  /** The tape's rows, in order. */
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

  /** What was still to come when the tape ended. */
  end(): void {
    for (; this.#next < this.#moments.length; this.#next++) this.#moments[this.#next]?.run()
  }

  /** What never landed is taken to have been under way as long as half of the others. */
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
      path = this.#market.follow(mint)
    }
    const land = (): void => {
      if (path === undefined) return
      this.#market.unfollow(mint, path)
      if (isDecided(attempt))
        this.lossFactors.push(lossFactor(this.#model, priorityFeeLamports, printsPerSlot(path.prints, latencyMs)))
      if (fill !== undefined) this.#compare({ attempt, fill }, path)
    }
    return [
      { time: armedAt, run: start },
      { time: armedAt + latencyMs + SLOT_MS, run: land },
    ]
  }

  #compare({ attempt, fill }: Required<Execution>, path: PricePath): void {
    if (fill === undefined) return
    const { mint, side } = attempt
    const worst = this.#market.reserves(mint, side === 'buy' ? path.high : path.low)
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

/** The first of the rows `from` to `to` that is later than `time`; `to` where none is. */
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

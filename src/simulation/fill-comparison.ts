import type { Block } from '../core/block.ts'
import type { UnitSettings } from '../core/messages.ts'
import type { Mints } from '../core/mints.ts'
import type { Millis } from '../core/units.ts'
import { type Execution, isDecided, landedAt } from './calibration.ts'
import { buy, type FillModel, lossFactor, printsPerSlot, SLOT_MS, sell } from './fill-model.ts'
import { PaperMarket, type PricePath } from './paper-market.ts'

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

/** Real fills beside what a model makes of them: each at its own time and latency, on the prices of its tape. The print of the fill itself is
 *  on the tape, and the model pays its own impact on top. Behind a gap there is no price until there is a new one, and what was under way
 *  in one is not compared: nobody knows which prices it met. */
export class FillComparison {
  /** Of each fill that could be compared, how much better it was than predicted, percent of the prediction: tokens of a buy, SOL of a sale.
   *  Below 0 the model flatters. */
  readonly errorPercents: number[] = []
  /** Of each attempt of which it is known whether it landed, how many times as often as alone at the usual fee the model has it lost. */
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

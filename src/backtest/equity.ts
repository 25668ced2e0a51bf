import type { Clock } from '../base/machine.ts'
import { DAY, type Millis } from '../base/units.ts'
import { isUnsellable, type Position, sellingText } from '../engine/accounting/position.ts'
import { markTrips } from '../engine/accounting/round-trip.ts'
import type { BotResult } from './bot-result.ts'
import { type Drawdown, Drawdowns, type Level } from './drawdowns.ts'

/** The tape's time is divided into this many steps. The curve keeps the lowest and the highest level of each step. */
const STEPS = 1_000

/** Equity of a bot over time: the balance plus the value of the positions. Highs, lows and drawdowns are computed from
 *  all samples. The curve keeps only the extreme samples of each step, so the memory does not grow with the tape. */
export class Equity {
  readonly #drawdowns = new Drawdowns()
  readonly #from: Millis
  readonly #stepMs: number
  readonly #steps: ({ low: Level; high: Level } | undefined)[] = []
  readonly #closes = new Map<number, number>()
  #first: Level | undefined
  #last: Level | undefined
  #low = Number.POSITIVE_INFINITY
  #high = Number.NEGATIVE_INFINITY

  /** `from`, `to`: first and last time of the curve. */
  constructor(from: Millis, to: Millis) {
    this.#from = from
    this.#stepMs = Math.max(1, (to - from) / STEPS)
  }

  /** Adds a sample. Times must never decrease. */
  sample(time: Millis, lamports: number): void {
    const last = this.#last
    this.#closes.set(Math.floor(time / DAY), lamports)
    if (last?.lamports === lamports && last.time === time) return
    const level: Level = { index: (last?.index ?? -1) + 1, time, lamports }
    this.#first ??= level
    this.#last = level
    this.#low = Math.min(this.#low, lamports)
    this.#high = Math.max(this.#high, lamports)
    this.#drawdowns.take(level)
    const at = Math.floor((time - this.#from) / this.#stepMs)
    const step = this.#steps[at]
    if (step === undefined) this.#steps[at] = { low: level, high: level }
    else if (lamports < step.low.lamports) step.low = level
    else if (lamports > step.high.lamports) step.high = level
  }

  get drawdowns(): Drawdowns {
    return this.#drawdowns
  }

  /** Last equity, lamports; undefined if there is no sample. */
  get end(): number | undefined {
    return this.#last?.lamports
  }

  /** Lowest equity, lamports; Infinity if there is no sample. */
  get low(): number {
    return this.#low
  }

  /** Highest equity, lamports; -Infinity if there is no sample. */
  get high(): number {
    return this.#high
  }

  /** Equity at the end of each UTC day that has a sample. */
  get dailyCloses(): number[] {
    return [...this.#closes.values()]
  }

  /** Points of the curve: the first and the last sample, the lowest and the highest of each step, and both ends of the
   *  deepest drawdown. */
  get curve(): readonly Level[] {
    const deepest: Drawdown | undefined = this.#drawdowns.deepest
    const kept = new Set<Level | undefined>([this.#first, this.#last, deepest?.high, deepest?.low])
    for (const step of this.#steps) kept.add(step?.low).add(step?.high)
    kept.delete(undefined)
    return ([...kept] as Level[]).sort((one, other) => one.index - other.index)
  }
}

interface Sampled {
  readonly result: BotResult
  readonly startLamports: number
  readonly equity: Equity
}

/** `SAMPLES`: smallest number of samples over a tape. `LONGEST_STEP_MS`: longest time between two samples. */
const SAMPLES = 2_000
const LONGEST_STEP_MS: Millis = 10_000

/** Samples the equity of every bot in equal steps of the tape's time, and the equity of a bot after each of its fills.
 *  Sampling has no side effects. If an order is open when the tape ends and fills later, the fill counts at the end of
 *  the tape. */
export class EquitySampler {
  readonly #bots: readonly Sampled[]
  readonly #clock: Clock
  readonly #worth: (position: Position) => number
  /** Bots with a fill that has not been sampled yet. */
  readonly #filled = new Set<Sampled>()
  #to: Millis = 0

  /** `worth` returns the value of a position, lamports. */
  constructor(bots: readonly Sampled[], clock: Clock, worth: (position: Position) => number) {
    this.#bots = bots
    this.#clock = clock
    this.#worth = worth
  }

  /** Starts sampling, until `to`. */
  start(to: Millis): void {
    this.#to = to
    const stepMs = Math.min(LONGEST_STEP_MS, Math.max(1, Math.ceil((to - this.#clock.now()) / SAMPLES)))
    const next = (): void => {
      this.#sampleAll()
      if (this.#clock.now() < to) this.#clock.after(stepMs, next)
    }
    next()
  }

  /** Must be called at each fill. The bot is then sampled at the time of the fill, once its position includes the
   *  fill. */
  filled(bot: string): void {
    const sampled = this.#bots.find(({ result }) => result.name === bot)
    if (sampled === undefined || this.#filled.has(sampled)) return
    this.#filled.add(sampled)
    this.#clock.after(0, () => {
      this.#filled.delete(sampled)
      this.#sample(sampled)
    })
  }

  /** Takes the last sample, with the values of the open positions. */
  end(): void {
    this.#sampleAll()
    for (const { result } of this.#bots) {
      markTrips(result.log?.money.trips ?? [], (mint) => {
        const position = result.positions.get(mint)
        const unsold = position === undefined || !isUnsellable(position) ? '' : sellingText(position)
        return { lamports: position === undefined ? 0 : this.#worth(position), unsold }
      })
    }
  }

  #sampleAll(): void {
    for (const bot of this.#bots) this.#sample(bot)
  }

  #sample({ result, startLamports, equity }: Sampled): void {
    let value = startLamports + result.walletLamports
    for (const position of result.positions.values()) value += this.#worth(position)
    equity.sample(Math.min(this.#clock.now(), this.#to), value)
  }
}

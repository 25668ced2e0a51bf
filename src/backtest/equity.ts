import type { Clock } from '../base/machine.ts'
import type { Millis } from '../base/units.ts'
import { isUnsellable, type Position, sellingText } from '../engine/accounting/position.ts'
import { markTrips } from '../engine/accounting/round-trip.ts'
import type { BotResult } from './bot-result.ts'

/** Equity of a bot over time: its balance plus the liquidation value of its positions. Samples by time, lamports. */
export class Equity {
  readonly times: Millis[] = []
  readonly lamports: number[] = []

  /** A second sample of the same instant replaces the first. */
  sample(time: Millis, lamports: number): void {
    if (this.times.at(-1) === time) this.lamports[this.lamports.length - 1] = lamports
    else {
      this.times.push(time)
      this.lamports.push(lamports)
    }
  }
}

/** A drawdown from a high to the low after it. */
export interface Drawdown {
  readonly lamports: number
  /** Share of the high. */
  readonly share: number
  readonly highLamports: number
  readonly lowLamports: number
  readonly from: Millis
  readonly to: Millis
}

type Samples = Pick<Equity, 'times' | 'lamports'>

/** Largest drawdown in lamports; undefined if the equity never fell. */
export function maxDrawdown({ times, lamports }: Samples): Drawdown | undefined {
  let deepest: Drawdown | undefined
  let high = 0
  for (let at = 0; at < lamports.length; at++) {
    if ((lamports[at] as number) >= (lamports[high] as number)) high = at
    const [highLamports, lowLamports] = [lamports[high] as number, lamports[at] as number]
    const fall = highLamports - lowLamports
    if (fall <= (deepest?.lamports ?? 0)) continue
    const share = highLamports > 0 ? fall / highLamports : 1
    deepest = { lamports: fall, share, highLamports, lowLamports, from: times[high] as Millis, to: times[at] as Millis }
  }
  return deepest
}

/** Longest time below an earlier high, ms; until the end if the high was not reached again. */
export function longestUnderwaterMs({ times, lamports }: Samples): Millis {
  let longest = 0
  let high = 0
  for (let at = 1; at < lamports.length; at++) {
    if ((lamports[at] as number) >= (lamports[high] as number)) high = at
    else longest = Math.max(longest, (times[at] as Millis) - (times[high] as Millis))
  }
  return longest
}

/** Fall below the earlier high as a share of it, for each sample; 0 at a high. */
export function drawdowns({ lamports }: Samples): number[] {
  let high = Number.NEGATIVE_INFINITY
  return lamports.map((value) => {
    high = Math.max(high, value)
    return high > 0 ? (high - value) / high : 0
  })
}

const DAY: Millis = 86_400_000

/** Equity at the end of each UTC day with a sample; days since 1970. */
export function dailyCloses({ times, lamports }: Samples): { readonly day: number; readonly lamports: number }[] {
  const closes = new Map<number, number>()
  for (let at = 0; at < times.length; at++) closes.set(Math.floor((times[at] as Millis) / DAY), lamports[at] as number)
  return [...closes].map(([day, value]) => ({ day, lamports: value }))
}

const SAMPLES = 2000

interface Sampled {
  readonly result: BotResult
  readonly startLamports: number
  readonly equity: Equity
}

/** Samples the equity of every bot in equal steps of the tape's time, without side effects. Orders that are open when
 *  the tape ends count at its end. */
export class EquitySampler {
  readonly #bots: readonly Sampled[]
  readonly #clock: Clock
  readonly #worth: (position: Position) => number
  #to: Millis = 0

  /** `worth`: liquidation value, lamports. */
  constructor(bots: readonly Sampled[], clock: Clock, worth: (position: Position) => number) {
    this.#bots = bots
    this.#clock = clock
    this.#worth = worth
  }

  /** Starts sampling, until `to`. */
  start(to: Millis): void {
    this.#to = to
    const stepMs = Math.max(1, Math.ceil((to - this.#clock.now()) / SAMPLES))
    const next = (): void => {
      this.#sample()
      if (this.#clock.now() < to) this.#clock.after(stepMs, next)
    }
    next()
  }

  /** Takes the last sample and values open positions. */
  end(): void {
    this.#sample()
    for (const { result } of this.#bots) {
      markTrips(result.log?.money.trips ?? [], (mint) => {
        const position = result.positions.get(mint)
        const unsold = position === undefined || !isUnsellable(position) ? '' : sellingText(position)
        return { lamports: position === undefined ? 0 : this.#worth(position), unsold }
      })
    }
  }

  #sample(): void {
    const time = Math.min(this.#clock.now(), this.#to)
    for (const { result, startLamports, equity } of this.#bots) {
      let value = startLamports + result.walletLamports
      for (const position of result.positions.values()) value += this.#worth(position)
      equity.sample(time, value)
    }
  }
}

import type { Clock } from '../base/machine.ts'
import type { Millis } from '../base/units.ts'
import { isUnsellable, type Position, sellingText } from '../engine/accounting/position.ts'
import { markTrips } from '../engine/accounting/round-trip.ts'
import type { BotResult } from './bot-result.ts'

/** What a bot is worth over time: its money, and what selling all that it holds would bring. Samples in the order of
 *  time, lamports. */
export class Equity {
  readonly times: Millis[] = []
  readonly lamports: number[] = []

  /** Of one instant the last sample counts. */
  sample(time: Millis, lamports: number): void {
    if (this.times.at(-1) === time) this.lamports[this.lamports.length - 1] = lamports
    else {
      this.times.push(time)
      this.lamports.push(lamports)
    }
  }
}

/** A fall from a high to the low after it. */
export interface Drawdown {
  readonly lamports: number
  /** Of the high. */
  readonly share: number
  readonly highLamports: number
  readonly lowLamports: number
  readonly from: Millis
  readonly to: Millis
}

type Samples = Pick<Equity, 'times' | 'lamports'>

/** The deepest in lamports; undefined where it never fell. */
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

/** The longest time below an earlier high, ms: to the end where it was not reached again. */
export function longestUnderwaterMs({ times, lamports }: Samples): Millis {
  let longest = 0
  let high = 0
  for (let at = 1; at < lamports.length; at++) {
    if ((lamports[at] as number) >= (lamports[high] as number)) high = at
    else longest = Math.max(longest, (times[at] as Millis) - (times[high] as Millis))
  }
  return longest
}

/** The largest fall below an earlier high as a share of that high, of every sample; 0 where there was none. */
export function drawdowns({ lamports }: Samples): number[] {
  let high = Number.NEGATIVE_INFINITY
  return lamports.map((value) => {
    high = Math.max(high, value)
    return high > 0 ? (high - value) / high : 0
  })
}

const DAY: Millis = 86_400_000

/** The equity at the end of each UTC day that it was sampled in, days since 1970. */
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

/** Looks at what every bot is worth, in even steps of the tape's time. Looking changes nothing. What was still under
 *  way when the tape ended counts at its end: nothing is known of the time behind it. */
export class EquitySampler {
  readonly #bots: readonly Sampled[]
  readonly #clock: Clock
  readonly #worth: (position: Position) => number
  #to: Millis = 0

  /** `worth`: what selling a position now would bring, lamports. */
  constructor(bots: readonly Sampled[], clock: Clock, worth: (position: Position) => number) {
    this.#bots = bots
    this.#clock = clock
    this.#worth = worth
  }

  /** From now on, until `to`. */
  start(to: Millis): void {
    this.#to = to
    const stepMs = Math.max(1, Math.ceil((to - this.#clock.now()) / SAMPLES))
    const next = (): void => {
      this.#sample()
      if (this.#clock.now() < to) this.#clock.after(stepMs, next)
    }
    next()
  }

  /** Nothing happens any more: what is left is worth what it is worth. */
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

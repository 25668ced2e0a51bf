import type { Millis } from '../core/units.ts'

/** What a bot is worth over time: its money, and what selling all that it holds would bring. Samples in the order of time, lamports. */
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

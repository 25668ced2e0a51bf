import type { Print } from './prints.ts'

/** A rule that computes, from the last prints (trades on the feed), the price with which exits are tested. */
export interface Candidate {
  /** The price is computed from this number of last prints. */
  readonly prints: number
  readonly middle: 'median' | 'mean'
  /** Whether the rule ignores prints that differ from the robust price by more than a factor of two. Most of them are
   *  legs: single hops of a routed swap. */
  readonly skipsLegs: boolean
  /** Number of prints that prove a collapse, after which older prints do not count; 0: a collapse has no effect. */
  readonly collapse: number
  /** Prints that are older than this do not count if there are `enough` newer ones. */
  readonly oldestMs: number
  readonly enough: number
}

const COLLAPSE_MS = 2_000
const ROBUST = 5
const OFF = 2

const WINDOWS = [51, 61, 81]
const AGES = [
  { oldestMs: 180_000, enough: 11 },
  { oldestMs: 600_000, enough: 21 },
] as const

/** Medians of the last 21 and 41 prints without further rules, as a baseline for the candidates. */
export const PLAIN: readonly Candidate[] = [21, 41].map((prints) => {
  return { prints, middle: 'median', skipsLegs: false, collapse: 0, oldestMs: 60_000, enough: 5 }
})

export const CANDIDATES: readonly Candidate[] = WINDOWS.flatMap((prints) =>
  (['median', 'mean'] as const).flatMap((middle) =>
    AGES.map((age) => ({ prints, middle, skipsLegs: true, collapse: 3, ...age })),
  ),
)

export function nameOf({ prints, middle, skipsLegs, collapse, oldestMs }: Candidate): string {
  return [
    `${prints} prints`,
    ...(middle === 'mean' ? ['mean'] : []),
    ...(skipsLegs ? ['no legs'] : []),
    ...(collapse > 0 ? [`collapse ${collapse}`] : []),
    `${oldestMs / 1_000} s`,
  ].join(', ')
}

const sorted = new Float64Array(Math.max(...WINDOWS))

/** Sorts the first `count` values of `sorted`. Returns their median, or for `mean` the mean of their middle half. */
function middleOf(count: number, middle: Candidate['middle']): number {
  const values = sorted.subarray(0, count).sort()
  if (middle === 'median') return values[(count - 1) >> 1] as number
  const cut = count >> 2
  return values.subarray(cut, count - cut).reduce((sum, value) => sum + value, 0) / (count - 2 * cut)
}

/** Robust price after each print: the median of the last five prints. */
export function robustPrices(prints: readonly Print[]): number[] {
  return prints.map((_print, at) => {
    const count = Math.min(at + 1, ROBUST)
    for (let back = 0; back < count; back++) sorted[back] = (prints[at - back] as Print).price
    return middleOf(count, 'median')
  })
}

/** Price of the exits after each print, by the rule of the candidate. `robust`: robust price after each print. */
export function pricesOf(candidate: Candidate, prints: readonly Print[], robust: readonly number[]): Float64Array {
  const { skipsLegs, middle, collapse } = candidate
  const isLeg = prints.map(({ price }, at) => {
    const ratio = price / (robust[at] as number)
    return skipsLegs && (ratio > OFF || ratio < 1 / OFF)
  })
  let from = 0
  const priceAt = (at: number): number => {
    const count = collect(candidate, prints, isLeg, from, at)
    return count === 0 ? (robust[at] as number) : middleOf(count, middle)
  }
  return Float64Array.from(prints, (_print, at) => {
    const price = priceAt(at)
    const since = collapse === 0 ? undefined : collapsedSince(prints, from, at, collapse, price / OFF)
    if (since === undefined) return price
    from = since
    isLeg.fill(false, since, at + 1)
    return priceAt(at)
  })
}

/** Returns the index at which the prints that prove a collapse begin; undefined if there is no collapse. These are the
 *  prints of the last two seconds, at least `least` of them, which are all below `ceiling`. */
function collapsedSince(
  prints: readonly Print[],
  from: number,
  at: number,
  least: number,
  ceiling: number,
): number | undefined {
  const since = (prints[at] as Print).time - COLLAPSE_MS
  for (let back = at; back >= from; back--) {
    const { price, time } = prints[back] as Print
    if (price >= ceiling) return undefined
    if (time <= since && at - back + 1 >= least) return back
  }
  return undefined
}

/** Writes the prices that the candidate uses to `sorted`, and returns their number. Leaves out the legs of routed
 *  swaps. */
function collect(
  { prints: most, oldestMs, enough }: Candidate,
  prints: readonly Print[],
  isLeg: readonly boolean[],
  from: number,
  at: number,
): number {
  const oldest = (prints[at] as Print).time - oldestMs
  let count = 0
  for (let back = at; back >= from && back > at - most; back--) {
    const { price, time } = prints[back] as Print
    if (count >= enough && time < oldest) break
    if (isLeg[back] !== true) sorted[count++] = price
  }
  return count
}

import type { Print } from './prints.ts'

/** A rule for the price of the exits: the median of a window, which counts only if it has lasted. */
export interface Candidate {
  /** Least number of prints. */
  readonly prints: number
  /** Least span of the prints, ms, while there are at most MOST of them. */
  readonly spanMs: number
  /** Prints more than twice off the robust price do not count. */
  readonly skipsLegs: boolean
  /** A fall counts after this number of prints. */
  readonly lasts: number
  /** Number of prints that prove a collapse; 0: a collapse has no effect. */
  readonly collapse: number
}

const MOST = 127
const OLDEST_MS = 60_000
const COLLAPSE_MS = 2_000
const ENOUGH = 5
const OFF = 2

const WINDOWS = [21, 31, 41, 61]
const SPANS_MS = [0, 4_000]
const LASTS = [0, 5, 10, 20]
const COLLAPSES = [0, 3, 5]

/** All candidates; a simpler one precedes. */
export const CANDIDATES: readonly Candidate[] = WINDOWS.flatMap((prints) =>
  SPANS_MS.flatMap((spanMs) =>
    [false, true].flatMap((skipsLegs) =>
      LASTS.flatMap((lasts) => COLLAPSES.map((collapse) => ({ prints, spanMs, skipsLegs, lasts, collapse }))),
    ),
  ),
).sort((one, other) => rulesOf(one) - rulesOf(other) || one.prints - other.prints)

/** Number of rules besides the window's length. */
export function rulesOf({ spanMs, skipsLegs, lasts, collapse }: Candidate): number {
  return +(spanMs > 0) + +skipsLegs + +(lasts > 0) + +(collapse > 0)
}

export function nameOf({ prints, spanMs, skipsLegs, lasts, collapse }: Candidate): string {
  return [
    `${prints} prints`,
    ...(spanMs > 0 ? [`${spanMs / 1_000} s`] : []),
    ...(skipsLegs ? ['no legs'] : []),
    ...(lasts > 0 ? [`lasts ${lasts}`] : []),
    ...(collapse > 0 ? [`collapse ${collapse}`] : []),
  ].join(', ')
}

const sorted = new Float64Array(MOST)

function middle(count: number): number {
  return sorted.subarray(0, count).sort()[(count - 1) >> 1] as number
}

/** Median of five. */
export function robustPrices(prints: readonly Print[]): number[] {
  return prints.map((_print, at) => {
    const count = Math.min(at + 1, ENOUGH)
    for (let back = 0; back < count; back++) sorted[back] = (prints[at - back] as Print).price
    return middle(count)
  })
}

/** Price after each print. */
export function pricesOf(candidate: Candidate, prints: readonly Print[], robust: readonly number[]): Float64Array {
  const { lasts, collapse } = candidate
  const medians = mediansOf(candidate, prints, robust)
  const prices = new Float64Array(prints.length)
  for (let at = 0; at < prints.length; at++) {
    let price = medians[at] as number
    for (let back = Math.max(0, at - lasts); back < at; back++) price = Math.max(price, medians[back] as number)
    const collapsed = collapse === 0 ? undefined : collapsedTo(prints, at, collapse, price / OFF)
    prices[at] = collapsed ?? price
  }
  return prices
}

/** The highest of the prints that prove a collapse below `ceiling`; undefined: there is no collapse. */
function collapsedTo(prints: readonly Print[], at: number, least: number, ceiling: number): number | undefined {
  const since = (prints[at] as Print).time - COLLAPSE_MS
  let highest = 0
  for (let back = at; back >= 0; back--) {
    const { price, time } = prints[back] as Print
    if (price >= ceiling) return undefined
    highest = Math.max(highest, price)
    if (time <= since && at - back + 1 >= least) return highest
  }
  return undefined
}

const cached = new Map<readonly Print[], Map<string, Float64Array>>()

function mediansOf(candidate: Candidate, prints: readonly Print[], robust: readonly number[]): Float64Array {
  const known = cached.get(prints) ?? new Map<string, Float64Array>()
  cached.set(prints, known)
  const name = nameOf({ ...candidate, lasts: 0, collapse: 0 })
  const medians = known.get(name) ?? freshMedians(candidate, prints, robust)
  known.set(name, medians)
  return medians
}

function freshMedians(candidate: Candidate, prints: readonly Print[], robust: readonly number[]): Float64Array {
  const isLeg = prints.map(({ price }, at) => {
    const ratio = price / (robust[at] as number)
    return candidate.skipsLegs && (ratio > OFF || ratio < 1 / OFF)
  })
  return Float64Array.from(prints, (_print, at) => {
    const count = collect(candidate, prints, isLeg, at)
    return count === 0 ? (robust[at] as number) : middle(count)
  })
}

/** Writes the prices of the window to `sorted`; returns their number. */
function collect(candidate: Candidate, prints: readonly Print[], isLeg: readonly boolean[], at: number): number {
  const { prints: least, spanMs } = candidate
  const now = (prints[at] as Print).time
  let count = 0
  for (let back = at; back >= 0 && count < MOST; back--) {
    const { price, time } = prints[back] as Print
    if (count >= least && time <= now - spanMs) break
    if (count >= ENOUGH && time < now - OLDEST_MS) break
    if (isLeg[back] !== true) sorted[count++] = price
  }
  return count
}

import type { Json } from '../../base/json.ts'
import type { Range } from './space.ts'

/** A sweep and its results. */
export interface Sweep {
  readonly bot: string
  readonly strategy: string
  readonly ranges: readonly Range[]
  /** Points that the strategy's schema refuses. */
  readonly refused: number
  readonly rows: number
  readonly holdOutPercent: number
  readonly lacks: readonly string[]
  /** Ranked as by `ranked`. */
  readonly results: readonly SetResult[]
}

/** One point of a sweep. */
export interface SweepSet {
  /** Counted from 1, in the order of the grid or of the draws. */
  readonly set: number
  /** All params of the bot, including the swept ones. */
  readonly params: Json
}

/** Result of a set. */
export interface SetResult extends SweepSet {
  /** Error of the strategy that prevented a result; '' without one. */
  readonly threw: string
  /** Change of the wallet plus the liquidation value of open positions. */
  readonly netLamports: number
  /** Part of it before the split; all of it without a hold-out. */
  readonly sampleLamports: number
  readonly orders: number
  readonly buys: number
  readonly sells: number
  /** Positions that are not closed. */
  readonly open: number
  readonly realizedLamports: number
  /** Network fees, those of failed transactions too, and rent. */
  readonly feeLamports: number
  readonly venueLamports: number
}

/** Returns whether the set has a result in the sample. Without trades there, the sample says nothing about it. */
export function tradedInSample({ buys, sells, sampleLamports }: SetResult): boolean {
  return buys + sells > 0 && sampleLamports !== 0
}

/** Best in the sample first, then sets without trades in the sample (they would rank above all losing sets), then sets
 *  without a result. */
export function ranked(results: readonly SetResult[]): SetResult[] {
  return [...results].sort(
    (one, other) =>
      Number(one.threw !== '') - Number(other.threw !== '') ||
      Number(tradedInSample(other)) - Number(tradedInSample(one)) ||
      other.sampleLamports - one.sampleLamports ||
      one.set - other.set,
  )
}

/** Spearman's rank correlation of sample and hold-out over the sets that traded in the sample: 1 for the same order, 0
 *  for chance, -1 for the reverse. undefined for fewer than three sets, or if all are equal. */
export function rankCorrelation(results: readonly SetResult[]): number | undefined {
  const valid = results.filter((result) => result.threw === '' && tradedInSample(result))
  if (valid.length < 3) return undefined
  const sample = ranksOf(valid.map(({ sampleLamports }) => sampleLamports))
  const heldOut = ranksOf(valid.map(({ netLamports, sampleLamports }) => netLamports - sampleLamports))
  const mean = (valid.length - 1) / 2
  const product = (a: readonly number[], b: readonly number[]): number =>
    a.reduce((sum, rank, index) => sum + (rank - mean) * ((b[index] as number) - mean), 0)
  const spread = Math.sqrt(product(sample, sample) * product(heldOut, heldOut))
  return spread === 0 ? undefined : product(sample, heldOut) / spread
}

/** Ranks from 0; equal values share the mean of their ranks. */
function ranksOf(values: readonly number[]): number[] {
  const sorted = [...values].sort((a, b) => a - b)
  return values.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2)
}

/** Value of a swept param. */
export function paramOf({ params }: SweepSet, name: string): number {
  return (params as Readonly<Record<string, number>>)[name] as number
}

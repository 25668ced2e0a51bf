import type { Json } from '../../base/json.ts'
import type { TapeUnit } from '../tape-units.ts'
import type { Range } from './space.ts'

/** A sweep and its results. */
export interface Sweep {
  readonly bot: string
  readonly strategy: string
  readonly ranges: readonly Range[]
  /** Number of points (combinations of values) that the strategy's schema or the checks of the configuration refuse. */
  readonly refused: number
  readonly rows: number
  /** Unit of the tape's amounts. */
  readonly unit: ReturnType<TapeUnit['verdict']>
  readonly holdOutPercent: number
  readonly lacks: readonly string[]
  /** Results, best first, in the order of `ranked`. */
  readonly results: readonly SetResult[]
}

/** A param set: one combination of values of a sweep. */
export interface SweepSet {
  /** Number of the set, counted from 1, in the order of the grid or of the draws. */
  readonly set: number
  /** All params of the bot, including the swept ones, and the swept settings by their paths. */
  readonly params: Json
}

/** Result of a param set. */
export interface SetResult extends SweepSet {
  /** Error that the strategy threw, which prevented a result; '' if it threw none. */
  readonly threw: string
  /** Change of the wallet plus the liquidation value of open positions. */
  readonly netLamports: number
  /** The part of `netLamports` from before the split; all of it if there is no hold-out. */
  readonly sampleLamports: number
  readonly orders: number
  readonly buys: number
  readonly sells: number
  /** Number of positions that are not closed. */
  readonly open: number
  readonly realizedLamports: number
  /** Sum of the network fees, including those of failed transactions, and of the rent. */
  readonly feeLamports: number
  readonly venueLamports: number
}

/** Whether the set traded in the sample. A set without trades in the sample cannot be judged by the sample. */
export function tradedInSample({ buys, sells, sampleLamports }: SetResult): boolean {
  return buys + sells > 0 && sampleLamports !== 0
}

/** Sorts results. The best in the sample come first. Sets without trades in the sample follow; by their result of 0
 *  they would otherwise rank above all losing sets. Sets without a result are last. */
export function ranked(results: readonly SetResult[]): SetResult[] {
  return [...results].sort(
    (one, other) =>
      Number(one.threw !== '') - Number(other.threw !== '') ||
      Number(tradedInSample(other)) - Number(tradedInSample(one)) ||
      other.sampleLamports - one.sampleLamports ||
      one.set - other.set,
  )
}

/** Spearman's rank correlation between sample and hold-out, over the param sets that traded in the sample. It is 1 if
 *  both rank the sets in the same way, about 0 if the two rankings are unrelated, and -1 if one is the reverse of the
 *  other. undefined if there are fewer than three sets, or if all are equal. */
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

/** Ranks of the values, from 0. Equal values share the mean of their ranks. */
function ranksOf(values: readonly number[]): number[] {
  const sorted = [...values].sort((a, b) => a - b)
  return values.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2)
}

/** Returns the value of a swept param or setting in a param set. */
export function paramOf({ params }: SweepSet, name: string): number {
  return (params as Readonly<Record<string, number>>)[name] as number
}

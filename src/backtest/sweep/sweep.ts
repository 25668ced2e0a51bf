import type { Json } from '../../base/json.ts'
import type { Range } from './space.ts'

/** A sweep and what came of it. */
export interface Sweep {
  readonly bot: string
  readonly strategy: string
  readonly ranges: readonly Range[]
  /** Points that the strategy's schema does not take. */
  readonly refused: number
  readonly rows: number
  readonly holdOutPercent: number
  readonly lacks: readonly string[]
  /** As `ranked` has them. */
  readonly results: readonly SetResult[]
}

/** One point of a sweep. */
export interface SweepSet {
  /** Counted from 1, in the order of the grid or of the draws. */
  readonly set: number
  /** All of the bot's params, the swept ones among them. */
  readonly params: Json
}

/** What came of a set. */
export interface SetResult extends SweepSet {
  /** Why there is none: what its strategy threw; '' where it did not. */
  readonly threw: string
  /** Change of the wallet, and what selling what is open would bring. */
  readonly netLamports: number
  /** Of that, up to the split; all of it where nothing was held out. */
  readonly sampleLamports: number
  readonly orders: number
  readonly buys: number
  readonly sells: number
  /** Positions that are not closed. */
  readonly open: number
  readonly realizedLamports: number
  /** Base and priority fees, failed transactions' too, and rent. */
  readonly feeLamports: number
  readonly venueLamports: number
}

/** Whether it won or lost anything in the sample. Of one that did not, the sample says nothing: neither that it is
 *  good, nor that it is bad. */
export function tradedInSample({ buys, sells, sampleLamports }: SetResult): boolean {
  return buys + sells > 0 && sampleLamports !== 0
}

/** Best in the sample first; behind them those that did not trade in it, which would else stand above all that lost;
 *  those that have no result last. */
export function ranked(results: readonly SetResult[]): SetResult[] {
  return [...results].sort(
    (one, other) =>
      Number(one.threw !== '') - Number(other.threw !== '') ||
      Number(tradedInSample(other)) - Number(tradedInSample(one)) ||
      other.sampleLamports - one.sampleLamports ||
      one.set - other.set,
  )
}

/** Spearman's, of the sets that traded in the sample: whether what was better in it was better in the hold-out too. 1 always, 0 by chance,
 *  -1 never; undefined for fewer than three of them, or where all are equal. */
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

/** From 0; equal values share the mean of their ranks. */
function ranksOf(values: readonly number[]): number[] {
  const sorted = [...values].sort((a, b) => a - b)
  return values.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2)
}

/** The value of a swept param. */
export function paramOf({ params }: SweepSet, name: string): number {
  return (params as Readonly<Record<string, number>>)[name] as number
}

import type { Millis } from '../../base/units.ts'
import type { RoundTrip } from '../../engine/accounting/round-trip.ts'
import type { Equity } from '../equity.ts'

export type Unit = 'SOL' | '%' | 'count' | 's' | 'ratio' | 'time' | 'mint'

/** One figure. Its key is its name in report.json and in docs/metrics.md, where its formula stands. null: it is not
 *  defined, or there are too few trades or days to say it. */
export interface Metric {
  readonly key: string
  readonly label: string
  readonly unit: Unit
  readonly value: number | string | null
}

export interface MetricsInput {
  readonly from: Millis
  readonly to: Millis
  readonly startLamports: number
  readonly trips: readonly RoundTrip[]
  readonly equity: Pick<Equity, 'times' | 'lamports'>
}

export const DAY: Millis = 86_400_000

type Value = number | string | undefined

export function metric(key: string, label: string, unit: Unit, value: Value): Metric {
  const isValue = typeof value === 'string' || (value !== undefined && Number.isFinite(value))
  return { key, label, unit, value: isValue ? (value as number | string) : null }
}

export const sol = (lamports: number | undefined): number | undefined =>
  lamports === undefined ? undefined : lamports / 1e9
export const percent = (share: number | undefined): number | undefined =>
  share === undefined ? undefined : share * 100

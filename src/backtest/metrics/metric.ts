import type { Facts } from './facts.ts'

export type Unit = 'SOL' | '%' | 'count' | 's' | 'ratio' | 'time' | 'mint'

/** A metric of a report. The key is its name in report.json and docs/metrics.md. The value is null if the formula has
 *  no result, or if there are too few trades or days. */
export interface Metric {
  readonly key: string
  readonly label: string
  readonly unit: Unit
  readonly value: number | string | null
}

/** How a metric is computed and shown. */
export interface MetricSpec {
  readonly unit: Unit
  /** Name of the metric in the report. */
  readonly label: string
  /** The formula as docs/metrics.md states it, in the table row of this metric. */
  readonly formula: string
  /** Computes the metric, in lamports if the unit is SOL, and as a share of 1 if the unit is %. */
  readonly of: (facts: Facts) => number | string | undefined
}

export const isWin = (net: number): boolean => net > 0
export const isLoss = (net: number): boolean => net < 0

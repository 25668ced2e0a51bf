import type { Millis } from '../../base/units.ts'
import type { Distribution, View } from '../../runtime/view/view.ts'

/** The state that one scrape shows. */
export interface Scrape {
  readonly view: View
  readonly now: Millis
  /** Time since the main thread last reported that it is alive. */
  readonly silentMs: number
}

/**
 * Labels of a series with their values. Each value comes from a closed list or from the configuration, never from the
 * market, so that the number of series stays small.
 */
export type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly labels?: Labels
  readonly value: number
}

export interface DistributionSample {
  readonly labels?: Labels
  readonly distribution: Distribution
}

interface Described {
  readonly name: string
  /** One sentence, which Prometheus shows as HELP. */
  readonly help: string
  readonly unit: 'seconds' | 'bytes' | 'SOL' | 'ratio' | 'count'
  readonly labels: readonly string[]
  /** Key of `/api/view` from which the value comes. */
  readonly from: string
}

/** A metric of the catalogue. A metric without a value at present has no sample. */
export type Metric = Described &
  (
    | { readonly type: 'counter' | 'gauge'; readonly read: (scrape: Scrape) => readonly Sample[] }
    | { readonly type: 'histogram'; readonly read: (scrape: Scrape) => readonly DistributionSample[] }
  )

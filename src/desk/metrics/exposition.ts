import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { CATALOGUE } from './catalogue.ts'
import type { DistributionSample, Metric, Scrape } from './metric.ts'

/** The part of prom-client's registry that is used: it writes the text format. */
interface Registry {
  readonly contentType: string
  registerMetric(metric: { readonly name: string; get(): Promise<Collected> }): void
  metrics(): Promise<string>
}

interface Collected {
  readonly name: string
  readonly help: string
  readonly type: Metric['type']
  readonly values: readonly Series[]
}

interface Series {
  /** Name of the series, if it differs from the name of the metric. */
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/**
 * The published package contains the two files of prom-client that are needed, next to this file (scripts/build.ts
 * copies them).
 */
const PACKED = fileURLToPath(new URL('./prom-client/registry.js', import.meta.url))

/** Returns a function that writes the metrics of a scrape in the text format of Prometheus. Loads prom-client. */
export function openExposition(): { readonly contentType: string; read(scrape: Scrape): Promise<string> } {
  const require = createRequire(import.meta.url)
  const PromRegistry = require(existsSync(PACKED) ? PACKED : 'prom-client/lib/registry.js') as new () => Registry
  const registry = new PromRegistry()
  let scraped: Scrape
  for (const metric of Object.values(CATALOGUE).flat()) {
    const { name, help, type } = metric
    registry.registerMetric({ name, get: async () => ({ name, help, type, values: seriesOf(metric, scraped) }) })
  }
  return {
    contentType: registry.contentType,
    read: (scrape) => {
      // The registry reads every metric synchronously, before `metrics` returns its promise. All values therefore
      // belong to this scrape.
      scraped = scrape
      return registry.metrics()
    },
  }
}

/** Series of a metric, with the values of a scrape. */
function seriesOf(metric: Metric, scrape: Scrape): Series[] {
  if (metric.type === 'histogram') return metric.read(scrape).flatMap((sample) => bucketsOf(metric.name, sample))
  return metric.read(scrape).map(({ labels = {}, value }) => ({ labels, value }))
}

function bucketsOf(name: string, { labels = {}, distribution }: DistributionSample): Series[] {
  const { bounds, counts, sumSeconds } = distribution
  let count = 0
  const buckets = counts.map((own, index) => {
    count += own
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[index] ?? '+Inf' }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sumSeconds },
    { metricName: `${name}_count`, labels, value: count },
  ]
}

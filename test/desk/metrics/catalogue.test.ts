import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { monitoringPage } from '../../../scripts/docs/monitoring-page.ts'
import { CATALOGUE } from '../../../src/desk/metrics/catalogue.ts'
import { openExposition } from '../../../src/desk/metrics/exposition.ts'
import { seriesIn } from '../../support/scraped.ts'
import { viewOf } from '../../support/view-sample.ts'
import { expressionsOf, type Rules } from './expressions.ts'

const metrics = Object.values(CATALOGUE).flat()
const SUFFIXES = { seconds: '_seconds', bytes: '_bytes', SOL: '_sol', ratio: '_ratio', count: '' }
/**
 * Labels whose values come from a fixed list or from the configuration. A new label here needs a decision: a label with
 * the mints, orders or signatures of the market would fill the memory of Prometheus.
 */
const BOUNDED = ['bot', 'bots', 'code', 'kind', 'mode', 'node', 'of', 'provider', 'side', 'source', 'state', 'version']

describe.each(metrics)('the metric $name', ({ name, type, unit, labels, help }) => {
  test('the names of metrics follow the conventions of Prometheus', () => {
    expect(name).toMatch(/^(sluice|process)_[a-z]+(_[a-z]+)*$/)
    expect(name.endsWith('_total')).toBe(type === 'counter')
    expect(name.replace(/_total$/, '').endsWith(SUFFIXES[unit])).toBe(true)
    expect(name).not.toMatch(/_(count|sum|bucket|ms|percent|lamports)\b/)
    expect(help).toMatch(/^[A-Z0-9].*\.$/)
    expect(labels.filter((label) => !BOUNDED.includes(label))).toEqual([])
  })
})

test('each metric has a name of its own', () => {
  expect(new Set(metrics.map(({ name }) => name)).size).toBe(metrics.length)
})

test('docs/monitoring.md shows the current metrics', () => {
  const page = readFileSync(new URL('../../../docs/monitoring.md', import.meta.url), 'utf8')
  expect(page, 'run `npm run docs`').toBe(monitoringPage())
})

const monitoring = fileURLToPath(new URL('../../../docs/monitoring/', import.meta.url))

test('the alert rules and the dashboard use only metrics of the catalogue, with their labels', () => {
  const known = new Map(metrics.map(({ name, labels }) => [name, labels]))
  for (const { text } of expressionsOf(monitoring))
    for (const [, name = '', matchers = ''] of text.matchAll(/((?:sluice|process)_[a-z_]+)(?:\{([^}]*)\})?/g)) {
      const labels = known.get(name.replace(/_bucket$/, ''))
      expect(labels, `${name} in ${text}`).toBeDefined()
      for (const [, label] of matchers.matchAll(/([a-z]+)(?:=~|!=|=)/g))
        expect([...(labels ?? []), 'instance', 'job'], text).toContain(label)
    }
})

test('every alert rule is tested with promtool', () => {
  const rules = (parse(readFileSync(`${monitoring}alerts.yml`, 'utf8')) as Rules).groups.flatMap((group) => group.rules)
  const trials = parse(readFileSync(new URL('alerts.promtool.yml', import.meta.url), 'utf8')) as {
    tests: { name: string; alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[]
  }
  const tested = trials.tests.filter(({ name, alert_rule_test: cases }) =>
    [0, 1].every((count) =>
      cases.some((one) => one.alertname === name && Math.min(1, one.exp_alerts.length) === count),
    ),
  )
  expect(tested.map(({ name }) => name).sort()).toEqual(rules.map(({ alert }) => alert).sort())
})

const base = viewOf()
const { process } = base
const [bot] = base.bots
const [position] = base.positions
const [order] = base.openOrders
/** Views in which the texts of third parties are arbitrary. */
const views = fc
  .record({
    text: fc.string({ unit: 'binary' }),
    id: fc.base64String({ minLength: 32, maxLength: 44 }),
    count: fc.integer({ min: 0, max: 40 }),
    hasProcess: fc.boolean(),
    nothing: fc.constantFrom(null, 0),
  })
  .map(({ text, id, count, hasProcess, nothing }) => ({
    id,
    text,
    view: viewOf({
      title: text,
      process: hasProcess ? process : null,
      feedLagMs: nothing,
      brokenLists: Array(count).fill(text),
      bots: [{ ...bot, winPercent: nothing, last: { time: 1, text }, params: { text } }] as never,
      positions: Array.from({ length: count }, (_, n) => {
        return { ...position, id: `${id}${n}`, mint: `${id}${n}`, symbol: text, entryReason: text, valueSol: nothing }
      }) as never,
      openOrders: Array.from({ length: count }, (_, n) => {
        return { ...order, id: `${id}${n}`, mint: id, reason: text }
      }) as never,
    }),
  }))

test('each series has the labels of the catalogue, and market data do not change which series exist', async () => {
  const { read } = openExposition()
  const scrape = { now: base.time, silentMs: 0 }
  const names = new Set(metrics.map(({ name }) => name))
  const known = new Set(seriesIn(await read({ ...scrape, view: base })).keys())
  for (const { name, labels, ...metric } of metrics) {
    const samples = metric.read({ ...scrape, view: base })
    expect(samples.length, name).toBeGreaterThan(0)
    for (const sample of samples) expect(Object.keys(sample.labels ?? {}).sort(), name).toEqual([...labels].sort())
  }
  await fc.assert(
    fc.asyncProperty(views, async ({ view }) => {
      const series = seriesIn(await read({ ...scrape, view }))
      expect([...series.keys()].filter((one) => !known.has(one))).toEqual([])
      expect([...series.values()].filter((value) => !Number.isFinite(value))).toEqual([])
    }),
    { numRuns: 40 },
  )
  const shown = new Set([...known].map((one) => one.replace(/\{.*/, '').replace(/_(bucket|sum|count)$/, '')))
  expect([...shown].sort()).toEqual([...names].sort())
})

test('a metric whose value is unknown has no series', async () => {
  const view = viewOf({ feedLagMs: null, process: null })
  const text = await openExposition().read({ view, now: view.time, silentMs: 0 })
  expect(text).toContain('# TYPE sluice_feed_lag_seconds gauge\n\n')
  expect(text).not.toContain('null')
  expect([...seriesIn(text).keys()].filter((name) => name.startsWith('process_'))).toEqual([])
})

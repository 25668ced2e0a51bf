import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BotLog } from '../../src/backtest/bot-log.ts'
import { BotResult } from '../../src/backtest/bot-result.ts'
import { Equity } from '../../src/backtest/equity.ts'
import { botReport } from '../../src/backtest/report/bot-report.ts'
import { CHART_SCRIPT, chart } from '../../src/backtest/report/chart.ts'
import { escapeHtml, html } from '../../src/backtest/report/html.ts'
import { reportPage } from '../../src/backtest/report/page.ts'
import type { Report } from '../../src/backtest/report/report.ts'
import { sweepPage } from '../../src/backtest/sweep/page.ts'
import type { SetResult, Sweep } from '../../src/backtest/sweep/sweep.ts'
import type { RoundTrip } from '../../src/engine/accounting/round-trip.ts'

const T0 = 1_780_000_000_000
const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&\u202e`

/** Returns a report in which every text is hostile. */
function hostileReport(): Report {
  const log = new BotLog(HOSTILE)
  const result = new BotResult(HOSTILE, log)
  const trip: RoundTrip = {
    ...{ mint: HOSTILE, openedAt: T0, closedAt: T0 + 5_000, entryReason: HOSTILE, exitReason: HOSTILE },
    ...{ entryTag: HOSTILE, exitTag: HOSTILE },
    ...{ boughtLamports: 1e9, soldLamports: 2e9, feeLamports: 0, valueLamports: 0 },
    ...{ buys: 1, sells: 1, boughtTokens: 1e7, lowPrice: 1e-7, highPrice: 2e-7 },
  }
  log.money.trips.push(trip, { ...trip, mint: 'constructor', closedAt: null })
  for (const side of ['buy', 'sell'] as const)
    log.fills.push({ mint: HOSTILE, side, time: T0, price: 1e-7, lamports: 1e9, reason: HOSTILE })
  result.refused.set(HOSTILE, 1)
  result.ended.set(HOSTILE, 1)
  const equity = new Equity(T0, T0 + 2)
  for (const at of [0, 1, 2]) equity.sample(T0 + at, 1e9)
  const bot = botReport({
    ...{
      strategy: HOSTILE,
      params: { x: HOSTILE },
      result,
      startLamports: 1e9,
      valueLamports: 0,
      equity,
      depth: undefined,
    },
    ...{ from: T0, to: T0 + 10_000, requestsPerMinute: 100 },
  })
  return {
    version: 1,
    sluice: HOSTILE,
    hashes: { tape: HOSTILE, config: HOSTILE, sluice: HOSTILE, code: HOSTILE, strategies: { [HOSTILE]: HOSTILE } },
    tape: {
      ...{ from: T0, to: T0 + 10_000, rows: 1, segments: 1, gaps: 0, gapSeconds: 0, lacks: [HOSTILE] },
      ...{ coveragePercent: { [HOSTILE]: 1 }, watchedTokens: 0, missingTokens: 0, sizedPrints: 0, noisePercent: null },
      ...{ pricedTokens: 0, marketChangePercent: null, medianMarketChangePercent: null },
    },
    plan: { name: HOSTILE, requestsPerMinute: 100 },
    fillModel: { numbers: {}, assumed: [HOSTILE], limits: [HOSTILE], calibration: null },
    bots: [bot, bot],
    extras: { [HOSTILE]: { stress: [], sizes: [], freed: [{ of: 'delay', netSol: 1, buys: 1 }], random: null } },
    missedSol: {},
    prices: {
      [HOSTILE]: [
        [T0, 1e-7],
        [T0 + 1, 2e-7],
      ],
    },
    names: { [HOSTILE]: { symbol: HOSTILE, name: HOSTILE } },
    alarms: [HOSTILE],
  }
}

/** Returns a sweep in which every name is hostile. */
function hostileSweep(): Sweep {
  const range = { name: HOSTILE, from: 0, to: 1, step: 1, isInteger: false }
  const amounts = { orders: 1, buys: 1, sells: 0, open: 1, realizedLamports: 0, feeLamports: 1e6, venueLamports: 0 }
  const results = [0, 1].map((value): SetResult => {
    const params = { [HOSTILE]: value, y: value }
    return {
      set: value + 1,
      params,
      threw: value === 0 ? '' : HOSTILE,
      netLamports: -5e6,
      sampleLamports: 1e6,
      ...amounts,
    }
  })
  return {
    ...{
      bot: HOSTILE,
      strategy: HOSTILE,
      refused: 0,
      rows: 100,
      unit: { is: 'sol', text: '' },
      holdOutPercent: 30,
      lacks: [HOSTILE],
      results,
    },
    ranges: [range, { ...range, name: 'y' }],
  }
}

const PAGES = [
  ['report', () => reportPage(hostileReport())],
  ['sweep', () => sweepPage(hostileSweep())],
] as const

/** Returns a page without the chart script that belongs to it. */
function markupOf(page: string): string {
  return page.replace(`<script>${CHART_SCRIPT}</script>`, '')
}

test.each(PAGES)('texts that contain markup are shown as plain text in the page of a %s', (_name, pageOf) => {
  const page = markupOf(pageOf())
  expect(page).not.toMatch(/<script|<img|<iframe|<object|<embed|<link|<base|<form/i)
  expect(page.replace(/"[^"]*"/g, '""')).not.toMatch(/<[^>]*\son\w+=/i)
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(page).not.toContain('\u202e')
  const tags = new Set(
    [...page.matchAll(/<(\/?[a-z0-9]+)/gi)].map(([, tag = '']) => tag.replace('/', '').toLowerCase()),
  )
  const known =
    'html head meta title style body main h1 h2 h3 p span b div section table thead tbody tr th td code svg line rect path text ul li details summary'
  expect([...tags].filter((tag) => !known.split(' ').includes(tag))).toEqual([])
  // Every element is closed, so no text has become markup.
  for (const tag of ['section', 'div', 'table', 'svg', 'details', 'span', 'p', 'td', 'title', 'text'])
    expect(page.match(new RegExp(`<${tag}[ >]`, 'g'))?.length, tag).toBe(
      page.match(new RegExp(`</${tag}>`, 'g'))?.length,
    )
})

test.each(PAGES)('the page of a %s has no external resources, and its policy forbids them', (_name, pageOf) => {
  const page = markupOf(pageOf())
  expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'`)
  expect(page).not.toMatch(/https?:|\/\/\w|url\(|@import|\ssrc="|\shref="/)
})

test('the page of a report runs only its own script, by the hash in its policy, and the page of a sweep runs no script', () => {
  const [report, sweep] = PAGES.map(([, pageOf]) => pageOf()) as [string, string]
  const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec(report) ?? []
  const hash = createHash('sha256').update(script).digest('base64')
  expect(report).toContain(`style-src 'unsafe-inline'; script-src 'sha256-${hash}'">`)
  expect(script).not.toMatch(/<\/script|<!--|https?:|fetch|import|eval|Function\(/)
  expect(sweep).toContain(`style-src 'unsafe-inline'">`)
})

test('the page of a sweep shows the results of each param set in the sample and in the hold-out, or no result if its strategy threw', () => {
  const page = sweepPage(hostileSweep())
  expect(page).toContain('−0.0060') // the hold-out of the one set that has a result
  expect(page).toContain('Of the best 1 param sets in the sample, 0 made a profit in the hold-out.')
  expect(page.match(/<svg/g)).toHaveLength(2)
  expect(page.match(/<td class="number">n\/a/g)).toHaveLength(2)
})

test('values in an HTML template are escaped', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...`<>"'&;=/ax1\n\u202e\ud800é`), { maxLength: 12 }), (characters) => {
      const text = characters.join('')
      expect(escapeHtml(text)).not.toMatch(/[<>"'\n]/)
      expect(html`<i title="${text}">${[text, 1]}</i>`.text).toBe(
        `<i title="${escapeHtml(text)}">${escapeHtml(text)}1</i>`,
      )
    }),
  )
})

test('a chart keeps its peaks, and its coordinates are numbers', () => {
  const value = fc.double({ min: -1e6, max: 1e6, noNaN: true })
  fc.assert(
    fc.property(fc.array(value, { minLength: 2, maxLength: 50 }), fc.boolean(), (values, area) => {
      const points = values.map((one, at) => [T0 + at, one] as const)
      const { text } = chart(points, { title: 'x', area, unit: 'SOL' })
      expect(text).not.toMatch(/NaN|Infinity|undefined/)
    }),
  )
  const level = [1e6, 1e6 + 2e-10].map((one, at) => [T0 + at, one] as const)
  expect(chart(level, { title: 'x', unit: 'SOL' }).text.match(/class="tick"/g)?.length).toBeLessThan(20)
  const long = Array.from({ length: 20_000 }, (_, at) => [T0 + at, at === 12_345 ? 100 : 0] as const)
  const { text } = chart(long, { title: 'x', unit: 'SOL' })
  const heights = [...text.matchAll(/L[\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y))
  expect(heights.length).toBeLessThan(1_200)
  expect(new Set(heights).size).toBe(2)
  expect(chart([], { title: 'x', unit: 'SOL' }).text).toContain('Too few points for a chart')
})

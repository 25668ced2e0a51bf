import { dateTimeOf } from '../../runtime/time-text.ts'
import type { BotExtras } from '../metrics/extras.ts'
import type { Group } from '../metrics/groups.ts'
import type { Metric } from '../metrics/metric.ts'
import type { BotReport, TripRow } from './bot-report.ts'
import { chart, type Points } from './chart.ts'
import type { ChartMark } from './chart-script.ts'
import {
  type Column,
  metricText,
  pairs,
  percentText,
  plain,
  seconds,
  shortMint,
  signedSol,
  sol,
  table,
} from './format.ts'
import { type Html, html, type Part } from './html.ts'
import type { CalibrationReport, Report } from './report.ts'

/** Largest number of rows in a long table. */
const MOST_ROWS = 200

export function botSection(bot: BotReport, report: Report): Html {
  const none = bot.trips.length === 0
  return html`<section>
<h2>${bot.name}</h2>
<p class="quiet">${bot.strategy}, <code>${JSON.stringify(bot.params)}</code>, ${plain(bot.startSol)} SOL at the beginning</p>
${tiles(bot)}
${
  none
    ? html`<p>The bot made no trade.</p>`
    : html`${curves(bot)}
<div class="columns"><div>${costs(bot)}${sizeCurve(furtherOf(bot, report))}</div><div>${doubts(bot, report)}</div></div>`
}
<div class="columns"><div>${orders(bot)}</div><div>${plan(bot)}</div></div>
${
  none
    ? ''
    : html`<h3>By reason</h3>
${groupTable('Bought because', bot.byEntry)}
${groupTable('Sold because', bot.byExit)}
${bot.byReasons.length <= Math.max(bot.byEntry.length, bot.byExit.length) ? '' : folded('By the reasons of the buy and of the sale', 'Reason of the buy, reason of the sale', bot.byReasons)}
${tags(bot)}
<h3>By token</h3>
${groupTable('Token', bot.byToken, (mint) => tokenName(mint, report))}
${tokenCharts(bot, report)}
${periods(bot)}
<details><summary>All trades (${bot.trips.length})</summary>${trades(bot.trips, report)}</details>`
}
<details><summary>All figures (formulas: docs/metrics.md)</summary>${figures(bot.metrics, report)}</details>
</section>`
}

function tiles(bot: BotReport): Html {
  const value = (key: string): Part => {
    const metric = bot.metrics.find((one) => one.key === key)
    return metric === undefined ? '' : metricText(metric)
  }
  const tile = (label: string, content: Part): Html =>
    html`<div class="tile"><b>${content}</b><span>${label}</span></div>`
  return html`<div class="tiles">
${tile('SOL net', sol(bot.netSol))}${tile('net result relative to the starting balance', value('netProfitPercent'))}${tile('trades', value('trades'))}
${tile('won', value('winRate'))}${tile('SOL, median trade', value('medianTrade'))}${tile('SOL, maximum drawdown', value('maxDrawdown'))}
</div>`
}

function curves(bot: BotReport): Html {
  return html`<h3>Equity, SOL; open positions at their liquidation value</h3>
${chart(bot.equity, { title: `Equity of ${bot.name}`, unit: 'SOL' })}
<h3>Drawdown from the highest equity so far, %</h3>
${chart(fallOf(bot.equity), { title: `Drawdown of ${bot.name}`, unit: '%', area: true, height: 150 })}`
}

function fallOf(points: Points): Points {
  let high = Number.NEGATIVE_INFINITY
  return points.map(([time, value]) => {
    high = Math.max(high, value)
    return [time, high > 0 ? (value / high - 1) * 100 : 0]
  })
}

const FIGURES: readonly Column[] = [{ head: '' }, { head: 'SOL', number: true }, { head: 'of gross', number: true }]

function costs({ grossSol, netSol, costs: kinds }: BotReport): Html {
  const isGain = grossSol > 0
  const ofGross = (value: number): string => (isGain ? percentText((value / grossSol) * 100, 0) : '')
  return html`<h3>From gross to net</h3>
${isGain ? '' : html`<p class="quiet">Before costs, the trades made no profit, so the costs are not shown as a share of the profit.</p>`}
${table(
  FIGURES.slice(0, isGain ? 3 : 2),
  [
    ['gross, at the prices at the time of each decision', sol(grossSol), ofGross(grossSol)],
    ...kinds.map(({ label, sol: amount }): Part[] => [label, sol(-amount), ofGross(amount)]),
    [html`<b>net</b>`, html`<b>${sol(netSol)}</b>`, ofGross(netSol)],
  ].map((row) => row.slice(0, isGain ? 3 : 2)),
)}`
}

/** Returns the section with the numbers that show whether the result depends on luck or on the assumed costs. */
function doubts(bot: BotReport, report: Report): Html {
  const { missedSol } = report
  const part = ({ name, trades, netSol, medianSol }: Group): [string, Html] => [
    `${name}, ${trades} trades, median ${signedSol(medianSol)}`,
    sol(netSol),
  ]
  return html`<h3>How reliable it is</h3>
${pairs([
  ...bot.withoutBest.map(({ tokens, netSol }): [Part, Part] => [
    tokens === 1 ? 'net result without the best token' : `net result without the best ${tokens} tokens`,
    sol(netSol),
  ]),
  part({ ...bot.inSample, name: 'trades opened in the first 70 % of the time' }),
  part({ ...bot.holdOut, name: 'trades opened in the last 30 % (hold-out)' }),
  ...furtherRows(bot, furtherOf(bot, report)),
  ['trades that ended as total losses', percentText(bot.endedAtZeroPercent)],
  ['median error of the fill model on real fills', calibrationText(report.fillModel.calibration)],
  ...depthRows(bot),
  ['result that missed entries would have had', sol(Object.hasOwn(missedSol, bot.name) ? missedSol[bot.name] : null)],
])}`
}

/** Rows with the number of fills whose pool depth is estimated, and the effect of greater depths on the result. */
function depthRows({ depth }: BotReport): [Part, Part][] {
  const { curveFills, assumedFills, estimatedFills, spread, upperSol } = depth
  const fills = curveFills + assumedFills + estimatedFills
  const estimated: [Part, Part] = ['fills in pools whose depth is estimated', `${estimatedFills} of ${fills}`]
  if (estimatedFills === 0) return [estimated]
  return [
    estimated,
    [
      `extra proceeds if the depth of these pools were the upper quartile of the estimates, ${plain(spread, 1)} times the lower quartile that is used`,
      sol(upperSol),
    ],
  ]
}

function calibrationText(calibration: CalibrationReport | null): string {
  if (calibration === null) return 'not measured (--calibrate)'
  const { compared, medianErrorPercent, p10ErrorPercent, p90ErrorPercent } = calibration
  return `${percentText(medianErrorPercent)}, 80 % between ${percentText(p10ErrorPercent)} and ${percentText(p90ErrorPercent)}, of ${compared} fills`
}

function furtherOf({ name }: BotReport, { extras }: Report): BotExtras | undefined {
  return Object.hasOwn(extras, name) ? extras[name] : undefined
}

function furtherRows({ netSol: ownSol }: BotReport, further: BotExtras | undefined): [Part, Part][] {
  if (further === undefined)
    return [['further runs: higher fees and latency, no delay, no limits, random entries', 'not run (add --runs 100)']]
  const { stress, freed, random } = further
  const rows = [
    ...stress.map(({ factor, netSol }): [Part, Part] => [`fees and latency x ${factor}`, sol(netSol)]),
    ...freed.map(({ of, buys, netSol }): [Part, Part] => [`without ${of}: ${buys} buys`, sol(netSol)]),
  ]
  if (random === null) return rows
  const { entriesSol, entriesPercent, seeds, medianPercent, p5Percent, p95Percent, beatenPercent, beatenErrorPercent } =
    random
  return [
    ...rows,
    ...(entriesSol === ownSol
      ? []
      : [["result of the bot's entries if only the configured exits sell", sol(entriesSol)] satisfies [Part, Part]]),
    ["result of the bot's entries, per SOL bought", percentText(entriesPercent)],
    [`random entries with the same exits, median of ${seeds} runs, per SOL bought`, percentText(medianPercent)],
    ['random entries, 5 % and 95 % quantiles', `${percentText(p5Percent)} to ${percentText(p95Percent)}`],
    [
      "random runs with a lower result than the bot's entries, with the 95 % interval",
      `${percentText(beatenPercent, 0)} \u00b1 ${percentText(beatenErrorPercent, 0)}`,
    ],
  ]
}

function sizeCurve(further: BotExtras | undefined): Part {
  if (further === undefined) return ''
  const columns = ['order size x', 'trades', 'net SOL', 'net, % of the amount bought'].map((head) => ({
    head,
    number: true,
  }))
  const rows = further.sizes.map(({ factor, trades: count, netSol, percentOfBought }): Part[] => {
    return [factor, count, sol(netSol), percentText(percentOfBought)]
  })
  return html`<h3>Other sizes</h3>
${table(columns, rows)}`
}

function orders(bot: BotReport): Html {
  const counts = (some: Readonly<Record<string, number>>): string =>
    Object.entries(some)
      .map(([why, count]) => `${count} ${why}`)
      .join(', ') || 'none'
  return html`<h3>Orders</h3>
${pairs([
  ['orders', bot.orders],
  ['filled', `${bot.buys} buys, ${bot.sells} sales`],
])}
<p><span class="quiet">Not filled:</span> ${counts(bot.notFilled)}</p>
<p><span class="quiet">Entries missed:</span> ${counts(bot.missedEntries)}</p>
<p><span class="quiet">Requests refused:</span> ${counts(bot.refused)}</p>`
}

function plan({ plan: use }: BotReport): Html {
  const ms = (value: number | null): string => (value === null ? 'n/a' : seconds(value / 1000))
  return html`<h3>Plan</h3>
${pairs([
  ['requests', use.requests],
  ['highest number of requests in a minute', `${use.peakPerMinute}, ${percentText(use.peakPercent, 0)} of the plan`],
  ['orders that waited', use.delayed],
  ['exits among the orders that waited', use.lateExits],
  [
    'waiting time, median and longest',
    use.delayed === 0 ? 'none' : `${ms(use.medianDelayMs)}, ${ms(use.longestDelayMs)}`,
  ],
  ['entries refused after waiting', use.refused],
])}`
}

/** Tables by period; empty if all trades were opened in one period. */
function periods({ byDay, byWeek, byMonth, byWeekday }: BotReport): Part {
  const some: [string, readonly Group[]][] = [
    ['By day', byDay],
    ['By week', byWeek],
    ['By month', byMonth],
    ['By weekday', byWeekday],
  ]
  return some.map(([title, kind]) => (kind.length < 2 ? '' : folded(title, 'Opened on, UTC', kind)))
}

/** Tables of the trades by tag; none if the strategy sets no tags. */
function tags({ byEntryTag, byExitTag }: BotReport): Html {
  const name = (tag: string): Part => (tag === '' ? html`<i>no tag</i>` : tag)
  const part = (head: string, some: readonly Group[]): Part => (some.length === 0 ? '' : groupTable(head, some, name))
  if (byEntryTag.length + byExitTag.length === 0) return html``
  return html`<h3>By tag</h3>${part('Tag of the entry', byEntryTag)}${part('Tag of the exit', byExitTag)}`
}

function folded(title: string, head: string, some: readonly Group[]): Html {
  return html`<details><summary>${title} (${some.length})</summary>${groupTable(head, some)}</details>`
}

/** Symbol and mint of a token. The mint is always shown, because the token's creator chose the symbol. */
function tokenName(mint: string, { names }: Report): Html {
  const symbol = (Object.hasOwn(names, mint) ? names[mint]?.symbol.slice(0, 20) : undefined) ?? ''
  return html`<span title="${mint}">${symbol === '' ? '' : `${symbol} `}<code>${shortMint(mint)}</code></span>`
}

function tokenCharts(bot: BotReport, report: Report): Html {
  const marks = new Map<string, ChartMark[]>()
  for (const { mint, side, time, price, sol: amount, reason } of bot.fills) {
    const text = `${dateTimeOf(time)}  ${side} for ${plain(amount, 4)} SOL at ${price.toExponential(3)}: ${reason}`
    marks.set(mint, [...(marks.get(mint) ?? []), { side, time, value: price, text }])
  }
  const drawn = bot.byToken.filter(({ name }) => marks.has(name) && Object.hasOwn(report.prices, name))
  const volumes = report.volumes ?? {}
  return html`${drawn.map(
    (
      { name, netSol },
      at,
    ) => html`<details${at === 0 ? ' open' : ''}><summary>Price and fills of ${tokenName(name, report)}: ${sol(netSol)} SOL</summary>
${chart(report.prices[name] ?? [], { title: `Price of ${name}`, unit: 'price', marks: marks.get(name) ?? [], volume: (Object.hasOwn(volumes, name) ? volumes[name] : undefined) ?? [] })}
<p class="quiet">Robust price, SOL a token. ▲ bought, ▼ sold, at the price of the fill, including its fees; the reasons appear at the pointer, and in the table of all trades. Bars: SOL that all traders bought and, above, sold.</p></details>
`,
  )}
${drawn.length < bot.byToken.length ? html`<p class="quiet">The charts show the ${drawn.length} tokens with the largest effect on the result.</p>` : ''}`
}

function trades(trips: readonly TripRow[], report: Report): Html {
  const columns: Column[] = [
    ...['opened, UTC', 'token'].map((head) => ({ head })),
    ...['held', 'bought', 'sold', 'fees', 'net SOL', 'worst', 'best'].map((head) => ({ head, number: true })),
    ...['bought because', 'sold because'].map((head) => ({ head })),
  ]
  const rows = trips
    .slice(-MOST_ROWS)
    .map((trip): Part[] => [
      dateTimeOf(trip.openedAt),
      tokenName(trip.mint, report),
      trip.closedAt === null ? 'open' : seconds((trip.closedAt - trip.openedAt) / 1000),
      ...[
        plain(trip.boughtSol, 4),
        plain(trip.closedAt === null ? trip.valueSol : trip.soldSol, 4),
        plain(trip.feesSol, 4),
      ],
      ...[sol(trip.netSol), percentText(trip.worstPercent), percentText(trip.bestPercent)],
      ...[trip.entryReason, trip.exitReason],
    ])
  return html`${trips.length > MOST_ROWS ? html`<p class="quiet">The last ${MOST_ROWS} trades; all trades are in report.json and results.db.</p>` : ''}${table(columns, rows)}`
}

/** Formats a metric. A value that is a text is the mint of a token. */
function figureOf(metric: Metric, report: Report): Part {
  return typeof metric.value === 'string' ? tokenName(metric.value, report) : metricText(metric)
}

function figures(metrics: readonly Metric[], report: Report): Html {
  return html`<div class="columns">${[0, 1].map((half) => {
    const from = Math.ceil(metrics.length / 2) * half
    const some = metrics.slice(from, from + Math.ceil(metrics.length / 2))
    return pairs(some.map((metric): [Part, Part] => [html`${metric.label}${unitOf(metric)}`, figureOf(metric, report)]))
  })}</div>`
}

function unitOf({ unit }: Metric): string {
  return unit === 'SOL' ? ', SOL' : ''
}

/** Largest number of groups in a table. */
const MOST_GROUPS = 200
const GROUP_FIGURES = ['trades', 'net SOL', 'median', 'average', 'won', 'profit factor', 'held']

/** Returns a table of groups of trades. */
function groupTable(head: string, groups: readonly Group[], name: (text: string) => Part = (text) => text): Html {
  const columns: Column[] = [{ head }, ...GROUP_FIGURES.map((one) => ({ head: one, number: true }))]
  const half = MOST_GROUPS / 2
  const shown = groups.length > MOST_GROUPS ? [...groups.slice(0, half), ...groups.slice(-half)] : groups
  return html`<div class="groups">${table(
    columns,
    shown.map((group) => [
      name(group.name),
      group.trades,
      sol(group.netSol),
      signedSol(group.medianSol),
      percentText(group.averagePercent),
      percentText(group.winPercent, 0),
      plain(group.profitFactor),
      seconds(group.holdingSeconds),
    ]),
  )}</div>
${shown.length < groups.length ? html`<p class="quiet">The ${half} best and the ${half} worst of ${groups.length} groups.</p>` : ''}`
}

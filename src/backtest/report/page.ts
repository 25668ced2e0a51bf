import { dateTimeOf } from '../../runtime/time-text.ts'
import { botSection } from './bot-section.ts'
import { CHART_SCRIPT, CHART_SCRIPT_SOURCE } from './chart.ts'
import { metricText, pairs, percentText, plain, seconds, sol, table } from './format.ts'
import { document, type Html, html, type Part } from './html.ts'
import type { CalibrationReport, Report, TapeReport } from './report.ts'

/** Returns the report as one HTML file. */
export function reportPage(report: Report): string {
  const { tape, bots } = report
  const title = `Backtest of ${bots.map(({ name }) => name).join(', ')}`
  return document(
    title,
    html`${tape.unit === undefined ? '' : html`<p class="${tape.unit.is === 'sol' ? 'quiet' : 'warn'}">Units: ${tape.unit.text}.</p>`}
<p class="quiet">${dateTimeOf(tape.from)} to ${dateTimeOf(tape.to)} UTC, ${tape.rows} market rows. Fills are simulated; the assumptions are at the end of this page.</p>
${groundLine(report)}
${warnings(report)}
${bots.length > 1 ? summary(report) : ''}
${bots.map((bot) => botSection(bot, report))}
${ground(report)}`,
    { text: CHART_SCRIPT, source: CHART_SCRIPT_SOURCE },
  )
}

/** Summary of the tape and the code, which a reader needs to judge the results. */
function groundLine({ tape, hashes }: Report): Html {
  const { gaps, gapSeconds, watchedTokens, missingTokens, noisePercent } = tape
  const { config, code, strategies, sluice } = hashes
  const short = (hash: string): Html => html`<code>${hash.slice(0, 8)}</code>`
  const own = Object.entries(strategies).map(([bot, hash]) => html`, strategy of ${bot} ${short(hash)}`)
  return html`<p class="quiet">Tape: ${coverageOf(tape)} covered; gaps: ${gaps}, ${seconds(gapSeconds)} in total; ${missingTokens} of ${watchedTokens} watched tokens missing; ${percentText(noisePercent)} of the prints are noise.
The market, each token from its first price to its last: mean ${change(tape.marketChangePercent)}, median ${change(tape.medianMarketChangePercent)}.</p>
<p class="quiet">Hashes: tape ${short(hashes.tape)}, configuration ${short(config)}, decision code ${short(code)}${own}, Sluice ${short(sluice)}.</p>`
}

function change(percent: number | null): string {
  return percent !== null && percent > 0 ? `+${percentText(percent)}` : percentText(percent)
}

function coverageOf({ coveragePercent }: TapeReport): string {
  return Object.entries(coveragePercent)
    .map(([key, share]) => `${key} ${percentText(share)}`)
    .join(', ')
}

function warnings({ tape: { lacks }, alarms }: Report): Html {
  return html`${lacks.length === 0 ? '' : html`<div class="warn"><p><b>Incomplete data:</b> the tape does not cover what the bots need.</p>${list(lacks)}</div>`}
${alarms.length === 0 ? '' : html`<div class="warn"><p><b>Alarms</b></p>${list(alarms.slice(0, 50))}</div>`}`
}

function list(lines: readonly string[]): Html {
  return html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`
}

function summary({ bots }: Report): Html {
  const heads = [
    'net SOL',
    'gross',
    'trades',
    'win rate',
    'median trade',
    'max drawdown',
    'net SOL without the 3 best tokens',
  ]
  const rows = bots.map((bot): Part[] => {
    const value = (key: string): Part => {
      const metric = bot.metrics.find((one) => one.key === key)
      return metric === undefined ? '' : metricText(metric)
    }
    const without = bot.withoutBest.find(({ tokens }) => tokens === 3)?.netSol
    return [
      bot.name,
      sol(bot.netSol),
      sol(bot.grossSol),
      value('trades'),
      value('winRate'),
      value('medianTrade'),
      value('maxDrawdown'),
      sol(without),
    ]
  })
  return table([{ head: 'bot' }, ...heads.map((head) => ({ head, number: true }))], rows)
}

/** Section on the tape, the code and the model on which the results are based. */
function ground({ tape, plan, fillModel, hashes, sluice }: Report): Html {
  return html`<section>
<h2>Assumptions and data</h2>
<div class="columns"><div><h3>The tape</h3>
${pairs([
  ['market rows', tape.rows],
  ['segments', tape.segments],
  ['gaps', `${tape.gaps}, ${seconds(tape.gapSeconds)} in total`],
  ['share of the recorded time that the tape covers', coverageOf(tape)],
  ['watched tokens that the tape lacks', `${tape.missingTokens} of ${tape.watchedTokens}`],
  [
    'noise: prints that differ from the robust price by more than a factor of two',
    `${percentText(tape.noisePercent)} of ${tape.sizedPrints}`,
  ],
  [
    `mean price change of ${tape.pricedTokens} tokens, from the first to the last price`,
    change(tape.marketChangePercent),
  ],
  ['median price change of the same tokens', change(tape.medianMarketChangePercent)],
  ['plan', `${plan.name}, ${plan.requestsPerMinute} requests per minute for each bot`],
])}</div>
<div><h3>Hashes</h3>
${pairs([
  ['tape', html`<code>${hashes.tape.slice(0, 16)}</code>`],
  ['configuration', html`<code>${hashes.config.slice(0, 16)}</code>`],
  ['code that makes decisions, with the strategies', html`<code>${hashes.code.slice(0, 16)}</code>`],
  ...Object.entries(hashes.strategies).map(([bot, hash]): [Part, Part] => [
    `strategy of ${bot}`,
    html`<code>${hash.slice(0, 16)}</code>`,
  ]),
  [`Sluice ${sluice}`, html`<code>${hashes.sluice.slice(0, 16)}</code>`],
])}</div></div>
<h3>How the backtest filled orders: its assumptions</h3>
${list(fillModel.error === undefined ? fillModel.assumed : [fillModel.error, ...fillModel.assumed])}
${fillModel.calibration === null ? '' : calibrationTable(fillModel.calibration)}
<h3>What this backtest cannot show</h3>
${list(fillModel.limits)}
</section>`
}

function calibrationTable({ measured, lossFactor, compared, unheard, ...errors }: CalibrationReport): Html {
  const { medianErrorPercent, flatteredPercent } = errors
  const { latencyMs, landingFailurePercent, autoPriorityFeeLamports, venueFeePercent, serviceFeePercent } = measured
  const few = 'too few attempts'
  const latency = latencyMs && `half within ${latencyMs.p50} ms, 95 % within ${latencyMs.p95} ms`
  const percent = (value: number | null): string => (value === null ? few : percentText(value, 2))
  return html`<h3>Measured from real fills, in place of assumptions</h3>
${pairs([
  ['real fills, and attempts whose outcome is known', `${measured.fills}, ${measured.decided}`],
  ['time from sending to landing', latency ?? few],
  ['transactions that never landed', percent(landingFailurePercent)],
  ['expected lost transactions, as a multiple of those in a quiet market at the usual fee', plain(lossFactor, 2)],
  [
    'priority fee that the service chose, SOL',
    autoPriorityFeeLamports === null ? few : plain(autoPriorityFeeLamports / 1e9, 6),
  ],
  ['fees of the venue and of the service', `${percent(venueFeePercent)}, ${percent(serviceFeePercent)}`],
  [
    `advantage of the real fill over the predicted fill, median of ${compared} fills (negative: worse than predicted)`,
    percentText(medianErrorPercent, 2),
  ],
  ['real fills that were worse than predicted', percentText(flatteredPercent)],
  ['real fills in gaps of the tape, which could not be compared', unheard],
])}`
}

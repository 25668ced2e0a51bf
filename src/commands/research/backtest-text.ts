import { costsOf } from '../../backtest/bot-result.ts'
import { shareOf, spanOf } from '../../backtest/coverage.ts'
import type { VariedRun } from '../../backtest/metrics/extras.ts'
import { type Group, splitInTime, tagGroupsOf, withoutBest, zeroShareOf } from '../../backtest/metrics/groups.ts'
import { metricsOf } from '../../backtest/metrics/metrics.ts'
import { planUseOf } from '../../backtest/metrics/plan-use.ts'
import { fillModelSentences } from '../../backtest/report/fill-model-text.ts'
import { modelErrorLine } from '../../backtest/report/model-error.ts'
import type { CalibrationReport, Report, TapeReport } from '../../backtest/report/report.ts'
import type { Backtest, BotOutcome } from '../../backtest/run.ts'
import { counted, printable } from '../../base/text.ts'
import { formatSol, type Millis } from '../../base/units.ts'
import { isUnsellable, type Position } from '../../engine/accounting/position.ts'
import type { RoundTrip } from '../../engine/accounting/round-trip.ts'
import { durationOf } from '../../runtime/time-text.ts'
import { tagLines } from '../tag-lines.ts'
import { DEFAULT_COLUMNS, listed, signedSol, wrapped } from '../terminal.ts'

/** Text of a backtest: the tape, the result of each bot, the fill model and its limits. */
export function backtestText(
  backtest: Backtest,
  calibration?: CalibrationReport,
  report?: Report,
  unit?: TapeReport['unit'],
): string {
  const { bots, lacks, alarms } = backtest
  return [
    ...(unit === undefined ? [] : [`units     ${unit.text}`]),
    ...tapeLines(backtest),
    ...(report === undefined ? [] : reportLines(report)),
    ...(lacks.length > 0 ? ['', 'The tape lacks data that the bots need, so these results are incomplete:'] : []),
    ...lacks.map((lack) => `  ${lack}`),
    ...bots.flatMap((bot) => ['', ...botLines(bot, backtest), ...furtherLines(bot.result.name, report)]),
    ...alarmLines(alarms),
    '',
    `Fill model: ${modelErrorLine(
      bots.map(({ model }) => model),
      calibration,
    )}`,
    ...modelLines(bots),
    ...(calibration === undefined ? [] : calibrationLines(calibration)),
  ].join('\n')
}

const ALARMS_SHOWN = 20

function alarmLines(alarms: readonly string[]): string[] {
  if (alarms.length === 0) return []
  const more = alarms.length - ALARMS_SHOWN
  const shown = alarms.slice(0, ALARMS_SHOWN).map((alarm) => `  ${printable(alarm)}`)
  return ['', 'Alarms:', ...shown, ...(more > 0 ? [`  and ${more} more`] : [])]
}

function unsellable(positions: Iterable<Position>): string {
  const count = [...positions].filter(isUnsellable).length
  return count === 0 ? '' : `; ${count} of the positions cannot be sold`
}

function tapeLines({ from, to, rows, segments, gaps, gapMs, coverage, mints, plan }: Backtest): string[] {
  const keys = coverage.map((key) => `${key.key} ${(shareOf(key) * 100).toFixed(1)} %`)
  const single =
    mints.wanted.size > 0 ? `; ${mints.absent.size} of ${mints.wanted.size} watched tokens are not on the tape` : ''
  return [
    `tape      ${spanOf(from, to)}: ${rows} market rows in ${counted(segments, 'segment')}, ${gaps === 0 ? 'no gap' : `${counted(gaps, 'gap')} of ${durationOf(gapMs)}`}`,
    `coverage  ${keys.join(', ')} of the recorded time${single}`,
    `plan      ${plan.name}, ${plan.requestsPerMinute} requests a minute for each bot`,
  ]
}

/** Lines with market statistics and hashes. Only a report contains these. */
function reportLines({ tape, hashes }: Report): string[] {
  const percent = (value: number | null): string => (value === null ? 'n/a' : `${value.toFixed(1)} %`)
  const [mean, median] = [tape.marketChangePercent, tape.medianMarketChangePercent].map(percent)
  const made = { tape: hashes.tape, configuration: hashes.config, code: hashes.code, Sluice: hashes.sluice }
  const strategies = Object.entries(hashes.strategies).map(([bot, hash]) => [`strategy of ${bot}`, hash] as const)
  return [
    `market    change from first to last price of ${tape.pricedTokens} tokens: mean ${mean}, median ${median}; ${percent(tape.noisePercent)} of the prints are noise`,
    `hashes    ${[...Object.entries(made), ...strategies].map(([what, hash]) => `${printable(what)} ${hash.slice(0, 8)}`).join(', ')}`,
  ]
}

function botLines(bot: BotOutcome, backtest: Backtest): string[] {
  const { result, startLamports, valueLamports } = bot
  const { name, orders, buys, sells, ended, refused, fees, positions } = result
  const net = result.walletLamports + valueLamports
  const cost = [...positions.values()].reduce((sum, { costLamports }) => sum + costLamports, 0)
  const held =
    positions.size === 0
      ? 'none'
      : `${positions.size}, bought for ${formatSol(cost)} SOL, worth ${formatSol(valueLamports)} SOL if sold now${unsellable(positions.values())}`
  return [
    `${name}: ${signedSol(net)} SOL net, from ${formatSol(startLamports)} SOL`,
    `  orders    ${orders}; filled ${counted(buys, 'buy')} and ${counted(sells, 'sale')}${ended.size === 0 ? '' : `; not filled: ${listed(ended)}`}`,
    `  refused   ${refused.size > 0 ? listed(refused) : orders > 0 ? 'no request' : 'no request: the strategy requested no order'}`,
    `  realised  ${formatSol(result.realizedLamports)} SOL after fees of about ${formatSol(fees.venue)} SOL to the venue and ${formatSol(fees.service)} SOL to the service`,
    `  fees      ${formatSol(fees.network)} SOL network, ${formatSol(fees.failed)} SOL for failed transactions, ${formatSol(fees.rent)} SOL rent`,
    `  open      ${held}`,
    ...depthLine(bot),
    ...tradeLines(bot, backtest),
  ]
}

/** Line about the share of a bot's result that depends on estimated pool depths; none if no fill depends on them. */
function depthLine({ depth }: BotOutcome): string[] {
  if (depth === undefined || depth.estimatedFills === 0) return []
  const { curveFills, assumedFills, estimatedFills, spread, upperLamports } = depth
  const fills = curveFills + assumedFills + estimatedFills
  return [
    `  depth     ${estimatedFills} of ${counted(fills, 'fill')} used an estimated pool depth: the lower quartile of all estimates. With the upper quartile, which is ${(spread ?? 1).toFixed(1)} times as deep, the bot would have received ${formatSol(upperLamports)} SOL more`,
  ]
}

/** Lines with the results of the further runs (stress, sizes, random entries); none without a report. */
function furtherLines(bot: string, report: Report | undefined): string[] {
  const extras = report !== undefined && Object.hasOwn(report.extras, bot) ? report.extras[bot] : undefined
  if (report === undefined) return []
  if (extras === undefined)
    return ['  checks    stress, other sizes and random entries were not played (--runs 100 plays them)']
  const { stress, sizes, freed, random } = extras
  const missed = Object.hasOwn(report.missedSol, bot) ? report.missedSol[bot] : undefined
  const percent = (value: number | null): string => (value === null ? 'n/a' : `${value.toFixed(2)} %`)
  const runs = (some: readonly VariedRun[]): string =>
    some.map(({ factor, netSol }) => `${netSol.toFixed(4)} SOL at ${factor}x`).join(', ')
  return [
    `  stress    with fees and latency multiplied: ${runs(stress)}`,
    `  sizes     with order sizes multiplied: ${runs(sizes)}`,
    ...(missed === undefined
      ? []
      : [`  missed    the entries that were not filled would have had a result of ${missed.toFixed(4)} SOL`]),
    `  without   ${freed.map(({ of, buys, netSol }) => `${of} ${netSol.toFixed(4)} SOL, ${counted(buys, 'buy')}`).join('; ')}`,
    ...(random === null
      ? []
      : [
          `  chance    ${random.seeds} runs with random entries and the bot's exits: median result ${percent(random.medianPercent)} of the SOL spent on buys, 90 % of the runs between ${percent(random.p5Percent)} and ${percent(random.p95Percent)}; the bot's own entries with the same exits: ${percent(random.entriesPercent)}, better than ${random.beatenPercent.toFixed(0)} +- ${random.beatenErrorPercent.toFixed(0)} % of the random runs`,
        ]),
  ]
}

/** Lines with statistics of the round trips; none if the bot closed no trade. */
function tradeLines({ result, startLamports, valueLamports, equity }: BotOutcome, backtest: Backtest): string[] {
  const { log } = result
  if (log === undefined || log.money.trips.length === 0) return []
  const { from, to, plan } = backtest
  const { trips, strayFeeLamports } = log.money
  const metrics = new Map(metricsOf({ from, to, startLamports, trips, equity }).map((one) => [one.key, one.value]))
  const figure = (key: string, digits: number): string => {
    const value = metrics.get(key)
    return typeof value === 'number' ? value.toFixed(digits) : 'n/a'
  }
  const table = costsOf(result.walletLamports + valueLamports, result.fees)
  const shares = table.costs.map(({ label, sol, percentOfGross }) => {
    return `${label} ${sol.toFixed(4)}${percentOfGross === null ? '' : ` (${percentOfGross.toFixed(0)} %)`}`
  })
  const without = [1, 3, 5].map((count) => (withoutBest(trips, count) - strayFeeLamports / 1e9).toFixed(4))
  const best = `the best token ${without[0]} SOL, the best 3 ${without[1]} SOL, the best 5 ${without[2]} SOL`
  const use = planUseOf(log, plan.requestsPerMinute)
  return [
    `  gross     ${table.grossSol.toFixed(4)} SOL at the decision prices, less ${shares.join(', ')}`,
    `  trades    ${trips.length}, ${figure('winRate', 1)} % won, median ${figure('medianTrade', 4)} SOL, average ${figure('expectancy', 4)} SOL, profit factor ${figure('profitFactor', 2)}`,
    `  ended     ${endedLine(trips, from, to)}`,
    `  drawdown  at most ${figure('maxDrawdown', 4)} SOL, ${figure('maxDrawdownPercent', 1)} % below the highest result`,
    `  without   ${withoutBest(trips, 1) === withoutBest(trips, 0) ? 'no token made money' : best}`,
    `  plan      ${use.peakPerMinute} requests in the busiest minute, ${use.peakPercent.toFixed(0)} % of the plan; ${counted(use.delayed, 'order')} waited, ${use.lateExits} of them exits; ${use.refused} refused`,
    ...tagLines(tagGroupsOf(trips)),
  ]
}

/**
 * Line with the share of trades that lost everything, and the results of the trades that opened before and within the
 * last 30 % of the time.
 */
function endedLine(trips: readonly RoundTrip[], from: Millis, to: Millis): string {
  const { inSample, holdOut } = splitInTime(trips, from, to)
  const part = ({ trades, netSol }: Group): string => `${counted(trades, 'trade')} ${netSol.toFixed(4)} SOL`
  return `${(zeroShareOf(trips) * 100).toFixed(1)} % of the trades as total losses; trades opened in the first 70 % of the time: ${part(inSample)}, in the last 30 %: ${part(holdOut)}`
}

function modelLines(bots: readonly BotOutcome[]): string[] {
  if (bots.length === 0) return []
  const { assumed, limits } = fillModelSentences(bots.map(({ result: { name }, model }) => ({ name, model })))
  return [
    'Assumptions of the fill model:',
    ...assumed.flatMap(sentenceLines),
    'Limits of this backtest:',
    ...limits.flatMap(sentenceLines),
  ]
}

function calibrationLines({ measured, lossFactor, compared, unheard, ...errors }: CalibrationReport): string[] {
  const { fills, decided, latencyMs, landingFailurePercent, autoPriorityFeeLamports } = measured
  const { venueFeePercent, serviceFeePercent } = measured
  const percent = (value: number | null): string => (value === null ? 'too few' : `${value.toFixed(2)} %`)
  const latency = latencyMs === null ? 'too few' : `half within ${latencyMs.p50} ms, 95 % within ${latencyMs.p95} ms`
  const auto = autoPriorityFeeLamports === null ? 'too few' : `${formatSol(autoPriorityFeeLamports)} SOL`
  return [
    `Calibrated with ${counted(fills, 'real fill')} and ${counted(decided, 'attempt')} with a known outcome:`,
    `  latency ${latency}; never landed: ${percent(landingFailurePercent)}, which the model takes as ${lossFactor.toFixed(2)} times the share in a quiet market at the default fee; automatic priority fee ${auto}; venue fee ${percent(venueFeePercent)}; service fee ${percent(serviceFeePercent)}`,
    `  ${counted(compared, 'real fill')} compared with the prediction of the model${unheard === 0 ? '' : ` (${unheard} more were in gaps of the tape)`}: median fill ${percent(errors.medianErrorPercent)} better than predicted, 10th to 90th percentile ${percent(errors.p10ErrorPercent)} to ${percent(errors.p90ErrorPercent)}; share of real fills that were worse than predicted: ${percent(errors.flatteredPercent)}`,
  ]
}

const CONTINUED = ' '.repeat(4)

/** Breaks a sentence into indented lines. */
function sentenceLines(sentence: string): string[] {
  const lines = wrapped(sentence, (process.stdout.columns ?? DEFAULT_COLUMNS) - CONTINUED.length)
  return lines.map((line, at) => (at === 0 ? '  ' : CONTINUED) + line)
}

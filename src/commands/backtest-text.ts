import { shareOf, spanOf } from '../backtest/coverage.ts'
import type { Backtest, BotOutcome } from '../backtest-run.ts'
import { VENUE_FEE } from '../core/curve.ts'
import { printable } from '../core/printable.ts'
import { BASE_FEE, TOKEN_ACCOUNT_RENT } from '../core/risk.ts'
import { formatSol } from '../core/units.ts'

/** A backtest for a person: what was played, what came of each bot, how its orders were filled, and what all that cannot say. */
export function backtestText(backtest: Backtest): string {
  const { bots, lacks, alarms } = backtest
  return [
    ...tapeLines(backtest),
    ...(lacks.length > 0 ? ['', 'The tape does not cover what the bots need, so this is a part of the truth:'] : []),
    ...lacks.map((lack) => `  ${lack}`),
    ...bots.flatMap((bot) => ['', ...botLines(bot)]),
    ...(alarms.length > 0 ? ['', 'Alarms:', ...alarms.map((alarm) => `  ${printable(alarm)}`)] : []),
    '',
    ...modelLines(bots),
  ].join('\n')
}

function tapeLines({ from, to, rows, segments, gaps, gapMs, coverage, mints, plan }: Backtest): string[] {
  const keys = coverage.map((key) => `${key.key} ${(shareOf(key) * 100).toFixed(1)} %`)
  const single = mints.wanted.size > 0 ? `; ${mints.absent.size} of ${mints.wanted.size} watched tokens missing` : ''
  return [
    `tape      ${spanOf(from, to)}: ${rows} market rows in ${counted(segments, 'segment')}, ${counted(gaps, 'gap')} of ${(gapMs / 1000).toFixed(1)} s`,
    `coverage  ${keys.join(', ')} of the recorded time${single}`,
    `plan      ${plan.name}, ${plan.requestsPerMinute} requests a minute for each bot`,
  ]
}

function botLines({ result, startLamports, valueLamports }: BotOutcome): string[] {
  const { name, orders, buys, sells, ended, refused, fees, positions } = result
  const net = result.walletLamports + valueLamports
  const cost = [...positions.values()].reduce((sum, { costLamports }) => sum + costLamports, 0)
  const held =
    positions.size === 0
      ? 'none'
      : `${positions.size}, bought for ${formatSol(cost)} SOL, worth ${formatSol(valueLamports)} SOL if they were sold now`
  return [
    `${name}: ${net > 0 ? '+' : ''}${formatSol(net)} SOL net, of ${formatSol(startLamports)} SOL`,
    `  orders    ${orders}; filled ${counted(buys, 'buy')} and ${counted(sells, 'sale')}${listed('; not filled: ', ended)}`,
    `  refused   ${refused.size === 0 ? 'no request' : listed('', refused)}`,
    `  realised  ${formatSol(result.realizedLamports)} SOL, the venue's fee of about ${formatSol(fees.venue)} SOL inside`,
    `  fees      ${formatSol(fees.network)} SOL network, ${formatSol(fees.failed)} SOL for failed transactions, ${formatSol(fees.rent)} SOL rent`,
    `  open      ${held}`,
  ]
}

/** Most frequent first. */
function listed(before: string, counts: ReadonlyMap<string, number>): string {
  if (counts.size === 0) return ''
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return before + sorted.map(([what, count]) => `${count} ${what.trim()}`).join(', ')
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function modelLines(bots: readonly BotOutcome[]): string[] {
  const [first] = bots
  if (first === undefined) return []
  const { latencyMs, landingFailurePercent, autoPriorityFeeLamports, abandonedAfterMs, abandonedDiscountPercent } =
    first.model
  const seconds = (ms: number): string => `${ms / 1000} s`
  return [
    'How orders were filled, by assumption:',
    `  Half of them land within ${seconds(latencyMs.p50)} of being sent, 95 % within ${seconds(latencyMs.p95)}, plus one slot; ${landingFailurePercent} % never land. Each is filled at the`,
    '  worst robust price (the median of sized prints) from then until it landed, and fails where that is beyond its slippage.',
    "  Depth is a constant product inferred from the price: pump.fun's curve, or the pool after it. An order's own impact is paid in",
    `  full and forgotten by the next one. The venue takes ${VENUE_FEE * 100} % each way; a transaction costs ${formatSol(BASE_FEE)} SOL and its priority`,
    `  fee (${formatSol(autoPriorityFeeLamports)} SOL where the service chooses), a token account ${formatSol(TOKEN_ACCOUNT_RENT)} SOL of rent until its last token is sold.`,
    `  A token without a sized print for ${seconds(abandonedAfterMs)} sells for ${100 - abandonedDiscountPercent} % of its price. What is still open is counted at what selling it`,
    '  would bring, network fee and rent aside.',
    'What this cannot say:',
    '  Depth and latency are not measured, landing does not depend on congestion, and nobody on the tape reacts to these orders. The',
    "  service's own fee is not known and not charged. Tokens that cannot be sold look as if they could. Strategies start without a",
    '  warm-up. One tape is one market: parameters that were chosen on it will do worse on the next.',
  ]
}

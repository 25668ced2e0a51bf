import { excursionOf, netOf, type RoundTrip, returnOf } from '../../engine/accounting/round-trip.ts'
import { drawdowns, longestUnderwaterMs, maxDrawdown } from '../equity.ts'
import { DAY, type Metric, type MetricsInput, metric, percent, sol } from './metric.ts'
import { riskMetrics } from './risk.ts'
import { longestRun, mean, quantile, ratio, sum } from './statistics.ts'

/** The union of what freqtrade, NautilusTrader and Jesse say of spot trades, with some of others. */
export function metricsOf(input: MetricsInput): Metric[] {
  return [
    ...balance(input),
    ...trades(input),
    ...outcomes(input),
    ...durations(input),
    ...excursions(input),
    ...falls(input),
    ...riskMetrics(input),
  ]
}

function balance({ startLamports, equity, from, to }: MetricsInput): Metric[] {
  const end = equity.lamports.at(-1) ?? startLamports
  const days = (to - from) / DAY
  const profit = end - startLamports
  return [
    metric('startBalance', 'Starting balance', 'SOL', sol(startLamports)),
    metric('endBalance', 'Final balance, open positions sold', 'SOL', sol(end)),
    metric('netProfit', 'Net profit', 'SOL', sol(profit)),
    metric('netProfitPercent', 'Net profit', '%', percent(ratio(profit, startLamports))),
    metric('profitPerDay', 'Net profit a day', 'SOL', days >= 1 ? sol(profit / days) : undefined),
    metric('minBalance', 'Lowest balance', 'SOL', sol(equity.lamports.reduce((a, b) => Math.min(a, b), startLamports))),
    metric(
      'maxBalance',
      'Highest balance',
      'SOL',
      sol(equity.lamports.reduce((a, b) => Math.max(a, b), startLamports)),
    ),
  ]
}

function trades({ trips, from, to }: MetricsInput): Metric[] {
  const open = trips.filter(({ closedAt }) => closedAt === null)
  const days = (to - from) / DAY
  const volume = sum(trips.map(({ boughtLamports, soldLamports }) => boughtLamports + soldLamports))
  const a = (period: number): number | undefined => (days >= period ? (trips.length / days) * period : undefined)
  return [
    metric('trades', 'Trades', 'count', trips.length),
    metric('tradesPerDay', 'Trades a day', 'count', a(1)),
    metric('tradesPerWeek', 'Trades a week', 'count', a(7)),
    metric('tradesPerMonth', 'Trades in 30 days', 'count', a(30)),
    metric('mostOpenTrades', 'Open at once, at the most', 'count', mostOpen(trips)),
    metric('openTrades', 'Not sold at the end', 'count', open.length),
    metric('openProfit', 'Profit in them', 'SOL', sol(sum(open.map(netOf)))),
    metric('volume', 'Bought and sold', 'SOL', sol(volume)),
    metric('averageStake', 'Average stake', 'SOL', sol(mean(trips.map(({ boughtLamports }) => boughtLamports)))),
    metric('tradeFees', 'Network fees and rent', 'SOL', sol(sum(trips.map(({ feeLamports }) => feeLamports)))),
  ]
}

/** One that is closed in the instant in which another one is opened was not open beside it. */
function mostOpen(trips: readonly RoundTrip[]): number {
  const moves = trips.flatMap(({ openedAt, closedAt }) => [
    { time: openedAt, by: 1 },
    ...(closedAt === null ? [] : [{ time: closedAt, by: -1 }]),
  ])
  let open = 0
  let most = 0
  for (const { by } of moves.sort((one, other) => one.time - other.time || one.by - other.by)) {
    open += by
    most = Math.max(most, open)
  }
  return most
}

function outcomes({ trips }: MetricsInput): Metric[] {
  const nets = trips.map(netOf)
  const returns = trips.map(returnOf)
  const wins = nets.filter((net) => net > 0)
  const losses = nets.filter((net) => net < 0)
  const expectancy = mean(nets)
  const winLoss = ratio(mean(wins), mean(losses.map((loss) => -loss)))
  const winRate = ratio(wins.length, nets.length)
  const byToken = profitBy(trips, ({ mint }) => mint)
  const last = nets.at(-1) ?? 0
  const current = nets.length - 1 - nets.findLastIndex((net) => Math.sign(net) !== Math.sign(last))
  return [
    metric('winRate', 'Won', '%', percent(winRate)),
    metric('wins', 'Won', 'count', wins.length),
    metric('draws', 'Neither', 'count', nets.length - wins.length - losses.length),
    metric('losses', 'Lost', 'count', losses.length),
    metric('grossProfit', 'Sum of what was won', 'SOL', sol(sum(wins))),
    metric('grossLoss', 'Sum of what was lost', 'SOL', sol(sum(losses))),
    metric('profitFactor', 'Profit factor', 'ratio', ratio(sum(wins), -sum(losses))),
    metric('expectancy', 'Average trade', 'SOL', sol(expectancy)),
    metric('expectancyRatio', 'Expectancy ratio', 'ratio', expectancyRatio(winRate, winLoss)),
    metric('expectancyPercent', 'Average trade', '%', percent(mean(returns))),
    metric(
      'expectedPer100',
      'Expected of 100 trades',
      'SOL',
      sol(expectancy === undefined ? undefined : expectancy * 100),
    ),
    metric('medianTrade', 'Median trade', 'SOL', sol(quantile(nets, 0.5))),
    metric('medianReturn', 'Median trade', '%', percent(quantile(returns, 0.5))),
    metric('bestReturn', 'Best trade', '%', percent(quantile(returns, 1))),
    metric('worstReturn', 'Worst trade', '%', percent(quantile(returns, 0))),
    metric('averageWin', 'Average win', 'SOL', sol(mean(wins))),
    metric('averageLoss', 'Average loss', 'SOL', sol(mean(losses))),
    metric('averageWinReturn', 'Average win', '%', percent(mean(returns.filter((one) => one > 0)))),
    metric('averageLossReturn', 'Average loss', '%', percent(mean(returns.filter((one) => one < 0)))),
    metric('winLossRatio', 'Average win over average loss', 'ratio', winLoss),
    metric('bestTrade', 'Best trade', 'SOL', sol(quantile(nets, 1))),
    metric('worstTrade', 'Worst trade', 'SOL', sol(quantile(nets, 0))),
    metric('smallestWin', 'Smallest win', 'SOL', sol(quantile(wins, 0))),
    metric('smallestLoss', 'Smallest loss', 'SOL', sol(quantile(losses, 1))),
    metric('bestToken', 'Best token', 'mint', byToken.at(0)?.[0]),
    metric('worstToken', 'Worst token', 'mint', byToken.at(-1)?.[0]),
    metric(
      'longestWinning',
      'Longest row of wins',
      'count',
      longestRun(nets, (net) => net > 0),
    ),
    metric(
      'longestLosing',
      'Longest row of losses',
      'count',
      longestRun(nets, (net) => net < 0),
    ),
    metric('currentStreak', 'Row at the end, negative of losses', 'count', current * Math.sign(last)),
  ]
}

/** Sums by a name, best first. */
function profitBy(trips: readonly RoundTrip[], nameOf: (trip: RoundTrip) => string): [string, number][] {
  const sums = new Map<string, number>()
  for (const trip of trips) sums.set(nameOf(trip), (sums.get(nameOf(trip)) ?? 0) + netOf(trip))
  return [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
}

function expectancyRatio(winRate: number | undefined, winLoss: number | undefined): number | undefined {
  return winRate === undefined || winLoss === undefined ? undefined : (1 + winLoss) * winRate - 1
}

function durations({ trips, to }: MetricsInput): Metric[] {
  const held = (some: readonly RoundTrip[]): number[] =>
    some.map(({ openedAt, closedAt }) => ((closedAt ?? to) - openedAt) / 1000)
  const wins = held(trips.filter((trip) => netOf(trip) > 0))
  const losses = held(trips.filter((trip) => netOf(trip) < 0))
  return [
    metric('averageHolding', 'Held on average', 's', mean(held(trips))),
    metric('medianHolding', 'Held, median', 's', quantile(held(trips), 0.5)),
    metric('longestHolding', 'Held longest', 's', quantile(held(trips), 1)),
    metric('shortestHolding', 'Held shortest', 's', quantile(held(trips), 0)),
    metric('averageWinHolding', 'Held what was won', 's', mean(wins)),
    metric('shortestWinHolding', 'Held what was won, shortest', 's', quantile(wins, 0)),
    metric('longestWinHolding', 'Held what was won, longest', 's', quantile(wins, 1)),
    metric('averageLossHolding', 'Held what was lost', 's', mean(losses)),
    metric('shortestLossHolding', 'Held what was lost, shortest', 's', quantile(losses, 0)),
    metric('longestLossHolding', 'Held what was lost, longest', 's', quantile(losses, 1)),
  ]
}

/** How far the price went against a trade and for it while it was held. */
function excursions({ trips }: MetricsInput): Metric[] {
  const moves = trips.flatMap((trip) => {
    const move = excursionOf(trip)
    return move === undefined ? [] : [{ ...move, trip }]
  })
  const worst = (some: typeof moves): number[] => some.map((move) => move.worst)
  const best = (some: typeof moves): number[] => some.map((move) => move.best)
  const won = moves.filter(({ trip }) => netOf(trip) > 0)
  const lost = moves.filter(({ trip }) => netOf(trip) < 0)
  const givenBack = moves.map((move) => Math.max(0, move.best - returnOf(move.trip)))
  return [
    metric('averageAdverse', 'Price at its worst while held, average (MAE)', '%', percent(mean(worst(moves)))),
    metric('largestAdverse', 'Price at its worst while held, of all', '%', percent(quantile(worst(moves), 0))),
    metric('winAdverse', 'Price at its worst, of what was won', '%', percent(mean(worst(won)))),
    metric('averageFavorable', 'Price at its best while held, average (MFE)', '%', percent(mean(best(moves)))),
    metric('largestFavorable', 'Price at its best while held, of all', '%', percent(quantile(best(moves), 1))),
    metric('lossFavorable', 'Price at its best, of what was lost', '%', percent(mean(best(lost)))),
    metric('averageGivenBack', 'Of the best price not kept, average', '%', percent(mean(givenBack))),
  ]
}

function falls({ equity, startLamports }: MetricsInput): Metric[] {
  const fall = maxDrawdown(equity)
  const profit = (equity.lamports.at(-1) ?? startLamports) - startLamports
  return [
    metric('maxDrawdown', 'Deepest fall', 'SOL', sol(fall?.lamports ?? 0)),
    metric('maxDrawdownPercent', 'Deepest fall, of its high', '%', percent(fall?.share ?? 0)),
    metric('maxUnderwaterPercent', 'Furthest below a high', '%', percent(quantile(drawdowns(equity), 1) ?? 0)),
    metric('drawdownHigh', 'It began at', 'SOL', sol(fall?.highLamports)),
    metric('drawdownLow', 'It ended at', 'SOL', sol(fall?.lowLamports)),
    metric('drawdownFrom', 'It began', 'time', fall?.from),
    metric('drawdownTo', 'It ended', 'time', fall?.to),
    metric('drawdownSeconds', 'It took', 's', fall && (fall.to - fall.from) / 1000),
    metric('underwaterSeconds', 'Longest time below a high', 's', longestUnderwaterMs(equity) / 1000),
    metric('recoveryFactor', 'Net profit over deepest fall', 'ratio', ratio(profit, fall?.lamports)),
  ]
}

import { LAMPORTS_PER_SOL } from '../../base/units.ts'
import { returnOf } from '../../engine/accounting/round-trip.ts'
import { Facts, type MetricsInput } from './facts.ts'
import { isLoss, isWin, type Metric, type MetricSpec, type Unit } from './metric.ts'
import { RISK_METRICS } from './risk.ts'
import { mean, quantile, ratio, scaled, sum } from './statistics.ts'

/** All metrics by their keys: those that freqtrade, NautilusTrader and Jesse report for spot trades, and some that
 *  other programs report. */
export const METRICS: Readonly<Record<string, MetricSpec>> = {
  startBalance: { unit: 'SOL', label: 'Starting balance', formula: 'equity at the beginning', of: (f) => f.start },
  endBalance: {
    unit: 'SOL',
    label: 'Final equity, with open positions at their value',
    formula: 'equity at the end',
    of: (f) => f.end,
  },
  netProfit: { unit: 'SOL', label: 'Net profit', formula: '`endBalance` - `startBalance`', of: (f) => f.end - f.start },
  netProfitPercent: {
    ...{ unit: '%', label: 'Net profit', formula: '`netProfit` / `startBalance`' },
    of: (f) => ratio(f.end - f.start, f.start),
  },
  profitPerDay: {
    ...{
      unit: 'SOL',
      label: 'Net profit per day',
      formula: '`netProfit` / days of the tape; only for a tape of at least 1 day',
    },
    of: (f) => f.from(1, (f.end - f.start) / f.days),
  },
  minBalance: {
    ...{ unit: 'SOL', label: 'Lowest balance', formula: 'lowest equity' },
    of: (f) => f.lowest,
  },
  maxBalance: {
    ...{ unit: 'SOL', label: 'Highest balance', formula: 'highest equity' },
    of: (f) => f.highest,
  },

  trades: { unit: 'count', label: 'Trades', formula: 'number of trades', of: (f) => f.trips.length },
  tradesPerDay: {
    ...{
      unit: 'count',
      label: 'Trades per day',
      formula: 'trades / days of the tape; only for a tape of at least 1 day',
    },
    of: (f) => f.from(1, f.trips.length / f.days),
  },
  tradesPerWeek: {
    ...{ unit: 'count', label: 'Trades per week', formula: 'trades / days x 7; only for a tape of at least 7 days' },
    of: (f) => f.from(7, (f.trips.length / f.days) * 7),
  },
  tradesPerMonth: {
    ...{
      unit: 'count',
      label: 'Trades in 30 days',
      formula: 'trades / days x 30; only for a tape of at least 30 days',
    },
    of: (f) => f.from(30, (f.trips.length / f.days) * 30),
  },
  mostOpenTrades: {
    ...{
      unit: 'count',
      label: 'Most trades open at the same time',
      formula: 'highest number of trades open at the same time',
    },
    of: (f) => f.mostOpen,
  },
  openTrades: {
    ...{ unit: 'count', label: 'Trades open at the end', formula: 'trades that are still open at the end' },
    of: (f) => f.open.nets.length,
  },
  openProfit: {
    ...{ unit: 'SOL', label: 'Profit of open trades', formula: 'sum of the `net` of the open trades' },
    of: (f) => sum(f.open.nets),
  },
  volume: {
    ...{ unit: 'SOL', label: 'Volume', formula: 'sum of `bought` + `sold` of all trades' },
    of: (f) => f.sumOf('boughtLamports') + f.sumOf('soldLamports'),
  },
  averageStake: {
    ...{ unit: 'SOL', label: 'Average stake', formula: 'mean of bought' },
    of: (f) => ratio(f.sumOf('boughtLamports'), f.trips.length),
  },
  tradeFees: {
    ...{ unit: 'SOL', label: 'Network fees and rent', formula: 'sum of fees' },
    of: (f) => f.sumOf('feeLamports'),
  },

  winRate: {
    ...{ unit: '%', label: 'Win rate', formula: 'wins / trades' },
    of: (f) => ratio(f.wins.nets.length, f.trips.length),
  },
  wins: { unit: 'count', label: 'Wins', formula: 'trades with `net` above 0', of: (f) => f.wins.nets.length },
  draws: {
    ...{ unit: 'count', label: 'Draws', formula: 'trades with `net` equal to 0' },
    of: (f) => f.trips.length - f.wins.nets.length - f.losses.nets.length,
  },
  losses: { unit: 'count', label: 'Losses', formula: 'trades with `net` below 0', of: (f) => f.losses.nets.length },
  grossProfit: {
    ...{ unit: 'SOL', label: 'Gross profit', formula: 'sum of the `net` of the wins' },
    of: (f) => sum(f.wins.nets),
  },
  grossLoss: {
    ...{ unit: 'SOL', label: 'Gross loss', formula: 'sum of the `net` of the losses' },
    of: (f) => sum(f.losses.nets),
  },
  profitFactor: {
    ...{ unit: 'ratio', label: 'Profit factor', formula: '`grossProfit` / minus `grossLoss`' },
    of: (f) => ratio(sum(f.wins.nets), -sum(f.losses.nets)),
  },
  expectancy: { unit: 'SOL', label: 'Average trade', formula: 'mean of `net`', of: (f) => mean(f.all.nets) },
  expectancyRatio: {
    ...{ unit: 'ratio', label: 'Expectancy ratio', formula: '(1 + `winLossRatio`) x `winRate` - 1' },
    of: (f) => {
      const winRate = ratio(f.wins.nets.length, f.trips.length)
      const winLoss = winLossRatio(f)
      return winRate === undefined || winLoss === undefined ? undefined : (1 + winLoss) * winRate - 1
    },
  },
  expectancyPercent: { unit: '%', label: 'Average trade', formula: 'mean of return', of: (f) => mean(f.all.returns) },
  expectedPer100: {
    ...{ unit: 'SOL', label: 'Expected result of 100 trades', formula: '100 x `expectancy`' },
    of: (f) => scaled(mean(f.all.nets), 100),
  },
  medianTrade: { unit: 'SOL', label: 'Median trade', formula: 'median of `net`', of: (f) => quantile(f.all.nets, 0.5) },
  medianReturn: {
    ...{ unit: '%', label: 'Median trade', formula: 'median of return' },
    of: (f) => quantile(f.all.returns, 0.5),
  },
  bestReturn: { unit: '%', label: 'Best trade', formula: 'highest return', of: (f) => quantile(f.all.returns, 1) },
  worstReturn: { unit: '%', label: 'Worst trade', formula: 'lowest return', of: (f) => quantile(f.all.returns, 0) },
  averageWin: {
    ...{ unit: 'SOL', label: 'Average win', formula: 'mean of the `net` of the wins' },
    of: (f) => mean(f.wins.nets),
  },
  averageLoss: {
    ...{ unit: 'SOL', label: 'Average loss', formula: 'mean of the `net` of the losses' },
    of: (f) => mean(f.losses.nets),
  },
  averageWinReturn: {
    ...{ unit: '%', label: 'Average win', formula: 'mean of the returns above 0' },
    of: (f) => mean(f.all.returns.filter(isWin)),
  },
  averageLossReturn: {
    ...{ unit: '%', label: 'Average loss', formula: 'mean of the returns below 0' },
    of: (f) => mean(f.all.returns.filter(isLoss)),
  },
  winLossRatio: {
    ...{ unit: 'ratio', label: 'Average win / average loss', formula: '`averageWin` / minus `averageLoss`' },
    of: winLossRatio,
  },
  bestTrade: { unit: 'SOL', label: 'Best trade', formula: 'highest `net`', of: (f) => quantile(f.all.nets, 1) },
  worstTrade: { unit: 'SOL', label: 'Worst trade', formula: 'lowest `net`', of: (f) => quantile(f.all.nets, 0) },
  smallestWin: {
    ...{ unit: 'SOL', label: 'Smallest win', formula: 'lowest `net` of a win' },
    of: (f) => quantile(f.wins.nets, 0),
  },
  smallestLoss: {
    ...{ unit: 'SOL', label: 'Smallest loss', formula: '`net` of the loss nearest to 0' },
    of: (f) => quantile(f.losses.nets, 1),
  },
  bestToken: {
    ...{ unit: 'mint', label: 'Best token', formula: 'token with the highest sum of `net`' },
    of: (f) => f.byToken.at(0)?.[0],
  },
  worstToken: {
    ...{ unit: 'mint', label: 'Worst token', formula: 'token with the lowest sum of `net`' },
    of: (f) => f.byToken.at(-1)?.[0],
  },
  longestWinning: {
    ...{ unit: 'count', label: 'Longest winning streak', formula: 'most wins in a row' },
    of: (f) => f.longest(isWin),
  },
  longestLosing: {
    ...{ unit: 'count', label: 'Longest losing streak', formula: 'most losses in a row' },
    of: (f) => f.longest(isLoss),
  },
  currentStreak: {
    ...{ unit: 'count', label: 'Streak at the end, negative for losses' },
    ...{ formula: 'length of the streak at the end; negative for losses' },
    of: (f) => f.streak,
  },

  averageHolding: {
    ...{
      unit: 's',
      label: 'Average holding time',
      formula: 'mean time from the opening to the close, or to the end of the tape',
    },
    of: (f) => mean(f.all.seconds),
  },
  medianHolding: {
    ...{ unit: 's', label: 'Median holding time', formula: 'median of the holding times' },
    of: (f) => quantile(f.all.seconds, 0.5),
  },
  longestHolding: {
    ...{ unit: 's', label: 'Longest holding time', formula: 'longest holding time' },
    of: (f) => quantile(f.all.seconds, 1),
  },
  shortestHolding: {
    ...{ unit: 's', label: 'Shortest holding time', formula: 'shortest holding time' },
    of: (f) => quantile(f.all.seconds, 0),
  },
  averageWinHolding: {
    ...{ unit: 's', label: 'Average holding time of wins', formula: 'mean holding time of the wins' },
    of: (f) => mean(f.wins.seconds),
  },
  shortestWinHolding: {
    ...{ unit: 's', label: 'Shortest holding time of wins', formula: 'shortest holding time of the wins' },
    of: (f) => quantile(f.wins.seconds, 0),
  },
  longestWinHolding: {
    ...{ unit: 's', label: 'Longest holding time of wins', formula: 'longest holding time of the wins' },
    of: (f) => quantile(f.wins.seconds, 1),
  },
  averageLossHolding: {
    ...{ unit: 's', label: 'Average holding time of losses', formula: 'mean holding time of the losses' },
    of: (f) => mean(f.losses.seconds),
  },
  shortestLossHolding: {
    ...{ unit: 's', label: 'Shortest holding time of losses', formula: 'shortest holding time of the losses' },
    of: (f) => quantile(f.losses.seconds, 0),
  },
  longestLossHolding: {
    ...{ unit: 's', label: 'Longest holding time of losses', formula: 'longest holding time of the losses' },
    of: (f) => quantile(f.losses.seconds, 1),
  },

  averageAdverse: {
    ...{ unit: '%', label: 'Average adverse excursion (MAE)', formula: 'mean of *worst*' },
    of: (f) => mean(f.moves.map(({ worst }) => worst)),
  },
  largestAdverse: {
    ...{ unit: '%', label: 'Largest adverse excursion', formula: 'lowest *worst* of a trade' },
    of: (f) => quantile(worstOf(f), 0),
  },
  winAdverse: {
    ...{ unit: '%', label: 'Average adverse excursion of wins' },
    ...{ formula: 'mean of *worst* of the winning trades; a stop-loss should be wider than this' },
    of: (f) => mean(f.moveOfWins.map(({ worst }) => worst)),
  },
  averageFavorable: {
    ...{ unit: '%', label: 'Average favorable excursion (MFE)', formula: 'mean of *best*' },
    of: (f) => mean(bestOf(f)),
  },
  largestFavorable: {
    ...{ unit: '%', label: 'Largest favorable excursion', formula: 'highest *best* of a trade' },
    of: (f) => quantile(bestOf(f), 1),
  },
  lossFavorable: {
    ...{ unit: '%', label: 'Average favorable excursion of losses' },
    ...{ formula: 'mean of *best* of the losing trades: the profit that an earlier sale could have made' },
    of: (f) => mean(f.moveOfLosses.map(({ best }) => best)),
  },
  averageGivenBack: {
    ...{
      unit: '%',
      label: 'Average profit given back',
      formula: 'mean over the trades of max(0, *best* - `return`)',
    },
    of: (f) => mean(f.moves.map(({ best, trip }) => Math.max(0, best - returnOf(trip)))),
  },

  ...RISK_METRICS,
}

function winLossRatio({ wins, losses }: Facts): number | undefined {
  return ratio(mean(wins.nets), mean(losses.nets.map((loss) => -loss)))
}

const worstOf = ({ moves }: Facts): number[] => moves.map(({ worst }) => worst)
const bestOf = ({ moves }: Facts): number[] => moves.map(({ best }) => best)

export function metricsOf(input: MetricsInput): Metric[] {
  const facts = new Facts(input)
  return Object.entries(METRICS).map(([key, { label, unit, of }]) => ({
    ...{ key, label, unit },
    value: shown(unit, of(facts)),
  }))
}

function shown(unit: Unit, value: number | string | undefined): number | string | null {
  if (typeof value === 'string') return value
  if (value === undefined || !Number.isFinite(value)) return null
  return unit === 'SOL' ? value / LAMPORTS_PER_SOL : unit === '%' ? value * 100 : value
}

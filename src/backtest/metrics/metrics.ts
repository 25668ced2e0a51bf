import { LAMPORTS_PER_SOL } from '../../base/units.ts'
import { returnOf } from '../../engine/accounting/round-trip.ts'
import { fallOf, shareOf } from '../drawdowns.ts'
import { Facts, type MetricsInput } from './facts.ts'
import { calmar, growthPerYear, omega, probabilisticSharpe, serenity } from './risk.ts'
import { deviation, downsideDeviation, excessKurtosis, mean, quantile, ratio, skewness, sum } from './statistics.ts'

export type Unit = 'SOL' | '%' | 'count' | 's' | 'ratio' | 'time' | 'mint'

/** A metric of a report. The key is its name in report.json and docs/metrics.md. The value is null if the formula has
 *  no result, or if there are too few trades or days. */
export interface Metric {
  readonly key: string
  readonly label: string
  readonly unit: Unit
  readonly value: number | string | null
}

interface MetricSpec {
  readonly unit: Unit
  /** Name of the metric in the report. */
  readonly label: string
  /** The formula as docs/metrics.md states it, in the table row of this metric. */
  readonly formula: string
  /** Computes the metric, in lamports if the unit is SOL, and as a share of 1 if the unit is %. */
  readonly of: (facts: Facts) => number | string | undefined
}

const isWin = (net: number): boolean => net > 0
const isLoss = (net: number): boolean => net < 0
const YEAR = Math.sqrt(365)
const scaled = (value: number | undefined, by: number): number | undefined =>
  value === undefined ? undefined : value * by

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

  maxDrawdown: {
    ...{
      unit: 'SOL',
      label: 'Maximum drawdown',
      formula: 'largest fall of the equity, or of the balance of closed trades, from a high to a later low',
    },
    of: (f) => (f.drawdown === undefined ? 0 : fallOf(f.drawdown)),
  },
  maxDrawdownPercent: {
    ...{
      unit: '%',
      label: 'Maximum drawdown, percent of the high before it',
      formula: '`maxDrawdown` / `drawdownHigh`',
    },
    of: (f) => (f.drawdown === undefined ? 0 : shareOf(f.drawdown)),
  },
  maxUnderwaterPercent: {
    ...{ unit: '%', label: 'Largest fall, percent of the high before it' },
    ...{
      formula:
        'largest fall as a share of the high before it: the larger of the falls of the equity and of the balance of closed trades; it may differ from the largest fall in SOL',
    },
    of: (f) => f.underwaterShare,
  },
  drawdownHigh: {
    ...{
      unit: 'SOL',
      label: 'Maximum drawdown, high',
      formula: 'the high from which the equity, or the balance of closed trades, fell by `maxDrawdown`',
    },
    of: (f) => f.drawdown?.high.lamports,
  },
  drawdownLow: {
    ...{ unit: 'SOL', label: 'Maximum drawdown, low', formula: 'the low at which `maxDrawdown` ended' },
    of: (f) => f.drawdown?.low.lamports,
  },
  drawdownFrom: {
    ...{ unit: 'time', label: 'Maximum drawdown, start', formula: 'time of `drawdownHigh`' },
    of: (f) => f.drawdown?.high.time,
  },
  drawdownTo: {
    ...{ unit: 'time', label: 'Maximum drawdown, end', formula: 'time of `drawdownLow`' },
    of: (f) => f.drawdown?.low.time,
  },
  drawdownSeconds: {
    ...{ unit: 's', label: 'Maximum drawdown, duration', formula: '`drawdownTo` - `drawdownFrom`' },
    of: (f) => f.drawdown && (f.drawdown.low.time - f.drawdown.high.time) / 1000,
  },
  underwaterSeconds: {
    ...{ unit: 's', label: 'Longest time below a high' },
    ...{
      formula:
        'longest time that the equity, or the balance of closed trades, takes from a high to the next high or to the end of the tape',
    },
    of: (f) => f.underwaterSeconds,
  },
  recoveryFactor: {
    ...{ unit: 'ratio', label: 'Recovery factor', formula: '`netProfit` / `maxDrawdown`' },
    of: (f) => ratio(f.end - f.start, f.drawdown && fallOf(f.drawdown)),
  },

  returnDeviation: {
    ...{ unit: '%', label: 'Standard deviation of a trade', formula: 'sample deviation of the returns (n - 1)' },
    of: (f) => deviation(f.all.returns),
  },
  returnSkewness: {
    ...{ unit: 'ratio', label: 'Skewness of the trades', formula: 'third standardized moment of the returns' },
    of: (f) => skewness(f.all.returns),
  },
  returnKurtosis: {
    ...{ unit: 'ratio', label: 'Excess kurtosis of the trades' },
    ...{ formula: 'fourth standardized moment of the returns, less 3' },
    of: (f) => excessKurtosis(f.all.returns),
  },
  valueAtRisk95: {
    ...{ unit: '%', label: 'Value at risk of a trade, 95 %', formula: '5 % quantile of the returns' },
    of: (f) => quantile(f.all.returns, 0.05),
  },
  omega: {
    ...{ unit: 'ratio', label: 'Omega ratio of the trades, threshold 0' },
    ...{ formula: 'sum of the returns above 0 / absolute sum of the returns below 0' },
    of: (f) => omega(f.all.returns),
  },
  sharpePerTrade: {
    ...{ unit: 'ratio', label: 'Sharpe ratio of a trade', formula: '`expectancyPercent` / `returnDeviation`' },
    of: sharpePerTrade,
  },
  sortinoPerTrade: {
    ...{ unit: 'ratio', label: 'Sortino ratio of a trade' },
    ...{ formula: '`expectancyPercent` / root of the mean square of the returns below 0' },
    of: (f) => ratio(mean(f.all.returns), downsideDeviation(f.all.returns)),
  },
  sqn: {
    ...{ unit: 'ratio', label: 'System quality number', formula: '`sharpePerTrade` x root of the number of trades' },
    of: (f) => scaled(sharpePerTrade(f), Math.sqrt(f.trips.length)),
  },
  probabilisticSharpe: {
    ...{ unit: '%', label: 'Probability that the true Sharpe ratio is above 0' },
    formula:
      'Bailey and Lopez de Prado: normal(S x root(n - 1) / root(1 - skewness x S + (kurtosis + 2) / 4 x S x S)), ' +
      'S = `sharpePerTrade`, excess kurtosis',
    of: (f) => probabilisticSharpe(f.all.returns, sharpePerTrade(f)),
  },
  winningDays: {
    ...{ unit: 'count', label: 'Winning days', formula: 'days whose equity ends above the equity of the previous day' },
    of: (f) => f.dailyChanges.filter(isWin).length,
  },
  drawDays: {
    ...{ unit: 'count', label: 'Flat days', formula: 'days whose equity ends equal to the equity of the previous day' },
    of: (f) => f.dailyChanges.filter((change) => change === 0).length,
  },
  losingDays: {
    ...{ unit: 'count', label: 'Losing days', formula: 'days whose equity ends below the equity of the previous day' },
    of: (f) => f.dailyChanges.filter(isLoss).length,
  },
  bestDay: {
    ...{ unit: 'SOL', label: 'Best day', formula: 'largest daily change of the equity' },
    of: (f) => quantile(f.dailyChanges, 1),
  },
  worstDay: {
    ...{ unit: 'SOL', label: 'Worst day', formula: 'smallest daily change of the equity' },
    of: (f) => quantile(f.dailyChanges, 0),
  },
  volatility: {
    ...{ unit: '%', label: 'Volatility per year', formula: 'deviation of the daily returns x root of 365' },
    of: (f) => f.yearly(scaled(deviation(f.dailyReturns), YEAR)),
  },
  sharpe: {
    ...{
      unit: 'ratio',
      label: 'Sharpe ratio per year',
      formula: 'mean / deviation of the daily returns x root of 365',
    },
    of: (f) => f.yearly(scaled(ratio(mean(f.dailyReturns), deviation(f.dailyReturns)), YEAR)),
  },
  sortino: {
    ...{ unit: 'ratio', label: 'Sortino ratio per year' },
    ...{ formula: 'mean / downside deviation of the daily returns x root of 365' },
    of: (f) => f.yearly(scaled(ratio(mean(f.dailyReturns), downsideDeviation(f.dailyReturns)), YEAR)),
  },
  cagr: {
    ...{ unit: '%', label: 'Growth per year', formula: '(`endBalance` / `startBalance`) ^ (365 / days) - 1' },
    of: (f) => f.yearly(growthPerYear(f)),
  },
  calmar: {
    ...{ unit: 'ratio', label: 'Calmar ratio', formula: '`cagr` / `maxUnderwaterPercent`' },
    of: (f) => f.yearly(calmar(f)),
  },
  serenity: {
    ...{ unit: 'ratio', label: 'Serenity index' },
    formula:
      'KeyQuant, as in Jesse: sum of the daily returns / (ulcer index x pitfall). A fall is (high - close) / high of ' +
      'a day, the starting balance included; ulcer index: root of (sum of the squared falls / (days - 1)); pitfall: ' +
      'mean of the deepest 5 % of the falls (at least one fall) / standard deviation of the daily returns',
    of: (f) => f.yearly(serenity(f)),
  },
}

function winLossRatio({ wins, losses }: Facts): number | undefined {
  return ratio(mean(wins.nets), mean(losses.nets.map((loss) => -loss)))
}

function sharpePerTrade({ all }: Facts): number | undefined {
  return ratio(mean(all.returns), deviation(all.returns))
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

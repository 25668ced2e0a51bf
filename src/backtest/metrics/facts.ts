import { DAY, type Millis } from '../../base/units.ts'
import { excursionOf, netOf, type RoundTrip, returnOf } from '../../engine/accounting/round-trip.ts'
import { type Drawdown, Drawdowns, fallOf } from '../drawdowns.ts'
import type { Equity } from '../equity.ts'
import { longestRun, sum } from './statistics.ts'

export interface MetricsInput {
  readonly from: Millis
  readonly to: Millis
  readonly startLamports: number
  readonly trips: readonly RoundTrip[]
  readonly equity: Equity
}

const LEAST_DAYS = 30
const LEAST_TRADES = 100

/** Numbers about a set of trades: net results (lamports), returns (shares) and holding times (seconds). */
export interface Trades {
  readonly nets: readonly number[]
  readonly returns: readonly number[]
  readonly seconds: readonly number[]
}

/** Numbers that several metrics use, computed once. Units are lamports, shares and seconds. */
export class Facts {
  readonly trips: readonly RoundTrip[]
  readonly days: number
  readonly start: number
  readonly end: number
  readonly lowest: number
  readonly highest: number
  readonly all: Trades
  readonly wins: Trades
  readonly losses: Trades
  readonly open: Trades
  /** The deeper of two drawdowns: that of the equity, and that of the balance of the closed trades. In the equity, the
   *  gain of an open position can hide the loss of a closed trade. The balance does not contain the losses of open
   *  positions. */
  readonly drawdown: Drawdown | undefined
  /** Largest fall of the equity, or of the balance of the closed trades, below its earlier high, as a share of that
   *  high. `underwaterSeconds`: the longest time below an earlier high. */
  readonly underwaterShare: number
  readonly underwaterSeconds: number
  /** Change of the equity on each day, lamports. `dailyReturns`: these changes as shares of the day's first equity. */
  readonly dailyChanges: readonly number[]
  readonly dailyReturns: readonly number[]
  /** Difference between the highest daily close so far and the close of each day, as a share of that highest close.
   *  Before the first day, the highest close is the starting equity. */
  readonly dailyFalls: readonly number[]
  /** Excursions of the trades whose prices are known. */
  readonly moves: readonly Move[]

  constructor({ from, to, startLamports, trips, equity }: MetricsInput) {
    const tradesOf = (some: readonly RoundTrip[]): Trades => ({
      nets: some.map(netOf),
      returns: some.map(returnOf),
      seconds: some.map(({ openedAt, closedAt }) => ((closedAt ?? to) - openedAt) / 1000),
    })
    this.trips = trips
    this.days = (to - from) / DAY
    this.start = startLamports
    this.lowest = Math.min(this.start, equity.low)
    this.highest = Math.max(this.start, equity.high)
    this.end = equity.end ?? this.start
    this.all = tradesOf(trips)
    this.wins = tradesOf(trips.filter((trip) => netOf(trip) > 0))
    this.losses = tradesOf(trips.filter((trip) => netOf(trip) < 0))
    this.open = tradesOf(trips.filter(({ closedAt }) => closedAt === null))
    const curves = [equity.drawdowns, closedDrawdowns(trips, from, startLamports)]
    const deepest = curves.flatMap(({ deepest }) => deepest ?? []).sort((one, other) => fallOf(other) - fallOf(one))
    this.drawdown = deepest[0]
    this.underwaterShare = Math.max(...curves.map(({ largestShare }) => largestShare))
    this.underwaterSeconds = Math.max(...curves.map(({ longestMs }) => longestMs)) / 1000
    const days = dailyReturns(equity, startLamports)
    this.dailyChanges = days.map(({ lamports }) => lamports)
    this.dailyReturns = days.map(({ share }) => share)
    this.dailyFalls = days.map(({ fall }) => fall)
    this.moves = trips.flatMap((trip) => {
      const move = excursionOf(trip)
      return move === undefined ? [] : [{ ...move, trip }]
    })
  }

  /** Returns `value` if the tape has at least `days` days; else undefined. */
  from(days: number, value: number): number | undefined {
    return this.days >= days ? value : undefined
  }

  /** Returns `value` if the tape has at least 30 days and 100 trades; else undefined, because a yearly value would be
   *  meaningless with less data. */
  yearly(value: number | undefined): number | undefined {
    return this.days >= LEAST_DAYS && this.trips.length >= LEAST_TRADES ? value : undefined
  }

  get moveOfWins(): readonly Move[] {
    return this.moves.filter(({ trip }) => netOf(trip) > 0)
  }

  get moveOfLosses(): readonly Move[] {
    return this.moves.filter(({ trip }) => netOf(trip) < 0)
  }

  /** Net result of each token, lamports, best token first. */
  get byToken(): [mint: string, net: number][] {
    const sums = new Map<string, number>()
    for (const trip of this.trips) sums.set(trip.mint, (sums.get(trip.mint) ?? 0) + netOf(trip))
    return [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  }

  /** Largest number of trades that were open at the same time. A trade that closes when another one opens does not
   *  overlap it. */
  get mostOpen(): number {
    const moves = this.trips.flatMap(({ openedAt, closedAt }) => [
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

  longest(passes: (net: number) => boolean): number {
    return longestRun(this.all.nets, passes)
  }

  /** Length of the streak of wins at the end; negative for a streak of losses. */
  get streak(): number {
    const { nets } = this.all
    const last = nets.at(-1) ?? 0
    return (nets.length - 1 - nets.findLastIndex((net) => Math.sign(net) !== Math.sign(last))) * Math.sign(last)
  }

  sumOf(field: 'boughtLamports' | 'soldLamports' | 'feeLamports'): number {
    return sum(this.trips.map((trip) => trip[field]))
  }
}

export interface Move {
  readonly worst: number
  readonly best: number
  readonly trip: RoundTrip
}

/** Returns the drawdowns of a balance that only closed trades change. */
function closedDrawdowns(trips: readonly RoundTrip[], from: Millis, startLamports: number): Drawdowns {
  const drawdowns = new Drawdowns()
  let lamports = startLamports
  drawdowns.take({ index: 0, time: from, lamports })
  const closed = trips.flatMap((trip) => (trip.closedAt === null ? [] : [{ at: trip.closedAt, net: netOf(trip) }]))
  for (const [index, { at, net }] of closed.sort((one, other) => one.at - other.at).entries()) {
    lamports += net
    drawdowns.take({ index: index + 1, time: at, lamports })
  }
  return drawdowns
}

function dailyReturns({ dailyCloses }: Equity, startLamports: number) {
  let before = startLamports
  let high = startLamports
  return dailyCloses.map((close) => {
    const lamports = close - before
    const share = before > 0 ? lamports / before : 0
    before = close
    high = Math.max(high, close)
    return { lamports, share, fall: high > 0 ? (high - close) / high : 0 }
  })
}

import { DAY, type Millis } from '../../base/units.ts'
import { excursionOf, netOf, type RoundTrip, returnOf } from '../../engine/accounting/round-trip.ts'
import type { Equity } from '../equity.ts'
import { type Drawdown, Falls, fallOf } from '../falls.ts'
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

/** Trades with their nets (lamports), returns (shares) and holding times (seconds). */
export interface Trades {
  readonly nets: readonly number[]
  readonly returns: readonly number[]
  readonly seconds: readonly number[]
}

/** Numbers that several metrics share, computed once. Lamports, shares and seconds. */
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
  /** The deeper one of the marked equity and of the closed trades: the gain of an open position can hide the loss of a
   *  closed one, and the loss of an open one can hide the gain that a later trade loses. */
  readonly drawdown: Drawdown | undefined
  /** Largest fall below an earlier high as a share of it, and the longest time below one; of both curves too. */
  readonly underwaterShare: number
  readonly underwaterSeconds: number
  /** Change of the equity of each day, lamports and as a share of the equity at its beginning. */
  readonly dailyChanges: readonly number[]
  readonly dailyReturns: readonly number[]
  /** Distance of each day's close below the highest one before it, as a share of that; the first day's is the start. */
  readonly dailyFalls: readonly number[]
  /** Excursions of the trades with a known price. */
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
    const curves = [equity.falls, closedFalls(trips, from, startLamports)]
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

  /** undefined unless the tape has at least `days` days. */
  from(days: number, value: number): number | undefined {
    return this.days >= days ? value : undefined
  }

  /** undefined before 30 days and 100 trades: a figure for a year would mean nothing. */
  yearly(value: number | undefined): number | undefined {
    return this.days >= LEAST_DAYS && this.trips.length >= LEAST_TRADES ? value : undefined
  }

  get moveOfWins(): readonly Move[] {
    return this.moves.filter(({ trip }) => netOf(trip) > 0)
  }

  get moveOfLosses(): readonly Move[] {
    return this.moves.filter(({ trip }) => netOf(trip) < 0)
  }

  /** Sum of net by token, lamports, best first. */
  get byToken(): [mint: string, net: number][] {
    const sums = new Map<string, number>()
    for (const trip of this.trips) sums.set(trip.mint, (sums.get(trip.mint) ?? 0) + netOf(trip))
    return [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  }

  /** Most trades open at once. A trade that closes at the instant another one opens does not overlap it. */
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

  /** Length of the streak at the end; negative for losses. */
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

/** Falls of the balance that closed trades alone make. */
function closedFalls(trips: readonly RoundTrip[], from: Millis, startLamports: number): Falls {
  const falls = new Falls()
  let lamports = startLamports
  falls.take({ index: 0, time: from, lamports })
  const closed = trips.flatMap((trip) => (trip.closedAt === null ? [] : [{ at: trip.closedAt, net: netOf(trip) }]))
  for (const [index, { at, net }] of closed.sort((one, other) => one.at - other.at).entries()) {
    lamports += net
    falls.take({ index: index + 1, time: at, lamports })
  }
  return falls
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

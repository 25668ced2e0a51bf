import type { Json } from '../../base/json.ts'
import type { Millis } from '../../base/units.ts'
import type { FillModel } from '../../engine/accounting/fill-assumptions.ts'
import { excursionOf, netOf, type RoundTrip } from '../../engine/accounting/round-trip.ts'
import type { TradeSide } from '../../market/block.ts'
import type { BotLog, FillMark } from '../bot-log.ts'
import type { BotResult } from '../bot-result.ts'
import { type CostTable, costsOf } from '../bot-result.ts'
import type { Equity } from '../equity.ts'
import {
  type Group,
  groupsOf,
  kindOf,
  periodsOf,
  splitInTime,
  type TagGroups,
  tagGroupsOf,
  withoutBest,
  zeroShareOf,
} from '../metrics/groups.ts'
import type { Metric } from '../metrics/metric.ts'
import { metricsOf } from '../metrics/metrics.ts'
import { type PlanUse, planUseOf } from '../metrics/plan-use.ts'

export interface BotReportInput {
  readonly strategy: string
  readonly params: Json
  readonly result: BotResult
  readonly startLamports: number
  readonly valueLamports: number
  readonly depth: (Omit<DepthReport, 'upperSol'> & { readonly upperLamports: number }) | undefined
  readonly equity: Equity
  readonly from: Millis
  readonly to: Millis
  readonly requestsPerMinute: number
  /** The bot's fill model, if it differs from that of the report. */
  readonly ownModel?: FillModel | undefined
}

/** A trade, with amounts in SOL. */
export interface TripRow {
  readonly mint: string
  readonly openedAt: Millis
  readonly closedAt: Millis | null
  readonly entryReason: string
  readonly exitReason: string
  readonly entryTag: string
  readonly exitTag: string
  readonly boughtSol: number
  readonly soldSol: number
  readonly feesSol: number
  readonly valueSol: number
  readonly netSol: number
  /** Lowest robust price during the trade, relative to the price paid per token. `bestPercent`: the highest. Both are
   *  null if no price is known. */
  readonly worstPercent: number | null
  readonly bestPercent: number | null
}

/** A fill for a chart. Amounts are in SOL, the price is in SOL per token. */
export interface FillRow {
  readonly mint: string
  readonly side: TradeSide
  readonly time: Millis
  readonly price: number
  readonly sol: number
  readonly reason: string
}

/** How much the fills depend on estimated pool depths. */
export interface DepthReport {
  /** Number of fills on a token's bonding curve, whose depth is computed from the price. `assumedFills`: sales into
   *  pools of unknown depth. `estimatedFills`: fills in pools whose depth is estimated from prints. */
  readonly curveFills: number
  readonly assumedFills: number
  readonly estimatedFills: number
  /** For a fill at an estimated depth: the upper quartile of the depth estimates divided by the lower one, at which
   *  orders are filled. This is the geometric mean over these fills; null if there are none. */
  readonly spread: number | null
  /** Amount by which the proceeds of the estimated fills would be higher if each depth were the upper quartile of its
   *  estimates. */
  readonly upperSol: number
}

/** Report of one bot of the backtest. */
export interface BotReport extends CostTable, TagGroups {
  readonly name: string
  readonly strategy: string
  readonly params: Json
  /** Numbers in the fill model of the bot that differ from `fillModel` of the whole report. */
  readonly fillModel?: Partial<FillModel>
  readonly startSol: number
  readonly orders: number
  readonly buys: number
  readonly sells: number
  /** Number of orders that ended without a fill, by reason. `refused`: number of requests that became no orders, by
   *  reason. */
  readonly notFilled: Readonly<Record<string, number>>
  readonly refused: Readonly<Record<string, number>>
  readonly withoutBest: readonly { readonly tokens: number; readonly netSol: number }[]
  /** Percentage of all trades that ended as total losses. */
  readonly endedAtZeroPercent: number | null
  /** Number of buys that were decided but not filled, by reason. */
  readonly missedEntries: Readonly<Record<string, number>>
  readonly inSample: Group
  readonly holdOut: Group
  readonly plan: PlanUse
  readonly depth: DepthReport
  readonly metrics: readonly Metric[]
  readonly byEntry: readonly Group[]
  readonly byExit: readonly Group[]
  /** Trades grouped by the pair of their reasons: reason of the entry and reason of the exit. */
  readonly byReasons: readonly Group[]
  readonly byToken: readonly Group[]
  /** Trades grouped by the UTC day on which they were opened, in order. The next three fields group them by week (named
   *  after its Monday), by month and by weekday. */
  readonly byDay: readonly Group[]
  readonly byWeek: readonly Group[]
  readonly byMonth: readonly Group[]
  readonly byWeekday: readonly Group[]
  readonly trips: readonly TripRow[]
  readonly fills: readonly FillRow[]
  /** Points of the equity curve in order: time in ms, and equity in SOL. The tape's time is divided into equal steps;
   *  the curve contains the lowest and the highest sample of each step. */
  readonly equity: readonly (readonly [Millis, number])[]
}

/** Report of one bot. The backtest of `input.result` must have been run with `logged`. */
export function botReport(input: BotReportInput): BotReport {
  const { result, startLamports, valueLamports, from, to, equity } = input
  const { log } = result
  if (log === undefined) throw new Error(`no log of bot ${result.name}`)
  const { trips, strayFeeLamports } = log.money
  return {
    name: result.name,
    strategy: input.strategy,
    params: input.params,
    ...(input.ownModel !== undefined && { fillModel: input.ownModel }),
    startSol: startLamports / 1e9,
    ...costsOf(result.walletLamports + valueLamports, result.fees),
    orders: result.orders,
    buys: result.buys,
    sells: result.sells,
    notFilled: mostFirst(result.ended),
    refused: mostFirst(result.refused),
    withoutBest: [1, 3, 5].map((tokens) => ({
      tokens,
      netSol: withoutBest(trips, tokens) - strayFeeLamports / 1e9,
    })),
    endedAtZeroPercent: trips.length === 0 ? null : zeroShareOf(trips) * 100,
    missedEntries: mostFirst(missedOf(log)),
    ...splitInTime(trips, from, to),
    plan: planUseOf(log, input.requestsPerMinute),
    depth: depthReport(input.depth),
    metrics: metricsOf({ from, to, startLamports, trips, equity }),
    byEntry: groupsOf(trips, entryKind),
    byExit: groupsOf(trips, exitKind),
    byReasons: groupsOf(trips, (trip) => `${entryKind(trip)}, then ${exitKind(trip)}`),
    ...tagGroupsOf(trips),
    byToken: groupsOf(trips, ({ mint }) => mint),
    ...periodsOf(trips),
    trips: trips.map(tripRow),
    fills: log.fills.map(fillRow),
    equity: equity.curve.map(({ time, lamports }) => [time, lamports / 1e9]),
  }
}

function depthReport(depth: BotReportInput['depth']): DepthReport {
  if (depth === undefined) return { curveFills: 0, assumedFills: 0, estimatedFills: 0, spread: null, upperSol: 0 }
  const { curveFills, assumedFills, estimatedFills, spread, upperLamports } = depth
  return { curveFills, assumedFills, estimatedFills, spread, upperSol: upperLamports / 1e9 }
}

function missedOf({ orders }: BotLog): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { side, state, code } of orders.values())
    if (side === 'buy' && state !== 'filled') counts.set(code || state, (counts.get(code || state) ?? 0) + 1)
  return counts
}

const entryKind = ({ entryReason }: RoundTrip): string => kindOf(entryReason)
const exitKind = ({ exitReason }: RoundTrip): string => (exitReason === '' ? 'not sold' : kindOf(exitReason))

function tripRow(trip: RoundTrip): TripRow {
  const excursion = excursionOf(trip)
  const { mint, openedAt, closedAt, entryReason, exitReason, entryTag, exitTag } = trip
  return {
    ...{ mint, openedAt, closedAt, entryReason, exitReason, entryTag, exitTag },
    boughtSol: trip.boughtLamports / 1e9,
    soldSol: trip.soldLamports / 1e9,
    feesSol: trip.feeLamports / 1e9,
    valueSol: trip.valueLamports / 1e9,
    netSol: netOf(trip) / 1e9,
    worstPercent: excursion === undefined ? null : excursion.worst * 100,
    bestPercent: excursion === undefined ? null : excursion.best * 100,
  }
}

function fillRow({ mint, side, time, price, lamports, reason }: FillMark): FillRow {
  return { mint, side, time, price, sol: lamports / 1e9, reason }
}

function mostFirst(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)))
}

import { type Lamports, lamportsToSol, type Millis, wholeTokens } from '../base/units.ts'
import { isUnsellable, type Position, sellingText } from '../engine/accounting/position.ts'
import type { BotSettings, Plan } from '../engine/settings.ts'
import type { PositionRow } from '../journal/reader/reader.ts'
import type { TradeSide } from '../market/block.ts'
import type { Budget } from '../orders/budget-status.ts'
import type { EntryStop } from './entry-stops.ts'
import type { LiveStats } from './live-stats.ts'
import type { UndecidedStatus } from './undecided.ts'

/** State of running bots, which the live table and `sluice status` show. Plain JSON. */
export interface Status extends Health {
  readonly startedAt: Millis
  readonly time: Millis
  /** Number of market rows since this start; all counts below also begin at this start. */
  readonly rows: number
  readonly orders: number
  readonly fills: number
  /** Reasons for which bots open no positions; empty if entries are allowed. */
  readonly stops: readonly EntryStop[]
  /** Orders in doubt for more than a minute. */
  readonly undecided: readonly UndecidedStatus[]
  readonly bots: readonly BotStatus[]
  /** Positions that are not closed, oldest first. */
  readonly positions: readonly PositionStatus[]
  /** The last fills, newest first. */
  readonly lastFills: readonly FillStatus[]
}

/** State of the process that concerns all bots. */
export interface Health {
  readonly feed: string
  readonly reconnects: number
  readonly plan: Plan
  /** Reason for which the limits of the plan are unknown; '' if they are known. */
  readonly planNotice: string
  readonly requests: Budget
  /** Problems of the files with filter lists. The last valid list stays in use. */
  readonly brokenLists: readonly string[]
  /** Decision time per market row, microseconds. */
  readonly decisionUs: { readonly p50: number; readonly p99: number }
}

export interface BotStatus {
  readonly name: string
  readonly mode: string
  readonly executor: string
  readonly positions: number
  readonly openOrders: number
  readonly realizedSol: number
  readonly feesSol: number
  /** The last action of the bot, which may contain text of a third party; null if there was none. */
  readonly last: { readonly time: Millis; readonly text: string } | null
}

export interface PositionStatus extends PositionRow {
  readonly openedAt: Millis
  /** Whether the position seems to be unsellable. */
  readonly unsellable: boolean
}

export interface FillStatus {
  readonly time: Millis
  readonly bot: string
  readonly side: TradeSide
  readonly mint: string
  readonly sol: number
  readonly final: boolean
  readonly signature: string
}

const LAST_FILLS = 6

/** The parts of a LiveWorld from which a status is read. */
export interface WatchedWorld {
  readonly feed: { readonly state: string; readonly counts: { readonly losses: number } }
  readonly limiter: { status(): Budget }
  readonly planNotice: string
  readonly decisionTime: { p50(): number; p99(): number }
  readonly lists: { readonly broken: ReadonlyMap<string, string> }
  plan(): Plan
}

export interface StatusParts {
  readonly bots: readonly BotSettings[]
  readonly stats: LiveStats
  readonly world: WatchedWorld
  /** Returns the value of a position; undefined without a price. */
  readonly worthOf: (position: Position) => Lamports | undefined
  readonly startedAt: Millis
}

export function statusOf({ bots, stats, world, worthOf, startedAt }: StatusParts, time: Millis): Status {
  const { rows, orders, filled } = stats
  return {
    ...{ startedAt, time, rows, orders, fills: filled },
    stops: [...stats.stops.of(bots, time), ...stats.undecided.stops(bots, stats.positions.values(), time)],
    undecided: stats.undecided.of(time, (orderId) => stats.openOrders.get(orderId)),
    ...healthOf(world),
    bots: bots.map((bot) => botStatus(bot, stats)),
    positions: positionsOf(stats, worthOf),
    lastFills: lastFillsOf(stats),
  }
}

function healthOf(world: WatchedWorld): Health {
  const { feed, limiter, decisionTime, lists } = world
  return {
    ...{ feed: feed.state, reconnects: feed.counts.losses, plan: world.plan(), requests: limiter.status() },
    planNotice: world.planNotice,
    ...{ brokenLists: [...lists.broken.values()] },
    decisionUs: { p50: decisionTime.p50(), p99: decisionTime.p99() },
  }
}

function botStatus({ name, account, executor }: BotSettings, stats: LiveStats): BotStatus {
  const { realized, fees } = stats.resultOf(name)
  return {
    ...{ name, mode: account.mode, executor },
    positions: [...stats.positions.values()].filter(({ bot }) => bot === name).length,
    openOrders: [...stats.openOrders.values()].filter((bot) => bot === name).length,
    ...{ realizedSol: lamportsToSol(realized), feesSol: lamportsToSol(fees), last: stats.acts.get(name) ?? null },
  }
}

function positionsOf(stats: LiveStats, worthOf: StatusParts['worthOf']): PositionStatus[] {
  const held = [...stats.positions.values()].sort((one, other) => one.openedAt - other.openedAt)
  return held.map((position) => {
    const { bot, mint, state, tokens, decimals, costLamports, openedAt } = position
    const value = worthOf(position)
    const valueSol = value === undefined ? null : lamportsToSol(value)
    return {
      ...{ bot, mint, state, tokens: wholeTokens(tokens, decimals), costSol: lamportsToSol(costLamports), valueSol },
      ...{ openedAt, selling: sellingText(position), unsellable: isUnsellable(position) },
    }
  })
}

function lastFillsOf({ fills }: LiveStats): FillStatus[] {
  const latest = [...fills.values()].sort((one, other) => other.time - one.time).slice(0, LAST_FILLS)
  return latest.map(({ time, bot, side, mint, tradeLamports, final, signature }) => ({
    ...{ time, bot, side, mint, sol: lamportsToSol(tradeLamports), final, signature },
  }))
}

import { lamportsToSol, type Millis, wholeTokens } from '../base/units.ts'
import { isUnsellable, sellingText } from '../engine/accounting/position.ts'
import type { BotSettings, Plan } from '../engine/settings.ts'
import type { PositionRow } from '../journal/reader/reader.ts'
import type { TradeSide } from '../market/block.ts'
import type { Budget } from '../orders/budget-status.ts'
import type { Result, WorthOf } from './bot-results.ts'
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
  /** Time of the first start that the journal recorded; `startedAt` if this is the first one. */
  readonly beganAt: Millis
  readonly wallets: readonly WalletStatus[]
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
  /** Problems of sources whose last answer was not valid. The strategies keep the last valid data. */
  readonly brokenSources: readonly string[]
  /** Decision time per market row, microseconds. */
  readonly decisionUs: { readonly p50: number; readonly p99: number }
}

export interface BotStatus {
  readonly name: string
  readonly mode: string
  readonly executor: string
  readonly positions: number
  readonly openOrders: number
  /** The same numbers as in `sinceStart`. */
  readonly realizedSol: number
  readonly feesSol: number
  readonly sinceStart: Result
  readonly sinceBeginning: Result
  /** The last action of the bot, which may contain text of a third party; null if there was none. */
  readonly last: { readonly time: Millis; readonly text: string } | null
}

/** An account of the bots. A live wallet may serve several bots. */
export interface WalletStatus {
  readonly mode: string
  readonly bots: readonly string[]
  /** Balance as last read (live) or computed (paper); null before the first reading. */
  readonly solBalance: number | null
  /** Liquidation value of the positions. A position without a price counts as worth its cost. */
  readonly positionsSol: number
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
  readonly sources: { readonly broken: readonly string[] }
  plan(): Plan
}

export interface StatusParts {
  readonly bots: readonly BotSettings[]
  readonly stats: LiveStats
  readonly world: WatchedWorld
  readonly worthOf: WorthOf
  readonly startedAt: Millis
}

export function statusOf({ bots, stats, world, worthOf, startedAt }: StatusParts, time: Millis): Status {
  const { rows, orders, filled } = stats
  return {
    ...{ startedAt, time, rows, orders, fills: filled },
    stops: [...stats.stops.of(bots, time), ...stats.undecided.stops(bots, stats.positions.values(), time)],
    undecided: stats.undecided.of(time, (orderId) => stats.openOrders.get(orderId)),
    ...healthOf(world),
    bots: bots.map((bot) => botStatus(bot, stats, worthOf)),
    beganAt: stats.results.since ?? startedAt,
    wallets: walletsOf(bots, stats, worthOf),
    positions: positionsOf(stats, worthOf),
    lastFills: lastFillsOf(stats),
  }
}

function healthOf(world: WatchedWorld): Health {
  const { feed, limiter, decisionTime, lists, sources } = world
  return {
    ...{ feed: feed.state, reconnects: feed.counts.losses, plan: world.plan(), requests: limiter.status() },
    planNotice: world.planNotice,
    ...{ brokenLists: [...lists.broken.values()], brokenSources: sources.broken },
    decisionUs: { p50: decisionTime.p50(), p99: decisionTime.p99() },
  }
}

function botStatus({ name, account, executor }: BotSettings, stats: LiveStats, worthOf: WorthOf): BotStatus {
  const sinceStart = stats.results.sinceStart(name, worthOf)
  const { realizedSol, feesSol } = sinceStart
  return {
    ...{ name, mode: account.mode, executor },
    positions: [...stats.positions.values()].filter(({ bot }) => bot === name).length,
    openOrders: [...stats.openOrders.values()].filter((bot) => bot === name).length,
    ...{ realizedSol, feesSol, sinceStart },
    sinceBeginning: stats.results.sinceBeginning(name, account.id, worthOf),
    last: stats.acts.get(name) ?? null,
  }
}

function walletsOf(bots: readonly BotSettings[], stats: LiveStats, worthOf: WorthOf): WalletStatus[] {
  return [...Map.groupBy(bots, ({ account }) => account.id)].map(([id, own]) => {
    const held = [...stats.positions.values()].filter(({ account }) => account === id)
    const value = held.reduce((sum, position) => sum + (worthOf(position) ?? position.costLamports), 0)
    const balance = stats.balances.get(id) ?? null
    return {
      mode: own[0]?.account.mode ?? '',
      bots: own.map(({ name }) => name),
      solBalance: balance === null ? null : lamportsToSol(balance),
      positionsSol: lamportsToSol(value),
    }
  })
}

function positionsOf(stats: LiveStats, worthOf: WorthOf): PositionStatus[] {
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

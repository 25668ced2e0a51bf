import { lamportsToSol, type Millis } from '../../base/units.ts'
import type { Mode } from '../../engine/account.ts'
import { type BotMoney, foldMovements, type Worth } from '../../engine/accounting/money.ts'
import type { Movement } from '../../engine/accounting/movement.ts'
import { isUnsellable, type Position } from '../../engine/accounting/position.ts'
import { markTrips, netOf, type RoundTrip } from '../../engine/accounting/round-trip.ts'
import { isOpen } from '../../engine/order.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import type { ReportRows } from '../../journal/reader/report-rows.ts'
import { liquidationOf } from '../../runtime/liquidation-value.ts'
import { type Group, groupsOf, kindOf, type TagGroups, tagGroupsOf, withoutBest } from '../metrics/groups.ts'

/** Results of a bot in one account over all starts of the process that a journal records. Amounts are in SOL, after all
 *  fees. */
export interface BotTrades extends TagGroups {
  readonly bot: string
  readonly mode: Mode
  readonly account: string
  /** Name of the wallet; absent if it has none. */
  readonly wallet?: string
  /** Time of the first start. `starts`: number of starts. */
  readonly since: Millis
  readonly starts: number
  /** Net result of the bot's trades, including the liquidation value of open positions. */
  readonly netSol: number
  /** Sum of base fees, priority fees, tips and rent that was not returned. `failedSol`: fees of failed transactions. */
  readonly feeSol: number
  readonly failedSol: number
  /** Number, cost and liquidation value of the open positions. A position without a known price counts as 0 and as
   *  `unpriced`. */
  readonly held: {
    readonly count: number
    readonly costSol: number
    readonly valueSol: number
    readonly unpriced: number
  }
  /** Number of orders that were decided. `buys`, `sales`: filled orders. `notFilled`: orders that ended without a fill,
   *  and `refused`: requests that were refused, both by reason. */
  readonly orders: number
  readonly buys: number
  readonly sales: number
  readonly notFilled: Readonly<Record<string, number>>
  readonly refused: Readonly<Record<string, number>>
  /** All positions that the bot holds or held, each from its first buy to its last sale; null if the bot never had a
   *  position. */
  readonly trades: Group | null
  readonly withoutBest: readonly { readonly tokens: number; readonly netSol: number }[]
  readonly byEntry: readonly Group[]
  readonly byExit: readonly Group[]
  readonly byToken: readonly Group[]
}

type Starts = Pick<BotTrades, 'bot' | 'mode' | 'account' | 'wallet' | 'since' | 'starts'>

/** Computes the results from the journal's record, so that forks, adopted tokens and failed transactions are
 *  included. */
export function tradesOf(reader: JournalReader): BotTrades[] {
  const rows = reader.report()
  const fold = foldMovements(movementsOf(reader, rows))
  const worth = liquidationOf(reader)
  return startsOf(rows).map((starts) => {
    const isOwn = (one: { readonly account: string; readonly bot: string }): boolean =>
      one.account === starts.account && one.bot === starts.bot
    const held = rows.positions.filter((one) => isOwn(one) && one.tokens > 0n)
    return { ...starts, ...moneyOf(fold.bot(starts), held, worth), ...ordersOf(rows, isOwn) }
  })
}

/** Returns one element for every account of every bot, in the order of their first starts. */
function startsOf({ segments }: ReportRows): Starts[] {
  const found = new Map<string, Starts>()
  for (const { start, time } of segments)
    for (const { name: bot, account, wallet } of start.bots) {
      const key = `${account.id}\n${bot}`
      const about = { bot, mode: account.mode, account: account.id, ...(wallet !== undefined && { wallet }) }
      const known = found.get(key) ?? { ...about, since: time, starts: 0 }
      found.set(key, { ...known, starts: known.starts + 1 })
    }
  return [...found.values()]
}

type Money = Omit<BotTrades, keyof Starts | keyof ReturnType<typeof ordersOf>>

function moneyOf({ trips, totals, strayFeeLamports }: BotMoney, held: readonly Position[], worth: Worth): Money {
  const values = markHeld(trips, held, worth)
  const sol = <T>(all: readonly T[], of: (one: T) => number): number =>
    lamportsToSol(all.reduce((sum, one) => sum + of(one), 0))
  const priced = [...values.values()]
  return {
    netSol: sol([...trips.map(netOf), -strayFeeLamports], (lamports) => lamports),
    feeSol: lamportsToSol(totals.network + totals.failed + totals.rent),
    failedSol: lamportsToSol(totals.failed),
    held: {
      count: held.length,
      costSol: sol(held, ({ costLamports }) => costLamports),
      valueSol: sol(priced, (value) => value ?? 0),
      unpriced: priced.filter((value) => value === undefined).length,
    },
    trades: groupsOf(trips, () => 'all')[0] ?? null,
    withoutBest: [1, 3, 5].map((tokens) => ({
      tokens,
      netSol: withoutBest(trips, tokens) - lamportsToSol(strayFeeLamports),
    })),
    byEntry: groupsOf(trips, ({ entryReason }) => kindOf(entryReason)),
    byExit: groupsOf(trips, exitOf),
    ...tagGroupsOf(trips),
    byToken: groupsOf(trips, ({ mint }) => mint),
  }
}

/** Sets the value of each open round trip of a bot to the proceeds of selling its position. Returns these values by
 *  mint. */
export function markHeld(
  trips: readonly RoundTrip[],
  held: readonly Position[],
  worth: Worth,
): ReadonlyMap<string, number | undefined> {
  const values = new Map(held.map((one) => [one.mint, isUnsellable(one) ? 0 : worth(one)]))
  const unsold = new Map(held.map(({ mint, exiting }) => [mint, exiting]))
  markTrips(trips, (mint) => ({ lamports: values.get(mint) ?? 0, unsold: unsold.get(mint) ?? '' }))
  return values
}

function exitOf({ exitReason, closedAt }: RoundTrip): string {
  return closedAt === null && exitReason === '' ? 'held' : kindOf(exitReason)
}

type IsOwn = (one: { readonly account: string; readonly bot: string }) => boolean

function ordersOf({ orders, refusals }: ReportRows, isOwn: IsOwn) {
  const own = orders.filter(isOwn)
  const filled = (wanted: string): number =>
    own.filter(({ side, state }) => side === wanted && state === 'filled').length
  const ended = own.filter(({ state }) => state !== 'filled' && !isOpen(state))
  return {
    ...{ orders: own.length, buys: filled('buy'), sales: filled('sell') },
    notFilled: countsOf(ended.map(({ state, code }) => [`${state} ${code}`.trim(), 1])),
    refused: countsOf(refusals.filter(isOwn).map(({ code, count }) => [code, count])),
  }
}

function countsOf(counted: readonly (readonly [string, number])[]): Record<string, number> {
  const sums = new Map<string, number>()
  for (const [name, count] of counted) sums.set(name, (sums.get(name) ?? 0) + count)
  return Object.fromEntries(sums)
}

/** Returns the fills, with the reasons of their orders, and the fees of failed transactions. */
export function movementsOf(reader: JournalReader, { orders, failed }: ReportRows): Movement[] {
  const reasons = new Map(orders.map(({ id, reason }) => [id, reason]))
  const moved = reader.movements().map((one): Movement => {
    return one.kind === 'fill' ? { ...one, reason: reasons.get(one.fill.orderId) ?? '' } : one
  })
  return [...moved, ...failed.map((one) => ({ kind: 'failed', ...one }) as const)]
}

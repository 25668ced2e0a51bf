import { type Lamports, lamportsToSol, type Millis, ZERO } from '../../base/units.ts'
import type { Mode } from '../../engine/account.ts'
import { inOrder, type Movement, type Worth } from '../../engine/accounting/lots.ts'
import { isUnsellable, type Position } from '../../engine/accounting/position.ts'
import { netOf, type RoundTrip, RoundTripLog } from '../../engine/accounting/round-trip.ts'
import { isOpen } from '../../engine/order.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import type { ReportRows } from '../../journal/reader/report-rows.ts'
import { type Group, groupsOf, kindOf, withoutBest } from '../metrics/groups.ts'
import { liquidationOf } from './liquidation-value.ts'

/** What a bot has made with an account in all starts of a journal. Amounts in SOL, all fees inside. */
export interface BotTrades {
  readonly bot: string
  readonly mode: Mode
  readonly account: string
  /** Its first start, and how many there were. */
  readonly since: Millis
  readonly starts: number
  /** Change of the wallet by its transactions, and what selling now would bring that it holds. */
  readonly netSol: number
  /** Base and priority fees, tips, rent that did not come back; and of that for transactions that failed. */
  readonly feeSol: number
  readonly failedSol: number
  /** What is held: how much of it, what it cost, and what selling it now would bring; nothing where no price of it is
   *  known. */
  readonly held: {
    readonly count: number
    readonly costSol: number
    readonly valueSol: number
    readonly unpriced: number
  }
  /** Decided; filled, by side; ended without a fill and refused, by why. */
  readonly orders: number
  readonly buys: number
  readonly sales: number
  readonly notFilled: Readonly<Record<string, number>>
  readonly refused: Readonly<Record<string, number>>
  /** Of all that it held or holds, from the first buy to the last sale; null where there was none. */
  readonly trades: Group | null
  readonly withoutBest: readonly { readonly tokens: number; readonly netSol: number }[]
  readonly byEntry: readonly Group[]
  readonly byExit: readonly Group[]
  readonly byToken: readonly Group[]
}

type Starts = Pick<BotTrades, 'bot' | 'mode' | 'account' | 'since' | 'starts'>

/** From the journal's books, so that forks, adopted tokens and failed transactions are in it. */
export function tradesOf(reader: JournalReader): BotTrades[] {
  const rows = reader.report()
  const reasons = new Map(rows.orders.map(({ id, reason }) => [id, reason]))
  const trades = recordedTrades(reader.movements(), rows.failed, (id) => reasons.get(id) ?? '')
  const worth = liquidationOf(reader)
  return startsOf(rows).map((starts) => {
    const isOwn = (one: { readonly account: string; readonly bot: string }): boolean =>
      one.account === starts.account && one.bot === starts.bot
    const log = trades.find(isOwn)?.log ?? new RoundTripLog()
    const held = rows.positions.filter((one) => isOwn(one) && one.tokens > 0n)
    return { ...starts, ...moneyOf(log, held, worth, rows.failed.filter(isOwn)), ...ordersOf(rows, isOwn) }
  })
}

/** Each bot with each account that it had, in the order of their first starts. */
function startsOf({ segments }: ReportRows): Starts[] {
  const found = new Map<string, Starts>()
  for (const { start, time } of segments)
    for (const { name: bot, account } of start.bots) {
      const key = `${account.id}\n${bot}`
      const known = found.get(key) ?? { bot, mode: account.mode, account: account.id, since: time, starts: 0 }
      found.set(key, { ...known, starts: known.starts + 1 })
    }
  return [...found.values()]
}

type Money = Omit<BotTrades, keyof Starts | keyof ReturnType<typeof ordersOf>>

function moneyOf(log: RoundTripLog, held: readonly Position[], worth: Worth, failed: ReportRows['failed']): Money {
  const values = new Map(
    held.map((one) => [one.mint, isUnsellable(one) ? 0 : worth(one.mint, one.tokens, one.decimals)]),
  )
  const unsold = new Map(held.map(({ mint, exiting }) => [mint, exiting]))
  log.mark((mint) => ({ lamports: values.get(mint) ?? 0, unsold: unsold.get(mint) ?? '' }))
  const { trips, strayFeeLamports } = log
  const sol = <T>(all: readonly T[], of: (one: T) => number): number =>
    lamportsToSol(all.reduce((sum, one) => sum + of(one), 0))
  const priced = [...values.values()]
  return {
    netSol: sol([...trips.map(netOf), -strayFeeLamports], (lamports) => lamports),
    feeSol: sol([...trips.map(({ feeLamports }) => feeLamports), strayFeeLamports], (lamports) => lamports),
    failedSol: sol(failed, ({ feeLamports }) => feeLamports),
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
    byToken: groupsOf(trips, ({ mint }) => mint),
  }
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

/** A transaction that landed and moved nothing but its fee. */
export interface FailedTransaction {
  readonly account: string
  readonly bot: string
  readonly mint: string
  readonly feeLamports: Lamports
}

/** What one bot has traded in one account, as the journal's books have it. */
export interface RecordedTrades {
  readonly account: string
  readonly bot: string
  readonly log: RoundTripLog
}

/** The trades of a run by bot, in the order in which they began: what a fork took back never was. `reasonOf`: of an
 *  order, by its id. */
function recordedTrades(
  movements: readonly Movement[],
  failed: readonly FailedTransaction[],
  reasonOf: (orderId: string) => string,
): RecordedTrades[] {
  const bots = new Map<string, RecordedTrades>()
  const logOf = ({ account, bot }: Pick<RecordedTrades, 'account' | 'bot'>): RoundTripLog => {
    const key = `${account}\n${bot}`
    const known = bots.get(key) ?? { account, bot, log: new RoundTripLog() }
    bots.set(key, known)
    return known.log
  }
  for (const one of inOrder(movements)) {
    if (one.kind === 'fill') logOf(one.fill).filled(one.fill, reasonOf(one.fill.orderId))
    else if (one.kind === 'lost') logOf(one).lost(one.mint, one.time, one.left)
    else logOf(one).filled({ ...one, ...BROUGHT, tradeLamports: one.costLamports }, 'adopted')
  }
  for (const one of failed) logOf(one).failed(one.mint, one.feeLamports)
  return [...bots.values()]
}

const BROUGHT = { side: 'buy', feeLamports: ZERO, rentLamports: ZERO } as const

import { lamportsToSol, type Millis, solToLamports, ZERO } from '../../base/units.ts'
import type { Position } from '../../engine/accounting/position.ts'
import type { PositionReading } from '../../engine/exits/exit-levels.ts'
import type { BotSettings, Plan } from '../../engine/settings.ts'
import type { Budget } from '../../orders/budget-status.ts'
import type { NetResult } from '../../orders/ports.ts'
import { inOrderOfOpening } from './apply-change.ts'
import type { Unrealized, WorthOf } from './bot-results.ts'
import { heldPosition, type ReadPosition, rowOf } from './position-rows.ts'
import type { BotStatus, EntryStop, FillStatus, Health, Notice, ProcessStatus, View, WalletStatus } from './view.ts'
import type { ViewModel } from './view-model.ts'

const LAST_FILLS = 6

/** The parts of a LiveWorld from which a view is read. */
export interface WatchedWorld {
  readonly feed: { readonly state: string; readonly counts: { readonly losses: number } }
  readonly limiter: { status(): Budget }
  readonly planNotice: string
  readonly decisionTime: { p50(): number; p99(): number }
  readonly lists: { readonly broken: ReadonlyMap<string, string> }
  readonly sources: { readonly broken: readonly string[] }
  plan(): Plan
}

export interface ViewParts {
  readonly title: string
  /** Default: `running`. */
  readonly source?: View['source']
  readonly bots: readonly BotSettings[]
  readonly model: ViewModel
  readonly world: WatchedWorld
  readonly journalPath: string
  /** Returns the value and the prices of a position, as the engine has computed them; undefined if the engine does not
   *  know the position yet. */
  readonly readingOf: (position: Position) => PositionReading | undefined
  readonly startedAt: Millis
  /** State of the process; absent if no process runs the bots. */
  readonly process?: () => ProcessStatus
  /** The last alerts, warnings and errors of the process; absent if no process runs the bots. */
  readonly notices?: { readonly list: readonly Notice[] }
}

/** A view that was just read. It does not contain the rows of its positions yet. */
export interface Reading {
  /** The view without positions. */
  readonly view: View
  readonly positions: readonly ReadPosition[]
}

/** Reads the view of running bots. `n`: number of changes that were announced before, which is a part of the view's
 *  id. */
export function readView(parts: ViewParts, time: Millis, n = 0): View {
  const { view, positions } = readParts(parts, time, n)
  return { ...view, positions: positions.map((one) => rowOf(one, time)).sort(inOrderOfOpening) }
}

/** Reads what a view consists of. Prices are read now; everything else comes from the model. */
export function readParts(parts: ViewParts, time: Millis, n = 0): Reading {
  const { bots, model, world, journalPath, startedAt, title, source = 'running' } = parts
  const { segment, seq, rows, orders, filled } = model
  const positions = readPositions(parts)
  const worthOf = worthsOf(positions, source)
  const stops = [...model.stops.of(bots, time), ...model.undecided.stops(bots, model.positions.values(), time)]
  const moment = { unrealized: model.results.unrealized(worthOf), held: heldByBot(model), stops, time }
  const view: View = {
    ...{ id: `${segment}-${n}`, title, source },
    ...{ startedAt, time, seq, rows, decisions: model.decisions, orders, fills: filled, stops },
    ...{ totals: model.totals.totals, process: parts.process?.() ?? null },
    ...{ feedLagMs: model.feedLagMs, gaps: model.gaps, gapSeconds: model.gapMs / 1000 },
    journal: { path: journalPath, ...model.disk, waitingMs: model.waitingMs },
    undecided: model.undecided.of(time, (orderId) => model.openOrders.botOf(orderId)),
    ...healthOf(world),
    bots: bots.map((bot) => botStatus(bot, model, moment)),
    beganAt: model.results.since ?? startedAt,
    wallets: walletsOf(bots, model, worthOf),
    positions: [],
    openOrders: model.openOrders.list((attemptId) => model.undecided.proofOf(attemptId)),
    lastFills: lastFillsOf(model),
    notices: parts.notices?.list ?? [],
  }
  return { view, positions }
}

/** Reads the results of running bots. A position without a price counts with its value from before this start. Leaves
 *  out a bot that holds a position without either, because its result is not known before the first price. */
export function readNetResults(parts: ViewParts, time: Millis, worthBefore: WorthOf): NetResult[] {
  const worths = new Map(
    readPositions(parts).map(({ held: { position }, reading }) => [
      position,
      reading.lamports ?? worthBefore(position),
    ]),
  )
  const unrealized = parts.model.results.unrealized((position) => worths.get(position))
  const unpriced = [...worths].flatMap(([position, worth]) => (worth === undefined ? [position] : []))
  return parts.bots
    .filter(({ name, account }) => !unpriced.some((one) => one.bot === name && one.account === account.id))
    .map(({ name, account }) => {
      const { netSol } = parts.model.results.sinceBeginning(account.id, name, unrealized)
      return { time, account: account.id, bot: name, netLamports: solToLamports(netSol) }
    })
}

function readPositions({ bots, model, readingOf }: ViewParts): ReadPosition[] {
  const wallets = new Map(bots.map(({ account, wallet }) => [account.id, wallet]))
  const { entries, sales } = model
  return Array.from(model.positions, ([key, position]) => {
    const held = heldPosition(position, wallets.get(position.account), entries.of(key), sales.get(key))
    return { held, reading: readingOf(position) ?? noReading(position) }
  })
}

/** Prices and times that the view shows for a new position until the engine has values for it. */
function noReading({ highPrice, openedAt }: Position): PositionReading {
  return { lamports: undefined, price: undefined, highPrice, printedAt: openedAt, pricedAt: openedAt }
}

/** Returns a function that values positions; `worthsIn` explains the value of a position without a price. */
function worthsOf(positions: readonly ReadPosition[], source: View['source']): WorthOf {
  const unpriced = source === 'running' ? undefined : ZERO
  const worths = new Map(positions.map(({ held, reading }) => [held.position, reading.lamports ?? unpriced]))
  return (position) => worths.get(position)
}

/** Number of positions of each bot that are not closed. */
function heldByBot({ positions }: ViewModel): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { bot } of positions.values()) counts.set(bot, (counts.get(bot) ?? 0) + 1)
  return counts
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

interface Moment {
  readonly unrealized: Unrealized
  readonly held: ReadonlyMap<string, number>
  readonly stops: readonly EntryStop[]
  readonly time: Millis
}

function botStatus(settings: BotSettings, model: ViewModel, { unrealized, held, stops, time }: Moment): BotStatus {
  const { name, account, executor, strategy, params, bars, wallet } = settings
  const { results } = model
  const sinceStart = results.sinceStart(account.id, name, unrealized)
  const { realizedSol, feesSol } = sinceStart
  return {
    ...{ name, mode: account.mode, executor, ...(wallet !== undefined && { wallet }), strategy, params },
    ...(bars !== undefined && { bars }),
    positions: held.get(name) ?? 0,
    openOrders: model.openOrders.countOf(name),
    ...{ realizedSol, feesSol, sinceStart },
    sinceBeginning: results.sinceBeginning(account.id, name, unrealized),
    today: results.today(account.id, name, unrealized, time),
    ...results.trades(account.id, name),
    refusals: Object.fromEntries(model.refusals.get(name) ?? []),
    ownStops: stops.filter((stop) => stop.bots.includes(name)).map(({ code }) => code),
    last: model.acts.get(name) ?? null,
  }
}

function walletsOf(bots: readonly BotSettings[], model: ViewModel, worthOf: WorthOf): WalletStatus[] {
  const values = new Map<string, number>()
  for (const position of model.positions.values()) {
    const { account, costLamports } = position
    values.set(account, (values.get(account) ?? 0) + (worthOf(position) ?? costLamports))
  }
  return [...Map.groupBy(bots, ({ account }) => account.id)].map(([id, own]) => {
    const balance = model.balances.get(id) ?? null
    const name = own[0]?.wallet
    return {
      ...(name !== undefined && { name }),
      mode: own[0]?.account.mode ?? '',
      bots: own.map(({ name }) => name),
      solBalance: balance === null ? null : lamportsToSol(balance),
      positionsSol: lamportsToSol(values.get(id) ?? 0),
    }
  })
}

function lastFillsOf({ fills }: ViewModel): FillStatus[] {
  const latest = [...fills.values()].sort((one, other) => other.time - one.time).slice(0, LAST_FILLS)
  return latest.map(({ time, bot, side, mint, tradeLamports, final, signature }) => ({
    ...{ time, bot, side, mint, sol: lamportsToSol(tradeLamports), final, signature },
  }))
}

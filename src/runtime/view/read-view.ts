import { lamportsToSol, type Millis, wholeTokens, ZERO } from '../../base/units.ts'
import { isUnsellable, type Position, sellingText } from '../../engine/accounting/position.ts'
import { exitLevels, type PositionReading } from '../../engine/exits/exit-levels.ts'
import type { BotSettings, Plan } from '../../engine/settings.ts'
import type { PositionRow } from '../../journal/reader/reader.ts'
import type { Budget } from '../../orders/budget-status.ts'
import { inOrderOfOpening } from './apply-change.ts'
import type { WorthOf } from './bot-results.ts'
import type {
  BotStatus,
  EntryStop,
  ExitStatus,
  FillStatus,
  Health,
  PositionStatus,
  ProcessStatus,
  View,
  WalletStatus,
} from './view.ts'
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
  /** What the engine has seen of a position's token; undefined if the engine does not know the position yet. */
  readonly readingOf: (position: Position) => PositionReading | undefined
  readonly startedAt: Millis
  /** State of the process; absent if no process runs the bots. */
  readonly process?: () => ProcessStatus
}

/** Reads the view of running bots. Prices are read now; everything else comes from the model. `n`: number of changes
 *  that were announced. */
export function readView(parts: ViewParts, time: Millis, n = 0): View {
  const { bots, model, world, journalPath, readingOf, startedAt, title, source = 'running' } = parts
  const { segment, seq, rows, orders, filled } = model
  const worthOf = worthsOf(readingOf, source)
  const stops = [...model.stops.of(bots, time), ...model.undecided.stops(bots, model.positions.values(), time)]
  return {
    ...{ id: `${segment}-${n}`, title, source },
    ...{ startedAt, time, seq, rows, decisions: model.decisions, orders, fills: filled, stops },
    ...{ totals: model.totals.totals, process: parts.process?.() ?? null },
    ...{ feedLagMs: model.feedLagMs, gaps: model.gaps, gapSeconds: model.gapMs / 1000 },
    journal: { path: journalPath, ...model.disk, waitingMs: model.waitingMs },
    undecided: model.undecided.of(time, (orderId) => model.openOrders.botOf(orderId)),
    ...healthOf(world),
    bots: bots.map((bot) => botStatus(bot, model, { worthOf, stops, time })),
    beganAt: model.results.since ?? startedAt,
    wallets: walletsOf(bots, model, worthOf),
    positions: positionsOf(parts, time),
    openOrders: model.openOrders.list((attemptId) => model.undecided.proofOf(attemptId)),
    lastFills: lastFillsOf(model),
  }
}

/** Returns a function that values positions; `worthsIn` explains the value of a position without a price. The value of
 *  each position is kept, because a view needs it several times. */
function worthsOf(readingOf: ViewParts['readingOf'], source: View['source']): WorthOf {
  const worths = new Map<Position, ReturnType<WorthOf>>()
  const unpriced = source === 'running' ? undefined : ZERO
  return (position) => {
    if (!worths.has(position)) worths.set(position, readingOf(position)?.lamports ?? unpriced)
    return worths.get(position)
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

interface Moment {
  readonly worthOf: WorthOf
  readonly stops: readonly EntryStop[]
  readonly time: Millis
}

function botStatus(settings: BotSettings, model: ViewModel, { worthOf, stops, time }: Moment): BotStatus {
  const { name, account, executor, strategy, params, bars, wallet } = settings
  const sinceStart = model.results.sinceStart(name, worthOf)
  const { realizedSol, feesSol } = sinceStart
  return {
    ...{ name, mode: account.mode, executor, ...(wallet !== undefined && { wallet }), strategy, params },
    ...(bars !== undefined && { bars }),
    positions: model.results.heldBy(name).length,
    openOrders: model.openOrders.countOf(name),
    ...{ realizedSol, feesSol, sinceStart },
    sinceBeginning: model.results.sinceBeginning(name, account.id, worthOf),
    today: model.results.today(name, account.id, worthOf, time),
    ...model.results.trades(name, account.id),
    refusals: Object.fromEntries(model.refusals.get(name) ?? []),
    ownStops: stops.filter((stop) => stop.bots.includes(name)).map(({ code }) => code),
    last: model.acts.get(name) ?? null,
  }
}

function walletsOf(bots: readonly BotSettings[], model: ViewModel, worthOf: WorthOf): WalletStatus[] {
  return [...Map.groupBy(bots, ({ account }) => account.id)].map(([id, own]) => {
    const held = [...model.positions.values()].filter(({ account }) => account === id)
    const value = held.reduce((sum, position) => sum + (worthOf(position) ?? position.costLamports), 0)
    const balance = model.balances.get(id) ?? null
    const name = own[0]?.wallet
    return {
      ...(name !== undefined && { name }),
      mode: own[0]?.account.mode ?? '',
      bots: own.map(({ name }) => name),
      solBalance: balance === null ? null : lamportsToSol(balance),
      positionsSol: lamportsToSol(value),
    }
  })
}

function positionsOf({ bots, model, readingOf }: ViewParts, now: Millis): PositionStatus[] {
  const wallets = new Map(bots.map(({ account, wallet }) => [account.id, wallet]))
  const shown = [...model.positions.values()].map((position) => {
    const { account, bot, mint, state, tokens, decimals, costLamports, openedAt } = position
    const wallet = wallets.get(account)
    const reading = readingOf(position)
    const { lamports, price } = reading ?? {}
    const costSol = lamportsToSol(costLamports)
    const valueSol = lamports === undefined ? null : lamportsToSol(lamports)
    const entry = model.entries.of(position)
    return {
      ...{
        id: idOf(position),
        bot,
        ...(wallet !== undefined && { wallet }),
        mint,
        symbol: '',
        state,
        tokens: wholeTokens(tokens, decimals),
      },
      ...{ costSol, valueSol, changePercent: changePercentOf({ costSol, valueSol }), price: price ?? null },
      ...{ openedAt, selling: sellingText(position), unsellable: isUnsellable(position) },
      ...{ entryReason: entry?.reason ?? '', orderId: entry?.orderId ?? '' },
      exits: exitsOf(model, position, reading, now),
    }
  })
  return shown.sort(inOrderOfOpening)
}

/** Change of a position's value from its cost, percent; null if the value or the cost is unknown. */
export function changePercentOf({ costSol, valueSol }: Pick<PositionRow, 'costSol' | 'valueSol'>): number | null {
  return valueSol === null || costSol === 0 ? null : (valueSol / costSol - 1) * 100
}

function idOf({ account, mint }: Position): string {
  return `${account}/${mint}`
}

function exitsOf(
  { conditionals }: ViewModel,
  position: Position,
  reading: PositionReading | undefined,
  now: Millis,
): ExitStatus[] {
  const { account, mint, highPrice, openedAt } = position
  const seen = reading ?? { highPrice, printedAt: openedAt, pricedAt: openedAt }
  const distance = (price: number): number | null =>
    reading?.price === undefined ? null : (price / reading.price - 1) * 100
  const own = exitLevels(position, seen, now).map(({ kind, price, at }) =>
    price === undefined
      ? { kind, price: null, distancePercent: null, at: at ?? null }
      : { kind, price, distancePercent: distance(price), at: null },
  )
  const conditional = [...conditionals.values()].flatMap(({ when, action, ...sale }) =>
    action.side === 'buy' || when.kind === 'every' || sale.account !== account || sale.mint !== mint
      ? []
      : [{ kind: 'conditional', price: when.price, distancePercent: distance(when.price), at: null }],
  )
  return [...own, ...conditional]
}

function lastFillsOf({ fills }: ViewModel): FillStatus[] {
  const latest = [...fills.values()].sort((one, other) => other.time - one.time).slice(0, LAST_FILLS)
  return latest.map(({ time, bot, side, mint, tradeLamports, final, signature }) => ({
    ...{ time, bot, side, mint, sol: lamportsToSol(tradeLamports), final, signature },
  }))
}

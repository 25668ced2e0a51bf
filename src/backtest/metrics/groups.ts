import type { Millis } from '../../base/units.ts'
import { netOf, type RoundTrip, returnOf } from '../../engine/accounting/round-trip.ts'
import { utcDateOf } from '../../runtime/time-text.ts'
import { DAY } from './facts.ts'
import { mean, quantile, ratio, sum } from './statistics.ts'

/** Of the tape's time, what comes after it is shown apart. */
const IN_SAMPLE = 0.7
/** What brought back less than this share of what was paid has ended at nothing. */
const NOTHING = 0.01

/** Trades that have something in common. */
export interface Group {
  readonly name: string
  readonly trades: number
  readonly netSol: number
  readonly medianSol: number | null
  /** Mean of the returns. */
  readonly averagePercent: number | null
  /** What was won over what was lost; null where nothing was lost. */
  readonly profitFactor: number | null
  readonly winPercent: number | null
  readonly holdingSeconds: number | null
}

/** Trades by a name, the best group first. */
export function groupsOf(trips: readonly RoundTrip[], nameOf: (trip: RoundTrip) => string): Group[] {
  const groups = new Map<string, RoundTrip[]>()
  for (const trip of trips) {
    const name = nameOf(trip)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [trip])
    else group.push(trip)
  }
  return [...groups]
    .map(([name, members]) => groupOf(name, members))
    .sort((a, b) => b.netSol - a.netSol || (a.name < b.name ? -1 : 1))
}

function groupOf(name: string, trips: readonly RoundTrip[]): Group {
  const nets = trips.map(netOf)
  const held = trips.flatMap(({ openedAt, closedAt }) => (closedAt === null ? [] : [(closedAt - openedAt) / 1000]))
  const winShare = ratio(nets.filter((net) => net > 0).length, nets.length)
  return {
    name,
    trades: trips.length,
    netSol: sum(nets) / 1e9,
    medianSol: trips.length === 0 ? null : (quantile(nets, 0.5) as number) / 1e9,
    averagePercent: trips.length === 0 ? null : (mean(trips.map(returnOf)) as number) * 100,
    profitFactor: ratio(sum(nets.filter((net) => net > 0)), -sum(nets.filter((net) => net < 0))) ?? null,
    winPercent: winShare === undefined ? null : winShare * 100,
    holdingSeconds: mean(held) ?? null,
  }
}

/** A number by itself, with its sign and exponent; not the digits of a name, such as `ema20`. */
const NUMBER = /(?:(?<!\w)[-+])?(?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d+)?/gi
/** What a conditional order puts before the reason that its strategy gave. */
const TRIGGER = /^[a-z]\d+ at \S+: /

/** A reason with `n` for each of its numbers and without its details (what follows a colon), so that equal reasons are
 *  one. */
export function kindOf(reason: string): string {
  return reason.replace(TRIGGER, '').replace(/:.*$/s, '').replace(NUMBER, 'n')
}

/** The result without the best `count` tokens: those that earned, so that taking more away never flatters. */
export function withoutBest(trips: readonly RoundTrip[], count: number): number {
  const sums = groupsOf(trips, ({ mint }) => mint).map(({ netSol }) => netSol)
  return sum(sums) - sum(sums.slice(0, count).filter((net) => net > 0))
}

/** Trades that were opened in the first part of the tape's time, and after it. */
export function splitInTime(
  trips: readonly RoundTrip[],
  from: Millis,
  to: Millis,
): { readonly inSample: Group; readonly holdOut: Group } {
  const cut = from + (to - from) * IN_SAMPLE
  const [before, after] = [
    trips.filter(({ openedAt }) => openedAt < cut),
    trips.filter(({ openedAt }) => openedAt >= cut),
  ]
  return { inSample: groupOf('in-sample', before), holdOut: groupOf('hold-out', after) }
}

/** Of the trades, how many have ended at nothing; 0 of none. */
export function zeroShareOf(trips: readonly RoundTrip[]): number {
  const zeros = trips.filter(
    ({ soldLamports, valueLamports, boughtLamports }) => soldLamports + valueLamports <= boughtLamports * NOTHING,
  )
  return trips.length === 0 ? 0 : zeros.length / trips.length
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

export interface Periods {
  readonly byDay: Group[]
  readonly byWeek: Group[]
  readonly byMonth: Group[]
  readonly byWeekday: Group[]
}

/** Trades by when they were opened, UTC. A week is named by its Monday. */
export function periodsOf(trips: readonly RoundTrip[]): Periods {
  return {
    byDay: inOrder(groupsOf(trips, ({ openedAt }) => utcDateOf(openedAt))),
    byWeek: inOrder(groupsOf(trips, ({ openedAt }) => utcDateOf(openedAt - weekday(openedAt) * DAY))),
    byMonth: inOrder(groupsOf(trips, ({ openedAt }) => utcDateOf(openedAt).slice(0, 7))),
    byWeekday: groupsOf(trips, ({ openedAt }) => WEEKDAYS[weekday(openedAt)] as string).sort(
      (one, other) => WEEKDAYS.indexOf(one.name) - WEEKDAYS.indexOf(other.name),
    ),
  }
}

function inOrder(groups: Group[]): Group[] {
  return groups.sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** 0 is Monday. */
function weekday(time: Millis): number {
  return (new Date(time).getUTCDay() + 6) % 7
}

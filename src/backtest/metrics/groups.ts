import { DAY, type Millis } from '../../base/units.ts'
import { netOf, type RoundTrip, returnOf } from '../../engine/accounting/round-trip.ts'
import { utcDateOf } from '../../runtime/time-text.ts'
import { mean, quantile, ratio, sum } from './statistics.ts'

/** Share of the tape's time that precedes the hold-out part. */
const IN_SAMPLE = 0.7
/** Trades with proceeds below this share of the amount paid count as total losses. */
const NOTHING = 0.01

/** Trades with a common property. */
export interface Group {
  readonly name: string
  readonly trades: number
  readonly netSol: number
  readonly medianSol: number | null
  /** Mean of the trades' returns. */
  readonly averagePercent: number | null
  /** Sum of the gains divided by the sum of the losses; null if there is no loss. */
  readonly profitFactor: number | null
  readonly winPercent: number | null
  readonly holdingSeconds: number | null
}

/** Groups trades by a name, best group first. */
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

export interface TagGroups {
  /** Trades by the tag of their first buy. `byExitTag`: by the tag of their last sale. The name of a group is '' for
   *  trades without a tag. Both lists are empty if no trade has a tag. */
  readonly byEntryTag: readonly Group[]
  readonly byExitTag: readonly Group[]
}

export function tagGroupsOf(trips: readonly RoundTrip[]): TagGroups {
  const by = (tagOf: (trip: RoundTrip) => string): Group[] =>
    trips.some((trip) => tagOf(trip) !== '') ? groupsOf(trips, tagOf) : []
  return { byEntryTag: by(({ entryTag }) => entryTag), byExitTag: by(({ exitTag }) => exitTag) }
}

/** A standalone number with sign and exponent; digits within a name such as `ema20` do not count. */
const NUMBER = /(?:(?<!\w)[-+])?(?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d+)?/gi
/** Text that a conditional order puts before the reason that its strategy gave. */
const TRIGGER = /^[a-z]\d+ at \S+: /

/** Replaces each number of a reason by `n`, and removes the details after a colon, so that reasons of the same kind
 *  form one group. */
export function kindOf(reason: string): string {
  return reason.replace(TRIGGER, '').replace(/:.*$/s, '').replace(NUMBER, 'n')
}

/** Net result without the gains of the `count` tokens that earned most. Losses are never left out, so the result is at
 *  most the result of all tokens. */
export function withoutBest(trips: readonly RoundTrip[], count: number): number {
  const sums = groupsOf(trips, ({ mint }) => mint).map(({ netSol }) => netSol)
  return sum(sums) - sum(sums.slice(0, count).filter((net) => net > 0))
}

/** Splits trades into those opened in the first part of the tape's time, and those opened later. */
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

/** Share of the trades that ended as total losses; 0 if there are no trades. */
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

/** Groups trades by the time at which they were opened, UTC. A week is named after its Monday. */
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

/** Day of the week; 0 is Monday. */
function weekday(time: Millis): number {
  return (new Date(time).getUTCDay() + 6) % 7
}

import type { Millis } from '../core/units.ts'
import { type Group, groupsOf } from './groups.ts'
import { DAY } from './metric.ts'
import { dateOf } from './time.ts'
import type { Trip } from './trip.ts'

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

export interface Periods {
  readonly byDay: Group[]
  readonly byWeek: Group[]
  readonly byMonth: Group[]
  readonly byWeekday: Group[]
}

/** Trades by when they were opened, UTC. A week is named by its Monday. */
export function periodsOf(trips: readonly Trip[]): Periods {
  return {
    byDay: inOrder(groupsOf(trips, ({ openedAt }) => dateOf(openedAt))),
    byWeek: inOrder(groupsOf(trips, ({ openedAt }) => dateOf(openedAt - weekday(openedAt) * DAY))),
    byMonth: inOrder(groupsOf(trips, ({ openedAt }) => dateOf(openedAt).slice(0, 7))),
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

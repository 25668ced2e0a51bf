import type { Change, LogLine, View } from './view.ts'

/** Fields of a view that are not compared as a whole. `positions`, `openOrders` and `bots` are compared row by row.
 *  `id` and `time` are in every change. A new time alone is not a change. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  'id',
  'time',
  'positions',
  'openOrders',
  'bots',
] satisfies (keyof View)[])

/** Returns the changes from one view to a later one of the same process; undefined if nothing changed. `log`: lines of
 *  the log since the first view. `isChanged`: whether something has changed that the views do not contain. */
export function changeBetween(
  before: View,
  after: View,
  log: readonly LogLine[] = [],
  isChanged = false,
): Change | undefined {
  const set: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(after))
    if (!OWN_KEYS.has(key) && !sameJson(value, before[key as keyof View])) set[key] = value
  const lists = {
    ...listed(
      'positions',
      changedRows(before.positions, after.positions, ({ id }) => id),
    ),
    ...listed(
      'openOrders',
      changedRows(before.openOrders, after.openOrders, ({ id }) => id),
    ),
    ...listed(
      'bots',
      changedRows(before.bots, after.bots, ({ name }) => name),
    ),
  }
  if (Object.keys(set).length + Object.keys(lists).length + log.length === 0 && !isChanged) return undefined
  set.time = after.time
  return { id: after.id, from: before.id, set: set as Change['set'], ...lists, ...(log.length > 0 && { log }) }
}

function listed<Rows>(key: 'positions' | 'openOrders' | 'bots', rows: Rows | undefined): { [key: string]: Rows } {
  return rows === undefined ? {} : { [key]: rows }
}

/** Returns the new and changed rows of a list by their keys, and null for each row that no longer exists; undefined if
 *  there are no such rows. */
function changedRows<Row>(
  before: readonly Row[],
  after: readonly Row[],
  keyOf: (row: Row) => string,
): Record<string, Row | null> | undefined {
  const known = new Map(before.map((row) => [keyOf(row), row]))
  const changed: [string, Row | null][] = []
  for (const row of after) {
    const key = keyOf(row)
    const old = known.get(key)
    known.delete(key)
    if (old === undefined || !sameJson(row, old)) changed.push([key, row])
  }
  for (const key of known.keys()) changed.push([key, null])
  return changed.length === 0 ? undefined : Object.fromEntries(changed)
}

/** Whether two values of plain JSON are equal. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false
    return one.every((item, index) => sameJson(item, other[index]))
  }
  let count = 0
  for (const key in one) {
    if (!sameJson(one[key as never], other[key as never])) return false
    count++
  }
  for (const _ in other) count--
  return count === 0
}

import type { BotStatus, Change, OrderStatus, PositionStatus, View } from './view.ts'

// This file imports nothing at run time, so that a browser can load it.

/** Returns the view after a change. Rows that did not change stay the same objects. Throws RangeError if the change was
 *  made for another view. */
export function applyChange(view: View, change: Change): View {
  if (change.from !== view.id)
    throw new RangeError(`a change from view ${change.from} cannot be applied to view ${view.id}`)
  const { bots = {} } = change
  return {
    ...view,
    ...change.set,
    id: change.id,
    positions: merged(view.positions, change.positions, inOrderOfOpening),
    openOrders: merged(view.openOrders, change.openOrders, inOrderOfNumbers),
    bots: view.bots.map((bot) => (Object.hasOwn(bots, bot.name) ? (bots[bot.name] as BotStatus) : bot)),
  }
}

/** Order of the positions of a view: the oldest first. */
export function inOrderOfOpening(one: PositionStatus, other: PositionStatus): number {
  return one.openedAt - other.openedAt || (one.id < other.id ? -1 : 1)
}

/** Order of the open orders of a view: the oldest first. The id is `o` and a number. */
function inOrderOfNumbers(one: OrderStatus, other: OrderStatus): number {
  return Number(one.id.slice(1)) - Number(other.id.slice(1))
}

function merged<Row extends { readonly id: string }>(
  rows: readonly Row[],
  changes: Readonly<Record<string, Row | null>> | undefined,
  order: (one: Row, other: Row) => number,
): readonly Row[] {
  if (changes === undefined) return rows
  const changed = new Set(Object.keys(changes))
  const kept = rows.filter(({ id }) => !changed.has(id))
  const news = Object.values(changes).filter((row) => row !== null)
  return [...kept, ...news].sort(order)
}

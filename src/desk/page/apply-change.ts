import type { Change, View } from '../../runtime/view/view.ts'

/** Returns the view after a change. Rows that did not change stay the same objects, so that the page draws only the
 *  others. */
export function applyChange(view: View, change: Change): View {
  return {
    ...view,
    ...change.set,
    id: change.id,
    positions: merged(view.positions, change.positions, ({ id }) => id),
    openOrders: merged(view.openOrders, change.openOrders, ({ id }) => id),
    bots: merged(view.bots, change.bots, ({ name }) => name),
  }
}

/** `changes` has the new row of each key, or null for a row that is gone. New rows come last. */
function merged<Row>(
  rows: readonly Row[],
  changes: Readonly<Record<string, Row | null>> | undefined,
  keyOf: (row: Row) => string,
): readonly Row[] {
  if (changes === undefined) return rows
  const news = new Map(Object.entries(changes))
  const kept = rows.flatMap((row) => {
    const key = keyOf(row)
    const next = news.get(key)
    news.delete(key)
    return next === undefined ? [row] : next === null ? [] : [next]
  })
  return [...kept, ...[...news.values()].filter((row) => row !== null)]
}

import { expect, test } from 'vitest'
import { applyChange } from '../../../src/desk/page/apply-change.ts'
import type { PositionStatus } from '../../../src/runtime/view/view.ts'
import { recordedView, SMALL } from './recorded-desk.ts'

const view = recordedView(SMALL)
const [first, second] = view.positions as [PositionStatus, PositionStatus]
const change = { id: '7-1', from: '7-0', set: {} }

test('a change replaces the values that it has, and the id', () => {
  const next = applyChange(view, { ...change, set: { fills: 567, feed: 'lost' } })
  expect(next).toEqual({ ...view, id: '7-1', fills: 567, feed: 'lost' })
})

test('rows change, go and come; the others stay the same objects in the same order', () => {
  const worth = { ...first, valueSol: 9 }
  const fresh = { ...first, id: 'paper|sandbox|/new' }
  const next = applyChange(view, { ...change, positions: { [first.id]: worth, [second.id]: null, [fresh.id]: fresh } })
  expect(next.positions.map(({ id }) => id)).toEqual([
    ...view.positions.map(({ id }) => id).filter((id) => id !== second.id),
    fresh.id,
  ])
  expect(next.positions[0]).toBe(worth)
  expect(next.positions[1]).toBe(view.positions[2])
  expect(next.openOrders).toBe(view.openOrders)
})

test('a row that is gone may be gone twice', () => {
  const without = applyChange(view, { ...change, openOrders: { o301: null } })
  const again = applyChange(without, { ...change, openOrders: { o301: null } })
  expect(again.openOrders.map(({ id }) => id)).toEqual(['o299'])
})

test('bots are known by their names', () => {
  const [bot] = view.bots
  const next = applyChange(view, { ...change, bots: { momentum: { ...bot!, trades: 41 } } })
  expect(next.bots.map(({ name, trades }) => [name, trades])).toEqual([
    ['momentum', 41],
    ['dips', 40],
  ])
})

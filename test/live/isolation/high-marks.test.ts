import { expect, test } from 'vitest'
import { newPosition } from '../../../src/engine/accounting/position.ts'
import { HighMarks } from '../../../src/live/isolation/isolated-segment.ts'

const owner = { account: 'a', bot: 'b', mint: 'm' }
const mark = (highPrice: number, mint = 'm') => ({ account: 'a', mint, highPrice })

test('the latest highest price of each position is returned only once', () => {
  const marks = new HighMarks()
  marks.add([mark(1), mark(2, 'n')])
  marks.add([mark(3)])
  expect(marks.take()).toEqual([mark(3), mark(2, 'n')])
  expect(marks.take()).toEqual([])
})

test('the highest price of a closed position is forgotten, so the next position in its mint starts without a highest price', () => {
  const marks = new HighMarks()
  const position = newPosition(owner, 0, {})
  marks.add([mark(9)])
  marks.heard([{ kind: 'position', position }])
  expect(marks.take()).toEqual([mark(9)])
  marks.add([mark(9)])
  marks.heard([{ kind: 'position', position: { ...position, state: 'closed' } }])
  expect(marks.take()).toEqual([])
})

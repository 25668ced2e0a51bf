import { expect, test } from 'vitest'
import { eventOf } from '../../src/market/block.ts'
import { LiveBlock, TranslatedBlock } from '../../src/market/live-block.ts'
import { Mints } from '../../src/market/mints.ts'
import { MINT, MINT_2 } from '../support/engine-rig.ts'
import { blockOf } from '../support/market-rows.ts'

test('rows from another thread keep their mints, with the token numbers of this thread, and later rows become visible', () => {
  const theirs = new Mints()
  const rows = [MINT, MINT_2, MINT].map((mint, row) => ({ time: row, mint, price: row + 1 }))
  const live = blockOf(rows, theirs) as LiveBlock
  const ours = new Mints()
  ours.intern('something else')
  const tokens = [MINT_2, MINT].reverse().map((mint) => ours.intern(mint))
  const block = new TranslatedBlock(new LiveBlock(ours.list, live.capacity, live.buffer), tokens)
  block.translate(2)
  expect(block.length).toBe(2)
  block.translate(3)
  expect([0, 1, 2].map((row) => eventOf(block, row).toJSON())).toEqual(
    [0, 1, 2].map((row) => eventOf(live, row).toJSON()),
  )
  expect([...block.token.subarray(0, 3)]).toEqual([1, 2, 1])
})

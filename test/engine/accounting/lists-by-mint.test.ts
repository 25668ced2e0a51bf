import { expect, it } from 'vitest'
import { ListsByMint } from '../../../src/engine/accounting/by-mint.ts'

interface Item {
  account: string
  mint: string
  id: string
  text: string
}

const item = (id: string, text = '', mint = 'm', account = 'a'): Item => ({ account, mint, id, text })

it('a list for each account and mint keeps its items in the sequence in which they were added, and an item with the same key replaces the old one', () => {
  const lists = new ListsByMint<Item>(({ id }) => id)
  for (const one of [item('1'), item('2'), item('3', '', 'other'), item('4', '', 'm', 'b'), item('1', 'new')])
    lists.set(one)
  expect(lists.of(item(''))).toEqual([item('1', 'new'), item('2')])
  expect(lists.find('4')).toEqual(item('4', '', 'm', 'b'))
  lists.delete(item('1'))
  lists.delete(item('9'))
  lists.set(item('1', 'again'))
  expect(lists.of(item(''))).toEqual([item('2'), item('1', 'again')])
  for (const id of ['1', '2', '2']) lists.delete(item(id))
  expect([lists.of(item('')), lists.find('1'), lists.of(item('', '', 'other')).length]).toEqual([[], undefined, 1])
})

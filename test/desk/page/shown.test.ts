import { expect, test } from 'vitest'
import { saleOf } from '../../../src/desk/page/shown.ts'
import { viewOf, viewOfWallets } from '../../support/view-sample.ts'

test('the button of a position sells in the wallet that has the position, even if the bot has moved to another wallet', () => {
  const [position] = viewOfWallets().positions as [ReturnType<typeof viewOfWallets>['positions'][number]]
  expect(saleOf({ ...position, wallet: 'side' })).toEqual({
    ...{ action: 'sell', mint: position.mint, bot: 'dips', wallet: 'side' },
  })
})

test('if wallets have no names, the button of a position names no wallet', () => {
  const sales = viewOf().positions.map(saleOf)
  expect(sales.length).toBeGreaterThan(0)
  for (const sale of sales) expect(sale).not.toHaveProperty('wallet')
})

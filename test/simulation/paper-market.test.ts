import { expect, test } from 'vitest'
import { DAY } from '../../src/base/units.ts'
import { DEFAULT_FILL_MODEL } from '../../src/engine/accounting/fill-assumptions.ts'
import { Mints } from '../../src/market/mints.ts'
import { PaperMarket } from '../../src/simulation/paper-market.ts'
import { blockOf } from '../support/market-rows.ts'

const NOON = 20_000 * DAY + DAY / 2

test('the paper market forgets a token without prints for two days unless it is held or followed', () => {
  const mints = new Mints()
  const market = new PaperMarket(mints, { tradePrice: 'sol', tradeAmount: 'sol' })
  const prints = (mint: string, day: number, price = 1e-7) =>
    market.observe(
      blockOf(
        Array.from({ length: 5 }, (_, row) => ({ time: NOON + day * DAY + row, mint, price })),
        mints,
      ),
      0,
      5,
    )
  const known = (): string[] =>
    ['quiet', 'held', 'followed', 'printed'].filter((mint) => market.price(mint) !== undefined)
  const tokens = ['quiet', 'held', 'followed', 'printed'].map((mint) => mints.intern(mint))
  market.addKeeper((mint) => mint === 'held')
  for (const mint of ['quiet', 'held', 'followed', 'printed']) prints(mint, 0)
  const path = market.follow('followed', DEFAULT_FILL_MODEL)
  prints('printed', 1)
  expect(known()).toHaveLength(4)
  prints('another', 2)
  expect(known()).toEqual(['held', 'followed', 'printed'])
  expect(tokens.map((token) => market.holds(token))).toEqual([false, true, true, true])
  expect(market.printedAt('quiet')).toBe(Number.NEGATIVE_INFINITY)
  market.unfollow('followed', path as NonNullable<typeof path>)
  // Tokens are also forgotten if a day begins in the middle of a block.
  const both = blockOf(
    [2.4, 3].map((day, row) => ({ time: NOON + day * DAY + row, mint: 'another', price: 1e-7 })),
    mints,
  )
  market.observe(both, 0, 2)
  expect(known()).toEqual(['held'])
})

test('a price that was read from a pool is used as long as the token is held, even if the token has no prints', () => {
  const mints = new Mints()
  const market = new PaperMarket(mints, { tradePrice: 'sol', tradeAmount: 'sol' })
  let held = 'mint'
  market.addKeeper((mint) => mint === held)
  const day = (number: number) =>
    market.observe(blockOf([{ time: NOON + number * DAY, mint: 'another', price: 1e-7 }], mints), 0, 1)
  market.pooled('mint', 2e-7, NOON)
  for (let number = 0; number < 4; number++) day(number)
  market.pooled('mint', 1e22, NOON + 1) // an impossible price, which must not overflow a sum
  expect([market.price('mint'), market.printedAt('mint')]).toEqual([2e-7, NOON])
  held = ''
  day(4)
  expect(market.price('mint')).toBeUndefined()
  expect(market.holds(mints.find('mint') as number)).toBe(false)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lamports } from '../../../src/base/units.ts'
import { addTokens, removeTokens } from '../../../src/engine/accounting/cost-and-profit.ts'
import { foldMovements, MoneyFold, profitsOf } from '../../../src/engine/accounting/money.ts'
import type { Failed, Movement } from '../../../src/engine/accounting/movement.ts'
import { newPosition } from '../../../src/engine/accounting/position.ts'
import { netOf } from '../../../src/engine/accounting/round-trip.ts'
import type { Fill } from '../../../src/engine/order.ts'
import { fill } from '../../support/journal-values.ts'

const MINT = 'M'

interface Leg {
  readonly side: 'buy' | 'sell'
  readonly tokens: bigint
  readonly price: number
}

/** Buys, and sales of at most the tokens held. At the end, everything is sold. */
const closedPosition = fc
  .array(
    fc.record({ isBuy: fc.boolean(), share: fc.integer({ min: 1, max: 1000 }), price: fc.nat({ max: 1_000_000 }) }),
    {
      minLength: 1,
      maxLength: 30,
    },
  )
  .map((steps) => {
    let held = 0n
    const legs: Leg[] = []
    for (const { isBuy, share, price } of steps) {
      const tokens = isBuy ? BigInt(share) : (held * BigInt(share)) / 1000n
      if (tokens === 0n) continue
      held += isBuy ? tokens : -tokens
      legs.push({ side: isBuy ? 'buy' : 'sell', tokens, price })
    }
    return held === 0n ? legs : [...legs, { side: 'sell', tokens: held, price: 500_000 } as const]
  })

function fillsOf(legs: readonly Leg[], more: Partial<Fill> = {}): Fill[] {
  return legs.map(({ side, tokens, price }, n) =>
    fill(n + 1, { side, tokens, slot: n, time: n * 1000, mint: MINT, tradeLamports: lamports(price), ...more }),
  )
}

function failed(more: Partial<Failed>): Failed {
  const about = { account: 'a', bot: 'dips', mint: MINT, orderId: 'o9', side: 'buy', time: 0, feeLamports: 7 } as const
  return { kind: 'failed', ...about, ...more }
}

const moved = (fills: readonly Fill[]): Movement[] => fills.map((one) => ({ kind: 'fill', fill: one }))
const timeOf = (movement: Movement): number => (movement.kind === 'fill' ? movement.fill.time : movement.time)
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

test('for a position that is sold completely, average cost and first in, first out give exactly the same profit', () => {
  fc.assert(
    fc.property(closedPosition, (legs) => {
      const fills = fillsOf(legs)
      const position = newPosition({ account: 'a', bot: 'b', mint: MINT }, 0, {})
      for (const one of fills) {
        if (one.side === 'buy') addTokens(position, one)
        else removeTokens(position, one)
      }
      const money = foldMovements(moved(fills)).bots[0]
      const networkFees = sum(fills.map(({ feeLamports }) => feeLamports))
      // The engine's profit does not include network fees, but the gain of a disposal does.
      expect(sum((money?.disposals ?? []).map(({ gainLamports }) => gainLamports))).toBe(
        position.realizedLamports - networkFees,
      )
    }),
  )
})

test('round trips, disposals and totals give the same total result', () => {
  fc.assert(
    fc.property(closedPosition, fc.nat({ max: 30 }), fc.nat(), (legs, sold, failedFee) => {
      const fills = fillsOf(legs.slice(0, sold + 1))
      const fold = foldMovements([
        ...moved(fills),
        failed({ account: fills[0]?.account ?? 'a', mint: 'other', feeLamports: failedFee }),
      ])
      const money = fold.bots[0]
      if (money === undefined || fills.length === 0) return
      const held = sum(fold.holdings.flatMap(({ lots }) => lots).map((lot) => lot.costLamports + lot.feeLamports))
      const gains = sum(money.disposals.map(({ gainLamports }) => gainLamports))
      expect(sum(money.trips.map(netOf)) - money.strayFeeLamports).toBe(
        gains - held - money.totals.rent - money.totals.failed,
      )
      expect(money.totals.network).toBe(sum(fills.map(({ feeLamports }) => feeLamports)))
      expect(money.totals.wallet + money.totals.failed).toBe(sum(fills.map(({ walletLamports }) => walletLamports)))
    }),
  )
})

const buyThenSell = [
  { side: 'buy', tokens: 10n, price: 100 },
  { side: 'sell', tokens: 10n, price: 300 },
] as const

// Returns the fills of two trades: trade 1 is open from 0 to 1,000 ms, trade 2 from 10,000 to 11,000 ms. Order o3
// opened trade 2.
const twoTrades = (): Fill[] => {
  const [first, second] = [fillsOf(buyThenSell), fillsOf(buyThenSell)]
  const later = second.map((one, n) => ({ ...one, slot: n + 10, time: one.time + 10_000, orderId: `o${n + 3}` }))
  return [...first, ...later.map((one) => ({ ...one, signature: `${one.signature}2` }))].map((one) => {
    return { ...one, account: 'a', bot: 'dips' }
  })
}

test.each<[string, Partial<Failed>, 'trade 1' | 'trade 2' | 'none']>([
  ['a failed buy between two trades, which is never filled', { time: 5_000 }, 'none'],
  ['a failed buy after the last trade', { time: 20_000 }, 'none'],
  ['a failed buy that adds to an open trade', { time: 500 }, 'trade 1'],
  ['a failed buy whose next attempt opened a trade', { orderId: 'o3', time: 9_500 }, 'trade 2'],
  ['a failed buy in another token', { mint: 'other', time: 500 }, 'none'],
  ['a failed sale during an open trade', { side: 'sell', time: 10_500 }, 'trade 2'],
  ['a failed sale after the sale that closed the trade', { side: 'sell', time: 5_000 }, 'trade 1'],
  ['a failed sale less than a second before the buy that opened the trade', { side: 'sell', time: 9_999 }, 'trade 2'],
])('the fee of %s is assigned to the right trade', (_what, more, where) => {
  const fills = twoTrades()
  const one = failed(more)
  const before = foldMovements(moved(fills)).bot(one)
  const [first = 0, second = 0] = before.trips.map(({ feeLamports }) => feeLamports)
  const expected = [first + (where === 'trade 1' ? 7 : 0), second + (where === 'trade 2' ? 7 : 0)]
  const folds = [foldMovements([one, ...moved(fills)]), new MoneyFold()]
  // The fills are in the order of their times, as a backtest receives them.
  const inTime = [...moved(fills), one].sort((a, b) => timeOf(a) - timeOf(b))
  if (one.side === 'buy') for (const movement of inTime) folds[1]?.apply(movement)
  for (const fold of one.side === 'buy' ? folds : folds.slice(0, 1)) {
    const { trips, strayFeeLamports, totals } = fold.bot(one)
    expect(trips.map(({ feeLamports }) => feeLamports)).toEqual(expected)
    expect(strayFeeLamports).toBe(where === 'none' ? 7 : 0)
    expect(totals.failed).toBe(7)
  }
})

test('if two bots trade the same mint in one wallet, one after the other, each keeps its own profits', () => {
  // An earlier version of Sluice assigned the disposals of both bots to the bot that used the mint last.
  const first = fillsOf(buyThenSell, { bot: 'first', feeLamports: lamports(0) })
  const second = fillsOf(
    buyThenSell.map((leg) => ({ ...leg, price: leg.side === 'buy' ? 100 : 60 })),
    { bot: 'second', feeLamports: lamports(0) },
  ).map((one) => ({ ...one, slot: one.slot + 10, time: one.time + 10_000, signature: `${one.signature}2` }))
  const profits = profitsOf(foldMovements(moved([...second, ...first])), () => undefined)
  expect(profits.map(({ bot, realizedLamports }) => [bot, realizedLamports])).toEqual([
    ['first', 200],
    ['second', -40],
  ])
})

test('adopted tokens are sorted by time among the fills of their own wallet', () => {
  // An earlier version of Sluice sorted the fills of all wallets together, but Solana slots of two chains cannot be
  // compared.
  const early = fillsOf(buyThenSell, { account: 'live|sandbox|g|w' }).map((one) => ({ ...one, time: 50_000 }))
  const own = fillsOf(buyThenSell, { account: 'live|main|g|w' }).map((one) => ({ ...one, slot: one.slot + 1000 }))
  const adopted: Movement = {
    ...{ kind: 'adopted', account: 'live|main|g|w', bot: 'dips', mint: MINT, time: 20_000 },
    ...{ tokens: 5n, decimals: 6, costLamports: lamports(7) },
  }
  const money = foldMovements([adopted, ...moved([...early, ...own])]).bot({ account: 'live|main|g|w', bot: 'dips' })
  expect(money.trips).toMatchObject([
    { closedAt: 1_000, boughtLamports: 100, soldLamports: 300 },
    { openedAt: 20_000, closedAt: null, boughtLamports: 7, entryReason: 'adopted' },
  ])
})

test('a fill that arrives late because of a fork is sorted to its place on the chain', () => {
  const fills = fillsOf([...buyThenSell, ...buyThenSell])
  const [one, two, three, four] = moved(fills) as [Movement, Movement, Movement, Movement]
  expect(foldMovements([four, two, three, one]).bots).toEqual(foldMovements([one, two, three, four]).bots)
})

test('tokens that leave the wallet without an order close the round trip at a loss', () => {
  const [buy] = fillsOf(buyThenSell, { feeLamports: lamports(5), rentLamports: lamports(0) }) as [Fill]
  const fold = new MoneyFold()
  fold.apply({ kind: 'fill', fill: buy, reason: 'in' })
  fold.apply({ kind: 'lost', account: buy.account, bot: buy.bot, mint: MINT, time: 9_000, left: 0n })
  expect(fold.bots).toMatchObject([{ lostLamports: 105, trips: [{ closedAt: 9_000, soldLamports: 0 }] }])
  expect(fold.holdings).toEqual([])
})

import { expect, test } from 'vitest'
import type { ExitRules } from '../../src/engine/exits/exit-settings.ts'
import type { JournalReader } from '../../src/journal/reader/reader.ts'
import type { Mints } from '../../src/market/mints.ts'
import { liquidationOf } from '../../src/runtime/liquidation-value.ts'
import { reservesAt, solFor } from '../../src/solana/pool-depth.ts'
import { MINT, MINT_2 } from '../support/engine-rig.ts'
import { blockOf, type MarketRow } from '../support/market-rows.ts'

const T0 = 1_780_000_000_000
const HELD = { account: 'paper|a', tokens: 1_000_000_000_000n, decimals: 6 }

/** Returns a journal that holds MINT, with a tape of prints at these prices, 0.1 s apart. */
function journalWith(prices: readonly number[], exits: ExitRules): JournalReader {
  const rows = [
    { kind: 'newToken', time: T0, mint: MINT },
    { kind: 'newToken', time: T0, mint: MINT_2 },
  ] as MarketRow[]
  for (const [at, price] of prices.entries())
    for (const mint of [MINT, MINT_2])
      rows.push({ kind: at % 2 === 0 ? 'buy' : 'sell', time: T0 + at * 100, mint, price, sol: 0.1 } as MarketRow)
  return {
    learned: () => [],
    lastStart: () => ({ units: { tradePrice: 'sol', tradeAmount: 'sol' } }),
    heldPositions: () => [{ mint: MINT, exits }],
    warmupRange: () => ({ from: 0, to: rows.length }),
    blocks: (mints: Mints) => [blockOf(rows, mints)],
  } as unknown as JournalReader
}

const into = (price: number): number => solFor(1e6, reservesAt(price)) * 0.99 * 1e9

test.each<[string, ExitRules, readonly number[], number]>([
  [
    'the robust price has risen, and the exit price has not followed',
    {},
    [...Array(90).fill(1e-7), ...Array(5).fill(2e-7)],
    1e-7,
  ],
  [
    'the robust price has risen, and the exits use a short window of prints',
    { windowPrints: 5 },
    [...Array(90).fill(1e-7), ...Array(7).fill(2e-7)],
    2e-7,
  ],
  [
    'the robust price has fallen, and the exit price has not followed',
    {},
    [...Array(90).fill(2e-7), ...Array(5).fill(1.2e-7)],
    1.2e-7,
  ],
])('a held token is valued at the lower one of its robust price and exit price: %s', (_what, exits, prices, at) => {
  const worth = liquidationOf(journalWith(prices, exits))
  expect((worth({ ...HELD, mint: MINT }) ?? 0) / into(at)).toBeCloseTo(1, 1)
})

test('a token that no position holds is valued at its robust price', () => {
  const worth = liquidationOf(journalWith([...Array(90).fill(1e-7), ...Array(7).fill(2e-7)], {}))
  expect((worth({ ...HELD, mint: MINT_2 }) ?? 0) / into(2e-7)).toBeCloseTo(1, 1)
})

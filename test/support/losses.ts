import { keyOf } from './journal-values.ts'
import type { MarketRow } from './market-rows.ts'

const T0 = Date.UTC(2026, 10, 22, 12, 0, 0)
const PRICE = 1e-7
const [FIRST, SECOND, THIRD, FOURTH] = [keyOf(1), keyOf(2), keyOf(3), keyOf(4)]

/** The size of the prints at which the strategy buys, SOL. */
const TOLD_SOL = 0.77
export const TOLD = `import { defineStrategy, z } from 'sluice'
export default defineStrategy({
  name: 'told',
  about: '',
  params: z.object({}),
  keys: ['trades'],
  start: (_params, bot) => ({
    onTrade({ amount }, token) {
      if (amount === ${TOLD_SOL}) bot.buy(token, { sol: 0.05, reason: 'told to' })
    },
  }),
})
`

/** Limits by bot. All bots make the same losses, and each has one limit, except `free`, which has none. */
export const LIMITS: Readonly<Record<string, object>> = {
  streak: { maxLosingStreak: 2, streakPauseSeconds: 36_000 },
  drawdown: { maxDrawdownSol: 0.05 },
  day: { maxDailyLossSol: 0.05 },
  free: {},
}

/** Returns prints of a token, one per second, buys and sales in turn. The sales prove that the token can be sold. */
function prints(second: number, mint: string, prices: readonly number[], sol = 1): MarketRow[] {
  return prices.map((price, index) => ({
    ...{ kind: index % 2 === 0 ? 'buy' : 'sell', time: T0 + (second + index) * 1000 },
    ...{ mint, price: price * PRICE, sol },
  }))
}

const five = (price: number): number[] => Array<number>(5).fill(price)

/** Returns rows at which a position is opened, and then sold by its stop-loss for less than half of its cost. */
function loss(second: number, mint: string): MarketRow[] {
  return [
    ...prints(second, mint, five(1)),
    ...prints(second + 5, mint, [1], TOLD_SOL),
    ...prints(second + 6, mint, five(1)),
    ...prints(second + 11, mint, [...five(0.4), ...five(0.4)]),
  ]
}

/**
 * Prints in which a bot makes two losses, and then requests more buys. At the row `BOUGHT`, the bot already holds the
 * second token. If the process is killed at this row or later, the second loss is in the journal or occurs after the
 * restart.
 */
export const LOSSES: readonly MarketRow[] = [
  ...loss(0, FIRST),
  ...loss(30, SECOND),
  ...prints(60, THIRD, five(1)),
  ...Array.from({ length: 20 }, (_, index) => prints(65 + index, THIRD, [1], TOLD_SOL)).flat(),
]
export const BOUGHT = LOSSES.findIndex(({ time }) => time === T0 + 40_000)

/**
 * Returns rows from `seconds` after the start on: prints at which the stop-loss sells the second token if it is still
 * held, and then requests for a fourth token.
 */
export function wishAt(seconds: number): MarketRow[] {
  return [
    ...prints(seconds, SECOND, [...five(0.4), ...five(0.4)]),
    ...prints(seconds + 20, FOURTH, five(1)),
    ...prints(seconds + 25, FOURTH, [1, 1, 1], TOLD_SOL),
    ...prints(seconds + 28, FOURTH, five(1)),
  ]
}

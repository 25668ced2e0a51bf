// strategies/streak.ts
import { defineStrategy, type Indicator, z } from 'sluice'

/** Number of 15-second bars in a row that closed higher than the bar before. */
const streak: Indicator<number> = {
  width: '15s',
  create() {
    let last: number | undefined
    let count: number | undefined
    return {
      add(bar) {
        if (last !== undefined) count = bar.close > last ? (count ?? 0) + 1 : 0
        last = bar.close
      },
      get value() {
        return count
      },
    }
  },
}

export default defineStrategy({
  name: 'streak',
  about: 'Buys a token that has risen for several bars.',
  params: z.object({ bars: z.number().int().min(2).max(20).default(4) }),
  keys: ['trades'],
  bars: { '15s': 1 },
  indicators: () => ({ streak }),
  exits: { stopLossPercent: 15, takeProfitPercent: 30, maxHoldSeconds: 600 },
  start: (params, bot) => ({
    onBar(_bar, token) {
      if (token.indicators.streak !== params.bars || token.position !== undefined) return
      bot.buy(token, { sol: 0.05, reason: `${params.bars} rising bars` })
    },
  }),
})

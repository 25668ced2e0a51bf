// strategies/crossing.ts
import { defineStrategy, ema, rsi, sma, z } from 'sluice'

export default defineStrategy({
  name: 'crossing',
  about: 'Buys when the fast average crosses the slow one on rising volume.',
  params: z.object({
    fast: z.number().int().min(2).max(50).default(9),
    slow: z.number().int().min(3).max(200).default(21),
  }),
  keys: ['trades'],
  bars: { '1m': 30 },
  indicators: (params) => ({
    fast: ema('1m', params.fast),
    slow: ema('1m', params.slow),
    strength: rsi('1m', 14),
    volume: sma('1m', 20, 'volumeSol'),
  }),
  exits: { stopLossPercent: 15, trailingPercent: 12, maxHoldSeconds: 3600 },
  token: () => ({ wasAbove: true }),
  start: (_params, bot) => ({
    onBar(bar, token) {
      const { fast, slow, strength, volume } = token.indicators
      if (fast === undefined || slow === undefined || strength === undefined || volume === undefined) return
      const isAbove = fast > slow
      const crosses = isAbove && !token.state.wasAbove
      token.state.wasAbove = isAbove
      if (!crosses || bar.gap || strength > 80 || bar.volumeSol < 2 * volume || token.position !== undefined) return
      bot.buy(token, { sol: 0.05, reason: `crossed on ${bar.volumeSol.toFixed(1)} SOL` })
    },
  }),
})

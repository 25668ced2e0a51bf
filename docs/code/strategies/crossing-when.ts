// strategies/crossing-when.ts
import { above, all, below, crossesAbove, defineStrategy, ema, figure, rsi, sma, times, z } from 'sluice'

export default defineStrategy({
  name: 'crossing-when',
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
  when: ({ fast, slow, strength, volume }) =>
    all(crossesAbove(fast, slow), below(strength, 80), above(figure('1m', 'volumeSol'), times(volume, 2))),
  exits: { stopLossPercent: 15, trailingPercent: 12, maxHoldSeconds: 3600 },
  start: (_params, bot) => ({
    onCondition(bar, token) {
      if (bar.gap || token.position !== undefined) return
      bot.buy(token, { sol: 0.05, reason: `crossed on ${bar.volumeSol.toFixed(1)} SOL` })
    },
  }),
})

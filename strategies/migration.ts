import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'migration',
  about: 'Buys a token that has left its bonding curve and holds above the price of the migration.',
  params: z.object({
    // The curve of pump.fun is sold out at this price. The feed announces no migration, so the strategy infers it.
    curveEndPrice: z
      .number()
      .min(1e-9)
      .max(1)
      .default(4.11e-7)
      .describe('price at which the curve is sold out, SOL a token'),
    holdBars: z.number().int().min(1).max(20).default(2).describe('number of 15-second bars that must close above it'),
    maxAbovePercent: z.number().min(1).max(1000).default(60).describe('largest distance above it at a buy, percent'),
    minVolumeSol: z.number().min(0).max(1000).default(5).describe('least volume of the last bar, SOL'),
    sizeSol: z.number().min(0.001).max(10).default(0.05).describe('size of a buy, SOL'),
  }),
  keys: ['trades', 'newTokens'],
  bars: { '15s': 1 },
  exits: {
    stopLossPercent: 20,
    takeProfitSteps: [{ atPercent: 40, sellPercent: 50 }],
    trailingPercent: 25,
    maxHoldSeconds: 1800,
  },
  token: () => ({ isOnCurve: false, barsAbove: 0 }),
  start: (params, bot) => ({
    onNewToken(_event, { state }) {
      state.isOnCurve = true // a token whose launch was not seen may have begun in a pool
    },
    onBar(bar, token) {
      const { state } = token
      if (!state.isOnCurve) return
      state.barsAbove = bar.close > params.curveEndPrice ? state.barsAbove + 1 : 0
      if (state.barsAbove < params.holdBars) return
      state.isOnCurve = false // one decision per token
      const above = (bar.close / params.curveEndPrice - 1) * 100
      const isLate = above > params.maxAbovePercent
      const isQuiet = bar.volumeSol < params.minVolumeSol
      if (isLate || isQuiet)
        bot.note(token.mint, isLate ? `${above.toFixed(0)} % above the curve` : 'too little volume')
      else bot.buy(token, { sol: params.sizeSol, reason: `left its curve, ${above.toFixed(0)} % above its end` })
    },
  }),
})

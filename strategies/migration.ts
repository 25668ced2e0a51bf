import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'migration',
  about: 'Buys a token that has left its bonding curve and stays above the price at the end of the curve.',
  params: z.object({
    // At this price, pump.fun's curve has sold all of its tokens. The feed does not announce migrations, so the
    // strategy infers them from the price.
    curveEndPrice: z
      .number()
      .min(1e-9)
      .max(1)
      .default(4.11e-7)
      .describe('price at which the bonding curve has sold all tokens, SOL a token'),
    holdBars: z.number().int().min(1).max(20).default(2).describe('15-second bars that must close above curveEndPrice'),
    maxAbovePercent: z.number().min(1).max(1000).default(60).describe('maximum distance above curveEndPrice, percent'),
    minVolumeSol: z.number().min(0).max(1000).default(5).describe('minimum volume of the last bar, SOL'),
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
      state.isOnCurve = true // without an announcement, the token may already trade in a pool
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
        bot.note(token.mint, isLate ? `${above.toFixed(0)} % above the curve's end price` : 'too little volume')
      else
        bot.buy(token, {
          sol: params.sizeSol,
          reason: `left its curve, ${above.toFixed(0)} % above the curve's end price`,
        })
    },
  }),
})

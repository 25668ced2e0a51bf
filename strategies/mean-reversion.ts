import { bollinger, defineStrategy, rsi, z } from 'sluice'

export default defineStrategy({
  name: 'mean-reversion',
  about: 'Buys below the lower Bollinger band when the RSI is low, and sells at the middle band.',
  params: z.object({
    bars: z.number().int().min(5).max(100).default(20).describe('length of the bands, number of 1-minute bars'),
    deviations: z.number().min(0.5).max(5).default(2).describe('width of the bands, number of standard deviations'),
    maxRsi: z.number().min(1).max(50).default(30).describe('maximum RSI at a buy, percent'),
    minVolumeSol: z.number().min(0).max(1000).default(1).describe('minimum volume of the bar, SOL'),
    sizeSol: z.number().min(0.001).max(10).default(0.05).describe('size of a buy, SOL'),
  }),
  keys: ['trades'],
  bars: { '1m': 1 },
  indicators: (params) => ({ bands: bollinger('1m', params.bars, params.deviations), rsi: rsi('1m', 14) }),
  exits: { stopLossPercent: 20, maxHoldSeconds: 3600 },
  start: (params, bot) => ({
    onBar(bar, token) {
      const { bands, rsi } = token.indicators
      if (bands === undefined || rsi === undefined || bar.gap) return
      if (token.position?.state === 'open' && bar.close >= bands.middle) {
        bot.sell(token, { all: true, reason: 'back at the middle band' })
      } else if (
        !token.position &&
        bar.close < bands.lower &&
        rsi <= params.maxRsi &&
        bar.volumeSol >= params.minVolumeSol
      ) {
        bot.buy(token, { sol: params.sizeSol, reason: `below the lower band, RSI ${rsi.toFixed(0)}` })
      }
    },
  }),
})

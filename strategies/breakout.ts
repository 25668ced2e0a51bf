import { defineStrategy, highest, sma, z } from 'sluice'

export default defineStrategy({
  name: 'breakout',
  about: 'Buys when a bar closes above all recent bars on high volume; a trailing stop sells.',
  params: z.object({
    bars: z.number().int().min(5).max(200).default(20).describe('number of previous 15-second bars to exceed'),
    volumeFactor: z
      .number()
      .min(1)
      .max(20)
      .default(2)
      .describe('minimum volume of the bar, as a multiple of the average volume (no %)'),
    minVolumeSol: z.number().min(0).max(1000).default(2).describe('minimum volume of the bar, SOL'),
    sizeSol: z.number().min(0.001).max(10).default(0.05).describe('size of a buy, SOL'),
  }),
  keys: ['trades'],
  bars: { '15s': 1 },
  indicators: (params) => ({ high: highest('15s', params.bars), volume: sma('15s', params.bars, 'volumeSol') }),
  exits: { trailingPercent: 15, stopLossPercent: 20, maxHoldSeconds: 1800 },
  token: () => ({ high: Number.POSITIVE_INFINITY, volume: 0 }), // values at the previous bar
  start: (params, bot) => ({
    onBar(bar, token) {
      const { high, volume } = token.state
      token.state.high = token.indicators.high ?? Number.POSITIVE_INFINITY
      token.state.volume = token.indicators.volume ?? 0
      const isLoud = bar.volumeSol >= Math.max(params.minVolumeSol, params.volumeFactor * volume)
      if (bar.close <= high || !isLoud || bar.gap || token.position) return
      const reason = `closed above ${params.bars} bars on ${bar.volumeSol.toFixed(1)} SOL, usual ${volume.toFixed(1)}`
      bot.buy(token, { sol: params.sizeSol, reason })
    },
  }),
})

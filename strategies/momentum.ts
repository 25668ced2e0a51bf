import { defineStrategy, ema, type Width, z } from 'sluice'

const params = z.object({
  // The ranges of the averages do not overlap, so a sweep can combine any two of their values.
  fast: z.number().int().min(2).max(20).default(5).describe('length of the fast average, number of bars'),
  slow: z.number().int().min(25).max(200).default(30).describe('length of the slow average, number of bars'),
  sampleSeconds: z
    .number()
    .int()
    .min(0)
    .max(60)
    .default(1)
    .describe('width of a bar, seconds; 0 makes every print a bar'),
  minSlopePercent: z.number().min(0).max(20).default(0.5).describe('minimum rise of the fast average, percent per bar'),
  minVolumeSol: z.number().min(0).max(100).default(0.5).describe('minimum average volume, SOL per bar'),
  sizeSol: z.number().min(0.001).max(10).default(0.05).describe('size of a buy, SOL'),
})

export default defineStrategy({
  name: 'momentum',
  about: 'Buys when the fast average price crosses above the slow one at high volume, sells when it falls below.',
  params,
  keys: ['trades'],
  bars: (params) => ({ [widthOf(params)]: { keep: 1, silent: 'gap' as const } }),
  indicators: (params) => ({
    fast: ema(widthOf(params), params.fast),
    slow: ema(widthOf(params), params.slow),
    volume: ema(widthOf(params), params.fast, 'volumeSol'),
  }),
  exits: { stopLossPercent: 20, maxHoldSeconds: 1_800 },
  token: () => ({ fast: 0, isUp: false }), // values at the previous bar
  start: (params, bot) => ({
    onBar(bar, token) {
      const { fast, slow, volume } = token.indicators
      const before = { ...token.state }
      token.state = { fast: fast ?? 0, isUp: fast !== undefined && slow !== undefined && fast > slow }
      if (fast === undefined || slow === undefined || volume === undefined || bar.gap) return
      const { isUp } = token.state
      const slopePercent = (fast / before.fast - 1) * 100
      const isStrong = slopePercent >= params.minSlopePercent && volume >= params.minVolumeSol
      if (token.position?.state === 'open' && !isUp) {
        bot.sell(token, { all: true, reason: `the ${params.fast}-average fell below the ${params.slow}-average` })
      } else if (!token.position && isUp && !before.isUp && isStrong) {
        const rise = `rising ${slopePercent.toFixed(1)} % with ${volume.toFixed(2)} SOL a bar`
        bot.buy(token, {
          sol: params.sizeSol,
          reason: `the ${params.fast}-average crossed the ${params.slow}-average, ${rise}`,
        })
      }
    },
  }),
})

function widthOf({ sampleSeconds }: z.output<typeof params>): Width {
  return sampleSeconds === 0 ? '1 trade' : `${sampleSeconds}s`
}

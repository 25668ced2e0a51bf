import { defineStrategy, z } from 'sluice'
import { EMA } from 'trading-signals'

/** State of a token: two averages of the robust price and one of the volume, updated with each sample. */
class Trend {
  readonly fast: EMA
  readonly slow: EMA
  readonly volume: EMA
  samples = 0
  fastPrice = 0
  /** Rise of the fast average since the previous sample, percent. */
  slopePercent = 0
  /** Average SOL traded per sample. */
  volumeSol = 0
  isUp = false
  /** Whether the fast average rose above the slow one with the last sample. */
  crossedUp = false

  constructor(fast: number, slow: number) {
    this.fast = new EMA(fast)
    this.slow = new EMA(slow)
    this.volume = new EMA(fast)
  }

  add(price: number, volumeSol: number): void {
    const before = this.fastPrice
    this.fastPrice = this.fast.update(price, false)
    const isUp = this.fastPrice > this.slow.update(price, false)
    this.volumeSol = this.volume.update(volumeSol, false)
    this.slopePercent = before > 0 ? (this.fastPrice / before - 1) * 100 : 0
    this.crossedUp = isUp && !this.isUp
    this.isUp = isUp
    this.samples++
  }
}

interface Sampled {
  trend: Trend | undefined
  /** Number of gaps in the feed before the averages began. */
  gaps: number
  /** Earliest time of the next sample, ms. */
  nextAt: number
  /** SOL traded since the previous sample. */
  volumeSol: number
}

export default defineStrategy({
  name: 'momentum',
  about: 'Buys when the fast average of the price crosses above the slow one with volume, sells when it falls below.',
  params: z.object({
    /** Lengths of the averages, in samples. The ranges do not overlap, so every point of a sweep is valid. */
    fast: z.number().int().min(2).max(20).default(5),
    slow: z.number().int().min(25).max(200).default(30),
    /** Minimum seconds between samples; 0 takes every print. */
    sampleSeconds: z.number().min(0).max(60).default(1),
    /** Least rise of the fast average from one sample to the next when it crosses, percent. */
    minSlopePercent: z.number().min(0).max(20).default(0.5),
    /** Least SOL traded per sample, averaged like the fast price. */
    minVolumeSol: z.number().min(0).max(100).default(0.5),
    sizeSol: z.number().min(0.001).max(10).default(0.05),
  }),
  keys: ['trades'],
  exits: { stopLossPercent: 20, maxHoldSeconds: 1_800 },
  token: (): Sampled => ({ trend: undefined, gaps: 0, nextAt: 0, volumeSol: 0 }),

  start(params, bot) {
    const sampleMs = params.sampleSeconds * 1000
    let gaps = 0

    /** Returns the averages of a token. Begins new ones after a gap, because an average across a gap would mix two
     *  different times. */
    function trendOf(state: Sampled): Trend {
      if (state.trend !== undefined && state.gaps === gaps) return state.trend
      state.gaps = gaps
      state.trend = new Trend(params.fast, params.slow)
      return state.trend
    }

    return {
      onTrade(trade, token) {
        const { state } = token
        const { amount } = trade
        if (amount > 0) state.volumeSol += amount
        const now = bot.now()
        if (now < state.nextAt || token.price === undefined) return
        const trend = trendOf(state)
        trend.add(token.price, state.volumeSol)
        state.nextAt = now + sampleMs
        state.volumeSol = 0
        if (trend.samples < params.slow) return

        const { position } = token
        if (position?.state === 'open' && !trend.isUp) {
          bot.sell(token, { all: true, reason: `the ${params.fast}-average fell below the ${params.slow}-average` })
        } else if (position === undefined && trend.crossedUp && isStrong(trend)) {
          bot.buy(token, { sol: params.sizeSol, reason: describe(trend) })
        }
      },

      onGap() {
        gaps++
      },
    }

    function isStrong(trend: Trend): boolean {
      return trend.slopePercent >= params.minSlopePercent && trend.volumeSol >= params.minVolumeSol
    }

    function describe({ slopePercent, volumeSol }: Trend): string {
      const rise = `rising ${slopePercent.toFixed(1)} % with ${volumeSol.toFixed(2)} SOL a sample`
      return `the ${params.fast}-average crossed the ${params.slow}-average, ${rise}`
    }
  },
})

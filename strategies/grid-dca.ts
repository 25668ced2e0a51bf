import { atr, defineStrategy, type Token, z } from 'sluice'

export default defineStrategy({
  name: 'grid-dca',
  about: 'Buys equal lots on the way down a grid of prices, and sells each lot one step higher.',
  params: z.object({
    stepPercent: z.number().min(2).max(50).default(12).describe('distance between lots, percent; more than the fees'),
    maxLots: z.number().int().min(1).max(10).default(4).describe('maximum number of lots per token'),
    maxRangePercent: z
      .number()
      .min(1)
      .max(100)
      .default(8)
      .describe('maximum average range (ATR) for the first lot, percent of the price'),
    minVolumeSol: z.number().min(0).max(1000).default(2).describe('minimum volume of the bar for the first lot, SOL'),
    sizeSol: z.number().min(0.001).max(10).default(0.03).describe('size of a lot, SOL'),
  }),
  keys: ['trades'],
  bars: { '15s': 1 },
  indicators: () => ({ range: atr('15s', 12) }),
  exits: { stopLossPercent: 45, maxHoldSeconds: 7200 },
  start: (params, bot) => ({
    onBar(bar, token) {
      const lots = token.position ? lotsOf(token) : []
      const { range } = token.indicators
      const last = lots.at(-1)
      const isCalm = range !== undefined && (range / bar.close) * 100 <= params.maxRangePercent
      const isFirst = !token.position && isCalm && bar.volumeSol >= params.minVolumeSol && !bar.gap
      const isLower =
        last !== undefined && lots.length < params.maxLots && bar.close <= last * (1 - params.stepPercent / 100)
      if (isFirst || isLower) {
        bot.buy(token, { sol: params.sizeSol, scaleIn: isLower, reason: `lot ${lots.length + 1} of ${params.maxLots}` })
      } else if (last !== undefined && bar.close >= last * (1 + params.stepPercent / 100)) {
        bot.sell(token, { percent: 100 / lots.length, reason: `lot ${lots.length}, one step higher` })
      }
    },
    onFill(fill, token) {
      const lots = lotsOf(token)
      // `durable` keeps the list of lots across restarts. The list is deleted when the position has closed.
      if (fill.side === 'sell') token.durable = token.position ? lots.slice(0, -1) : null
      else token.durable = [...lots, fill.price]
    },
  }),
})

/** Prices at which the lots still held were bought, SOL a token, in the order of the buys. */
function lotsOf({ durable }: Pick<Token, 'durable'>): readonly number[] {
  return (durable ?? []) as readonly number[]
}

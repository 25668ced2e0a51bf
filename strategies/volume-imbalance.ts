import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'volume-imbalance',
  about: 'Buys when buyers spend far more SOL than sellers receive, and sells when the flow turns.',
  params: z.object({
    imbalancePercent: z
      .number()
      .min(1)
      .max(100)
      .default(60)
      .describe('minimum imbalance of a bar, percent: (SOL of buys - SOL of sales) / their sum'),
    bars: z.number().int().min(1).max(20).default(2).describe('number of consecutive bars with this imbalance'),
    sizeSol: z.number().min(0.001).max(10).default(0.05).describe('size of a buy, SOL'),
  }),
  keys: ['trades'],
  // A bar closes after a fixed volume instead of a fixed time, because a minute with a volume of 1 SOL does not mean
  // the same as one with 100 SOL.
  bars: { '10 SOL': 1 },
  exits: { stopLossPercent: 15, trailingPercent: 15, maxHoldSeconds: 900 },
  token: () => ({ netSol: 0, inARow: 0 }),
  start: (params, bot) => ({
    // A bar closes with the print that completes it, before `onTrade` receives this print. `onTrade` therefore counts
    // the print for the next bar.
    onTrade(trade, { state }) {
      if (trade.amount > 0) state.netSol += trade.side === 'buy' ? trade.amount : -trade.amount
    },
    onBar(bar, token) {
      const { state } = token
      const percent = (state.netSol / bar.volumeSol) * 100
      state.netSol = 0
      state.inARow = percent >= params.imbalancePercent && bar.close > bar.open ? state.inARow + 1 : 0
      if (token.position?.state === 'open' && percent < 0) {
        bot.sell(token, { all: true, reason: `sellers outweigh buyers by ${(-percent).toFixed(0)} %` })
      } else if (!token.position && !bar.gap && state.inARow >= params.bars) {
        state.inARow = 0
        bot.buy(token, { sol: params.sizeSol, reason: `buyers outweigh sellers by ${percent.toFixed(0)} %` })
      }
    },
  }),
})

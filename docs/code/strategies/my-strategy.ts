import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'my-strategy',
  about: 'Buys a token that rose from its low, and lets the exits sell it.',
  // One schema gives the types, the defaults, the check of the YAML, and what `sluice sweep` may vary.
  params: z.object({
    risePercent: z.number().min(1).max(500).default(20),
    sizeSol: z.number().min(0.001).max(10).default(0.05),
  }),
  keys: ['trades'],
  // Used where neither the order nor the bot's YAML names any.
  exits: { stopLossPercent: 20, trailingPercent: 25, maxHoldSeconds: 900 },
  // What is kept for each token; freed with it.
  token: () => ({ low: Number.POSITIVE_INFINITY }),
  start: (params, bot) => ({
    onTrade(_trade, token) {
      const { price, state } = token
      if (price === undefined) return // the robust price; none before enough prints
      state.low = Math.min(state.low, price)
      const rise = (price / state.low - 1) * 100
      if (rise < params.risePercent || token.position) return
      state.low = price // the next rise counts from here, whether this buy is accepted or refused
      bot.buy(token, { sol: params.sizeSol, reason: `rose ${rise.toFixed(1)} %` })
    },
  }),
})

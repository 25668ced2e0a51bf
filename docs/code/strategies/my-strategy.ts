import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'my-strategy',
  about: 'Buys a token that rose from its low; the exits sell it.',
  // This schema defines types and defaults, checks the YAML, and limits the values that `sluice sweep` tests.
  params: z.object({
    risePercent: z.number().min(1).max(500).default(20),
    sizeSol: z.number().min(0.001).max(10).default(0.05),
  }),
  keys: ['trades'],
  // Exits of each position, unless the order or the bot's YAML sets others.
  exits: { stopLossPercent: 20, trailingPercent: 25, maxHoldSeconds: 900 },
  // State of each token; freed together with the token.
  token: () => ({ low: Number.POSITIVE_INFINITY }),
  start: (params, bot) => ({
    onTrade(_trade, token) {
      const { price, state } = token
      if (price === undefined) return // no robust price before enough prints
      state.low = Math.min(state.low, price)
      const rise = (price / state.low - 1) * 100
      if (rise < params.risePercent || token.position) return
      state.low = price // the next rise counts from here, whether this buy is accepted or refused
      bot.buy(token, { sol: params.sizeSol, reason: `rose ${rise.toFixed(1)} %` })
    },
  }),
})

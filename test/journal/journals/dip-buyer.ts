import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'dip-buyer',
  about: 'Buys a token that fell fast and lets the exits sell the bounce.',
  params: z.object({
    dropPercent: z.number().min(1).max(90).default(15),
    sizeSol: z.number().min(0.001).default(0.05),
  }),
  keys: ['trades'],
  token: () => ({ high: 0 }), // state per token
  start: (params, bot) => ({
    onTrade(_trade, token) {
      if (token.price === undefined) return // the robust price; undefined before enough prints
      token.state.high = Math.max(token.state.high, token.price)
      const drop = (1 - token.price / token.state.high) * 100
      if (drop < params.dropPercent || token.position) return
      token.state.high = token.price
      bot.buy(token, { sol: params.sizeSol, reason: `fell ${drop.toFixed(1)} %` })
    },
  }),
})

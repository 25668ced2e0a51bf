import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'stale-chaser',
  about: 'Buys while the robust price has not followed a rise yet.',
  params: z.object({ risePercent: z.number().default(25), sizeSol: z.number().default(1) }),
  keys: ['trades'],
  start: ({ risePercent, sizeSol }, bot) => ({
    onTrade(trade, token) {
      const { price, position } = token
      if (price === undefined || position !== undefined || trade.amount < 0.5) return
      const print = trade.amount / trade.tokensTraded
      if (print < price * (1 + risePercent / 100) || print > price * 4) return
      bot.buy(token, { sol: sizeSol, reason: 'the robust price is stale' })
    },
  }),
})

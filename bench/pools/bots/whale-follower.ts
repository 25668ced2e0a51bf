import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'whale-follower',
  about: 'Buys after a buy of at least 12 SOL.',
  params: z.object({ leastSol: z.number().default(12), sizeSol: z.number().default(1) }),
  keys: ['trades'],
  start: ({ leastSol, sizeSol }, bot) => ({
    onTrade(trade, token) {
      if (trade.side !== 'buy' || trade.amount < leastSol || token.position !== undefined) return
      bot.buy(token, { sol: sizeSol, reason: 'a whale bought' })
    },
  }),
})

import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'dump-buyer',
  about: 'Buys after a sale of at least 5 SOL.',
  params: z.object({ leastSol: z.number().default(5), sizeSol: z.number().default(1) }),
  keys: ['trades'],
  start: ({ leastSol, sizeSol }, bot) => ({
    onTrade(trade, token) {
      if (trade.side !== 'sell' || trade.amount < leastSol || token.position !== undefined) return
      bot.buy(token, { sol: sizeSol, reason: 'a large sale' })
    },
  }),
})

import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'whale-seller',
  about: 'Holds random tokens and sells each one to the next large buyer.',
  params: z.object({
    share: z.number().default(0.004),
    leastSol: z.number().default(4),
    sizeSol: z.number().default(1),
  }),
  keys: ['trades'],
  start: ({ share, leastSol, sizeSol }, bot) => ({
    onTrade(trade, token) {
      if (token.position === undefined) {
        if (bot.random() < share) bot.buy(token, { sol: sizeSol, reason: 'chance' })
      } else if (trade.side === 'buy' && trade.amount >= leastSol) bot.sell(token, { all: true, reason: 'a large buy' })
    },
  }),
})

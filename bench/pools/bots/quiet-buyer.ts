import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'quiet-buyer',
  about: 'Buys a token some seconds after a large trade if no other trade follows.',
  params: z.object({
    silenceSeconds: z.number().default(3),
    leastSol: z.number().default(2),
    sizeSol: z.number().default(1),
  }),
  keys: ['trades'],
  start: ({ silenceSeconds, leastSol, sizeSol }, bot) => ({
    onTrade(trade, token) {
      bot.clear(token.mint)
      if (trade.amount >= leastSol && token.position === undefined) bot.after(token.mint, silenceSeconds)
    },
    onTimer(mint) {
      bot.buy(mint, { sol: sizeSol, reason: 'quiet since a large trade' })
    },
  }),
})

import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'impact-scalper',
  about: 'Buys enough to move the price, and sells immediately after the fill.',
  params: z.object({ share: z.number().default(0.001), sizeSol: z.number().default(5) }),
  keys: ['trades'],
  start: ({ share, sizeSol }, bot) => ({
    onTrade(_trade, token) {
      if (token.position === undefined && bot.random() < share) bot.buy(token, { sol: sizeSol, reason: 'to move it' })
    },
    onFill(fill, token) {
      if (fill.side === 'buy') bot.sell(token, { all: true, reason: 'the price is high now' })
    },
  }),
})

import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'never-seller',
  about: 'Buys at random prints and never sells, so that its result is the value of its open positions.',
  params: z.object({ share: z.number().default(0.002), sizeSol: z.number().default(0.3) }),
  keys: ['trades'],
  start: ({ share, sizeSol }, bot) => ({
    onTrade(_trade, token) {
      if (token.position === undefined && bot.random() < share) bot.buy(token, { sol: sizeSol, reason: 'to hold' })
    },
  }),
})

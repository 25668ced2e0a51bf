import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'random-entries',
  about: 'Buys at random prints and holds each token for a random time.',
  params: z.object({ share: z.number().default(0.004), sizeSol: z.number().default(0.1) }),
  keys: ['trades'],
  start: ({ share, sizeSol }, bot) => ({
    onTrade(_trade, token) {
      if (token.position !== undefined || bot.random() >= share) return
      bot.buy(token, { sol: sizeSol, reason: 'chance', exits: { maxHoldSeconds: 5 + Math.floor(bot.random() * 55) } })
    },
  }),
})

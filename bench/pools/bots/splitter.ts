import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'splitter',
  about: 'Buys in ten parts in place of one large buy.',
  params: z.object({
    share: z.number().default(0.0005),
    parts: z.number().default(10),
    partSol: z.number().default(1),
  }),
  keys: ['trades'],
  token: () => ({ bought: 0 }),
  start: ({ share, parts, partSol }, bot) => ({
    onTrade(_trade, token) {
      if (token.position !== undefined || bot.random() >= share) return
      token.state.bought = 0
      bot.buy(token, { sol: partSol, reason: 'part 1' })
    },
    onFill(fill, token) {
      if (fill.side === 'sell') return
      token.state.bought++
      if (token.state.bought < parts)
        bot.buy(token, { sol: partSol, scaleIn: true, reason: `part ${token.state.bought + 1}` })
    },
  }),
})

import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'hoarder',
  about: 'Buys every token at its first robust price, repeats a refused buy after a second, and sells nothing.',
  params: z.object({ sizeSol: z.number().default(0.02) }),
  keys: ['trades', 'newTokens', 'priceUpdates'],
  token: () => ({ isBought: false, askedAt: 0 }),
  start: ({ sizeSol }, bot) => ({
    onTrade(_trade, token) {
      if (token.price === undefined || token.state.isBought || token.position !== undefined) return
      if (bot.now() - token.state.askedAt < 1_000) return
      token.state = { askedAt: bot.now(), isBought: bot.buy(token, { sol: sizeSol, reason: 'first robust price' }).ok }
    },
  }),
})

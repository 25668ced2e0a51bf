import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'hoarder',
  about: 'Buys every token at its first robust price, asks again where it is refused, and sells nothing.',
  params: z.object({ sizeSol: z.number().default(0.02) }),
  keys: ['trades', 'newTokens', 'priceUpdates'],
  token: () => ({ isBought: false }),
  start: ({ sizeSol }, bot) => ({
    onTrade(_trade, token) {
      if (token.price === undefined || token.state.isBought || token.position !== undefined) return
      token.state = { isBought: bot.buy(token, { sol: sizeSol, reason: 'first robust price' }).ok }
    },
  }),
})

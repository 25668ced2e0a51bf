import { defineStrategy, z } from '../src/index.ts'

/** Buys nine of ten tokens at the first trade of at least 0.3 SOL at which the token has a price, and buys again after
 *  each sale. For the other tokens, it records the decision not to buy with `bot.note`. */
export const trader = defineStrategy({
  name: 'trader',
  about: '',
  params: z.object({}),
  keys: ['trades', 'newTokens'],
  token: () => ({ asked: false }),
  start: (_params, bot) => ({
    onTrade({ amount }, token) {
      if (token.state.asked || amount < 0.3 || token.price === undefined) return
      token.state.asked = true
      if (bot.random() < 0.9) bot.buy(token, { sol: 0.001, reason: 'a large print with a price' })
      else bot.note(token.mint, 'not selected by the random draw')
    },
    onFill({ side }, token) {
      if (side === 'sell') token.state.asked = false
    },
  }),
})

import { defineStrategy, z } from 'sluice'

/** Time of silence after which the bot sells, ms. */
const SILENCE_MS = 10_000

export default defineStrategy({
  name: 'silence-seller',
  about: 'Buys active tokens and sells them once their trading has stopped.',
  params: z.object({ share: z.number().default(0.002), sizeSol: z.number().default(1) }),
  keys: ['trades'],
  token: () => ({ printedAt: 0 }),
  start({ share, sizeSol }, bot) {
    bot.every('look', 1)
    return {
      onTrade(_trade, token) {
        token.state.printedAt = bot.now()
        if (token.position === undefined && bot.random() < share) bot.buy(token, { sol: sizeSol, reason: 'active' })
      },
      onTimer() {
        for (const { mint } of bot.positions()) {
          const token = bot.token(mint)
          if (token !== undefined && bot.now() - token.state.printedAt > SILENCE_MS)
            bot.sell(token, { all: true, reason: 'silence' })
        }
      },
    }
  },
})

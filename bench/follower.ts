import { defineStrategy, z } from 'sluice'

export const BUY = 7

/** Buys after every trade of exactly 7 SOL. */
export default defineStrategy({
  name: 'follower',
  about: 'Buys after a trade of 7 SOL.',
  params: z.object({}),
  keys: ['trades'],
  start: (_params, bot) => ({
    onTrade(trade, token) {
      if (trade.amount === BUY) bot.buy(token, { sol: 0.05, reason: 'a trade of 7 SOL' })
    },
  }),
})

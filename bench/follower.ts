import { defineStrategy, z } from 'sluice'

export const BUY = 7

/** Buys what somebody pays exactly 7 SOL for. */
export default defineStrategy({
  name: 'follower',
  about: 'buys upon a sign',
  params: z.object({}),
  keys: ['trades'],
  start: (_params, bot) => ({
    onTrade(trade, token) {
      if (trade.amount === BUY) bot.buy(token, { sol: 0.05, reason: 'somebody paid 7 SOL' })
    },
  }),
})

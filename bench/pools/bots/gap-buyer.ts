import { defineStrategy, z } from 'sluice'

/** Time after a gap within which the bot buys, ms. */
const AFTER_MS = 5_000

export default defineStrategy({
  name: 'gap-buyer',
  about: 'Buys the tokens that print first after a gap of the feed.',
  params: z.object({ sizeSol: z.number().default(1) }),
  keys: ['trades'],
  start({ sizeSol }, bot) {
    let endedAt = 0
    return {
      onGap({ to }) {
        endedAt = to
      },
      onTrade(_trade, token) {
        if (bot.now() - endedAt < AFTER_MS && token.position === undefined)
          bot.buy(token, { sol: sizeSol, reason: 'the first price after a gap' })
      },
    }
  },
})

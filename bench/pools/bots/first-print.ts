import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'first-print',
  about: 'Buys a launch at its first print, and tries again at each print until it holds the token.',
  params: z.object({ sizeSol: z.number().default(1), tries: z.number().default(5) }),
  keys: ['trades', 'newTokens'],
  token: () => ({ left: 0 }),
  start: ({ sizeSol, tries }, bot) => ({
    onNewToken(_event, token) {
      token.state.left = tries
    },
    onTrade(_trade, token) {
      if (token.state.left === 0 || token.position !== undefined) return
      token.state.left--
      bot.buy(token, { sol: sizeSol, reason: 'one of the first prints' })
    },
  }),
})

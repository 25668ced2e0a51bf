import { defineStrategy, z } from 'sluice'

type Sale = { percent: number } | { half: true } | { all: true }

/** How what was bought is sold again: one list a token. */
const WAYS: readonly (readonly Sale[])[] = [
  [{ percent: 40 }, { all: true }],
  [{ half: true }, { all: true }],
  [{ all: true }],
]

export default defineStrategy({
  name: 'round-trips',
  about: 'Buys tokens at their first robust price and sells each in another way: by percent, by number, all at once.',
  params: z.object({ sizeSol: z.number().default(0.05), rounds: z.int().default(1) }),
  keys: ['trades', 'newTokens', 'priceUpdates'],
  token: () => ({ seen: false, sales: [] as readonly Sale[] }),
  start: (params, bot) => {
    const ways = Array.from({ length: params.rounds }, () => WAYS).flat()
    return {
      onTrade(_trade, token) {
        const way = ways[0]
        if (way === undefined || token.state.seen || token.price === undefined) return
        if (!bot.buy(token, { sol: params.sizeSol, reason: 'first robust price' }).ok) return
        token.state = { seen: true, sales: way }
        ways.shift()
      },
      onOrder(order, token) {
        if (order.state === 'working' || order.state === 'accepted') return
        if (order.state === 'filled') {
          const [sale, ...later] = token.state.sales
          const held = token.position
          if (held === undefined || held.state !== 'open' || sale === undefined) return
          token.state = { seen: true, sales: later }
          if ('half' in sale) bot.sell(token, { tokens: held.tokens / 2, reason: 'half of it' })
          else bot.sell(token, { ...sale, reason: 'percent' in sale ? 'a share of it' : 'all of it' })
        } else if (order.side === 'buy')
          ways.push(token.state.sales) // another token instead
        else if (token.position !== undefined) bot.sell(token, { all: true, reason: 'the sale before failed' })
      },
    }
  },
})

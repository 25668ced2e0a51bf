import { defineStrategy, z } from 'sluice'

type Sale = { percent: number } | { half: true } | { all: true }

/** The ways to sell a bought token: one list of sales per token. */
const WAYS: readonly (readonly Sale[])[] = [
  [{ percent: 40 }, { all: true }],
  [{ half: true }, { all: true }],
  [{ all: true }],
]

/** The plan of a token: how it is sold, and the remaining steps. */
interface Trip {
  readonly seen: boolean
  readonly way: readonly Sale[]
  readonly left: readonly Sale[]
}

export default defineStrategy({
  name: 'round-trips',
  about:
    'Buys tokens at their first robust price, and sells each token in a different way: by percent, by number or at once.',
  params: z.object({ sizeSol: z.number().default(0.05), rounds: z.int().default(1) }),
  keys: ['trades', 'newTokens', 'priceUpdates'],
  token: (): Trip => ({ seen: false, way: [], left: [] }),
  start: (params, bot) => {
    const ways = Array.from({ length: params.rounds }, () => WAYS).flat()
    let unwalked = ways.length
    return {
      onTrade(_trade, token) {
        const way = ways[0]
        if (way === undefined || token.state.seen || token.price === undefined) return
        if (!bot.buy(token, { sol: params.sizeSol, reason: 'first robust price' }).ok) return
        token.state = { seen: true, way, left: way }
        ways.shift()
      },
      onOrder(order, token) {
        if (order.state === 'working' || order.state === 'accepted') return
        const { way, left } = token.state
        const [sale, ...later] = left
        const held = token.position
        if (order.state === 'filled') {
          if (held?.state === 'open' && sale !== undefined) {
            token.state = { seen: true, way, left: later }
            if ('half' in sale) bot.sell(token, { tokens: held.tokens / 2, reason: 'half of it' })
            else bot.sell(token, { ...sale, reason: 'percent' in sale ? 'sale of a part' : 'sale of the rest' })
          } else if (order.side === 'sell' && way.length > 0) {
            token.state = { seen: true, way: [], left: [] }
            if (sale !== undefined)
              ways.push(way) // the token was sold early, so another token gets this plan
            else if (--unwalked === 0) bot.note(order.mint, 'all kinds of sales are done')
          }
        } else if (order.side === 'buy')
          ways.push(way) // the buy failed, so another token gets this plan
        else if (held !== undefined) bot.sell(token, { all: true, reason: 'the previous sale failed' })
      },
    }
  },
})

import { type Bot, defineStrategy, type Token, z } from 'sluice'

interface Seen {
  seen: boolean
}

type Way = (bot: Bot<Seen>, token: Token<Seen>, price: number) => unknown

const reason = 'it waits'
const forSeconds = 6

/** The ways to buy tokens, used in turn. */
const WAYS: readonly Way[] = [
  (bot, token, price) =>
    bot.limitBuy(token, {
      ...{ sol: 0.05, atPrice: price * 1.02, forSeconds, reason },
      exits: {
        ...{ windowPrints: 5, trailingPercent: 10, trailingArmPercent: 2, breakEvenAtPercent: 5 },
        takeProfitSteps: [
          { atPercent: 0.5, sellPercent: 40 },
          { atPercent: 2, sellPercent: 30 },
        ],
      },
    }),
  (bot, token, price) =>
    bot.bracket(token, { sol: 0.05, stopPrice: price * 0.95, takeProfitPrice: price * 1.05, reason }),
  (bot, token, price) => {
    const either = { sol: 0.05, forSeconds, reason, oneCancelsOther: `either ${bot.now()}` }
    bot.limitBuy(token, { ...either, atPrice: price * 1.01 })
    bot.limitBuy(token, { ...either, atPrice: price * 0.99 })
  },
  (bot, token) => bot.dca(token, { sol: 0.03, everySeconds: 1, times: 4, reason }),
  (bot, token, price) =>
    bot.limitBuy(token, {
      ...{ sol: 0.05, atPrice: price * 1.02, forSeconds, reason },
      exits: { idleSeconds: 2, whenStale: { policy: 'flatten', afterSeconds: 3 } },
    }),
]

export default defineStrategy({
  name: 'standing-orders',
  about: 'Requests every kind of conditional order, and sells half of its tokens by a pair of them.',
  params: z.object({ rounds: z.int().default(1) }),
  keys: ['trades', 'newTokens', 'priceUpdates'],
  token: (): Seen => ({ seen: false }),
  start: (params, bot) => {
    let left = WAYS.length * params.rounds
    return {
      onTrade(_trade, token) {
        if (left === 0 || token.state.seen || token.price === undefined || token.position !== undefined) return
        token.state = { seen: true }
        left--
        const next = typeof bot.state === 'number' ? bot.state : 0
        bot.state = next + 1
        WAYS[next % WAYS.length]?.(bot, token, token.price)
      },
      onFill({ side, price }, token) {
        if (side !== 'buy') return
        const half = { percent: 50, forSeconds, reason: 'half of it', oneCancelsOther: `half ${bot.now()}` }
        bot.limitSell(token, { ...half, atPrice: price * 1.01 })
        bot.stopSell(token, { ...half, atPrice: price * 0.99 })
      },
    }
  },
})

import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'print-momentum',
  about: 'Buys when the last prints of a token rose one after the other.',
  params: z.object({
    prints: z.number().default(4),
    risePercent: z.number().default(8),
    sizeSol: z.number().default(0.5),
  }),
  keys: ['trades'],
  token: () => ({ prices: [] as number[] }),
  start: ({ prints, risePercent, sizeSol }, bot) => ({
    onTrade(trade, token) {
      if (trade.amount < 0.05) return
      const { prices } = token.state
      prices.push(trade.amount / trade.tokensTraded)
      if (prices.length > prints) prices.shift()
      const isRising = prices.every((price, at) => at === 0 || price > (prices[at - 1] as number))
      const rise = ((prices.at(-1) as number) / (prices[0] as number) - 1) * 100
      if (prices.length < prints || !isRising || rise < risePercent || rise > 100 || token.position !== undefined)
        return
      bot.buy(token, { sol: sizeSol, reason: `rose ${rise.toFixed(1)} % in ${prints} prints` })
    },
  }),
})

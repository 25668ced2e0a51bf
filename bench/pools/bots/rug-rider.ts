import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'rug-rider',
  about: 'Buys young tokens that only rise, and holds them for long.',
  params: z.object({ buys: z.number().default(8), sizeSol: z.number().default(0.5) }),
  keys: ['trades'],
  token: () => ({ buysInARow: 0, isDone: false }),
  start: ({ buys, sizeSol }, bot) => ({
    onTrade(trade, token) {
      const { state } = token
      state.buysInARow = trade.side === 'buy' ? state.buysInARow + 1 : 0
      if (state.isDone || state.buysInARow < buys || token.price === undefined) return
      state.isDone = true
      bot.buy(token, { sol: sizeSol, reason: `${buys} buys in a row` })
    },
  }),
})

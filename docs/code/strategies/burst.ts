// strategies/burst.ts
import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'burst',
  about: 'Buys each token once, when the buys of a minute reach a given amount of SOL.',
  // One schema gives the types, the defaults, the check of the YAML and the search space of a sweep.
  params: z.object({
    minuteSol: z.number().min(1).max(1000).default(20),
    sizeSol: z.number().min(0.001).max(10).default(0.05),
  }),
  keys: ['trades'],
  exits: { stopLossPercent: 20, takeProfitPercent: 40, maxHoldSeconds: 600 },
  // State per token, created with its first event.
  token: () => ({ since: 0, sol: 0, done: false }),
  start(params, bot) {
    bot.every('report', 3600)
    let seen = 0
    return {
      onTrade(trade, token) {
        const { state } = token
        if (state.done || trade.side !== 'buy' || !(trade.amount > 0)) return
        if (bot.now() - state.since > 60_000) {
          state.since = bot.now()
          state.sol = 0
        }
        state.sol += trade.amount
        if (state.sol < params.minuteSol) return
        seen++
        state.done = true
        const placed = bot.buy(token, { sol: params.sizeSol, reason: `${state.sol.toFixed(1)} SOL within a minute` })
        if (!placed.ok && placed.code === 'PRICE_UNKNOWN') state.done = false // try again with the next print
      },
      onTimer() {
        bot.note('', `${seen} bursts so far`)
      },
    }
  },
})

import { defineStrategy, z } from 'sluice'

/** Results of the copied buys of each leader: the moving average of their profit, percent, and the number of copies. */
type Scores = Readonly<Record<string, { readonly percent: number; readonly copies: number }>>

export default defineStrategy({
  name: 'copy-trader',
  about: 'Copies the buys of chosen traders in several parts, sells in steps, and drops traders whose copies lose.',
  params: z.object({
    leaders: z.array(z.string()).max(100).default([]).describe('public keys of the traders to copy'),
    minTradeSol: z.number().min(0).max(1000).default(0.5).describe("minimum size of a leader's buy to copy, SOL"),
    parts: z
      .number()
      .int()
      .min(1)
      .max(20)
      .default(3)
      .describe('number of buys per copied trade; each later buy only at the price of the first or below'),
    partSeconds: z.number().min(1).max(3600).default(30).describe('time between the buys of a copy, seconds'),
    minPercent: z.number().min(-100).max(100).default(-5).describe('minimum average profit of the copies, percent'),
    trialCopies: z.number().int().min(1).max(100).default(5).describe('number of copies before minPercent applies'),
    sizeSol: z.number().min(0.001).max(10).default(0.02).describe('size of each buy of a copy, SOL'),
  }),
  keys: ['trades'],
  exits: {
    takeProfitSteps: [
      { atPercent: 30, sellPercent: 40 },
      { atPercent: 60, sellPercent: 30 },
      { atPercent: 120, sellPercent: 30 },
    ],
    ...{ stopLossPercent: 30, maxHoldSeconds: 3600 },
  },
  start(params, bot) {
    const leaders = new Set(params.leaders)
    const scores = (): Scores => (bot.state ?? {}) as Scores

    return {
      onTrade({ trader: leader, side, amount }, token) {
        if (!leaders.has(leader)) return
        if (side === 'sell') {
          const isOurs = token.position?.state === 'open' && token.durable === leader
          if (isOurs) bot.sell(token, { all: true, reason: `the leader ${leader} sells` })
          return
        }
        const isOpen = token.position !== undefined || bot.orders().some(({ mint }) => mint === token.mint)
        if (isOpen || token.price === undefined || !(amount >= params.minTradeSol)) return
        const { percent, copies } = scores()[leader] ?? { percent: 0, copies: 0 }
        if (copies >= params.trialCopies && percent < params.minPercent)
          return bot.note(token.mint, `copies of ${leader} make ${percent.toFixed(1)} % on average`)
        token.durable = leader
        bot.dca(token, {
          ...{ sol: params.sizeSol, times: params.parts, everySeconds: params.partSeconds, maxPrice: token.price },
          ...{ tag: leader, reason: `copies ${leader}, who bought for ${amount.toFixed(2)} SOL` },
        })
      },

      onPositionClosed({ mint, entryTag: leader, profitPercent }) {
        for (const order of bot.orders()) if (order.mint === mint) bot.cancel(order.id) // the copy's other buys
        if (!leaders.has(leader)) return
        const { percent, copies } = scores()[leader] ?? { percent: 0, copies: 0 }
        const next = percent + (profitPercent - percent) / Math.min(copies + 1, 20)
        bot.state = { ...scores(), [leader]: { percent: next, copies: copies + 1 } }
      },
    }
  },
})

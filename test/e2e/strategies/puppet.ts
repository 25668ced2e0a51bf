import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: 'puppet',
  about: 'Carries out the actions that signals select, and notes their results.',
  params: z.object({ sizeSol: z.number().default(0.1) }),
  keys: ['trades', 'newTokens', 'priceUpdates'],
  start: ({ sizeSol }, bot) => ({
    onSignal(name, data) {
      const { to, mint } = data as { to: string; mint: string }
      if (to !== bot.name) return
      if (name === 'throw') throw new Error('told to')
      const placed =
        name === 'buy' || name === 'buy within a second'
          ? bot.buy(mint, { sol: sizeSol, reason: 'told to', ...(name !== 'buy' && { ttlSeconds: 1 }) })
          : name === 'half'
            ? bot.sell(mint, { tokens: (bot.position(mint)?.tokens ?? 0) / 2, reason: 'told to' })
            : bot.sell(mint, { all: true, reason: 'told to' })
      const { reservedSol } = bot.wallet()
      bot.note(mint, JSON.stringify({ answer: placed.ok ? placed.id : placed.code, reservedSol }))
    },
  }),
})

import { defineStrategy, z } from 'sluice'

/** Data of a signal: the order that `sluice doctor` requests. */
const request = z.object({
  mint: z.string(),
  sol: z.number().optional(),
  percent: z.number().optional(),
  tokens: z.number().optional(),
})

export default defineStrategy({
  name: 'probe',
  about: 'Places the orders of `sluice doctor --probe-live`; does nothing by itself.',
  params: z.object({}),
  keys: ['trades'],
  warmup: 0,
  start: (_params, bot) => ({
    onSignal(name, data) {
      const { mint, sol, percent, tokens } = request.parse(data)
      const reason = `probe: ${name}`
      const placed =
        sol !== undefined
          ? bot.buy(mint, { sol, reason })
          : percent !== undefined
            ? bot.sell(mint, { percent, reason })
            : tokens !== undefined
              ? bot.sell(mint, { tokens, reason })
              : bot.sell(mint, { all: true, reason })
      bot.note(mint, JSON.stringify(placed)) // answer to the signal
    },
  }),
})

import { type Bar, type BarPlan, bollinger, defineStrategy, ema, rsi, vwap, type Width, z } from 'sluice'

const keep = z.union([z.number(), z.object({ keep: z.number(), silent: z.enum(['fill', 'gap']) })])

/**
 * A strategy for tests that records its data with `bot.note`: each bar, its lists of bars at every timer, and the lists
 * of bars and the indicators at every n-th trade. Its params declare its bars.
 */
export default defineStrategy({
  name: 'bar-teller',
  about: 'Writes notes with its bars and indicators.',
  params: z.object({
    bars: z.record(z.string(), keep),
    window: z.number().default(3),
    /** The strategy records its lists of bars and its indicators with `bot.note` at every n-th trade. */
    readsEvery: z.number().default(5),
    /** The strategy buys at every n-th bar; never if 0. */
    buysEvery: z.number().default(0),
    /** Seconds between two timers; no timers if 0. */
    everySeconds: z.number().default(0),
  }),
  keys: ['trades'],
  warmup: 86_400,
  exits: { stopLossPercent: 10, takeProfitPercent: 10, maxHoldSeconds: 60 },
  bars: ({ bars }) => bars as BarPlan,
  indicators: ({ bars, window }) =>
    Object.fromEntries(
      (Object.keys(bars) as Width[]).flatMap((width) => [
        [`ema ${width}`, ema(width, window)],
        [`rsi ${width}`, rsi(width, window)],
        [`bands ${width}`, bollinger(width, window, 2)],
        [`vwap ${width}`, vwap(width, window)],
      ]),
    ),
  start: ({ bars, readsEvery, buysEvery, everySeconds }, bot) => {
    let trades = 0
    let closed = 0
    const widths = Object.keys(bars) as Width[]
    if (everySeconds > 0) bot.every('look', everySeconds)
    return {
      onBar(bar, token) {
        const own = token.bars(bar.width)
        bot.note(token.mint, `${JSON.stringify(bar)} ${JSON.stringify(token.indicators)} ${digest(own)}`)
        if (buysEvery > 0 && ++closed % buysEvery === 0) bot.buy(token, { sol: 0.05, reason: `bar ${closed}` })
      },
      onTrade(_trade, token) {
        if (++trades % readsEvery !== 0) return
        for (const width of widths) bot.note(token.mint, `reads ${width} ${digest(token.bars(width))}`)
        bot.note(token.mint, `reads ${JSON.stringify(token.indicators)}`)
      },
      onTimer() {
        for (const { mint } of bot.positions()) {
          const lists = widths.map((width) => digest(bot.token(mint)?.bars(width) ?? []))
          bot.note(mint, `holds ${lists}`)
        }
      },
    }
  },
})

/** Returns numbers that change if any bar of a list changes. */
function digest(bars: readonly Bar[]): string {
  let sum = 0
  for (const [index, { open, high, low, close, volumeSol, trades, gap, openTime }] of bars.entries())
    sum +=
      (index + 1) * (open + 2 * high + 3 * low + 5 * close) * 1e7 + volumeSol + trades + (gap ? 1 : 0) + openTime / 1e12
  return `${bars.length}: ${sum}`
}

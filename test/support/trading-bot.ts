import { type Bar, defineStrategy, z } from '../../src/index.ts'

/** Returns a bar in the form of the desk's API. */
function barOf({ closeTime: t, open: o, high: h, low: l, close: c, volumeSol: v }: Bar) {
  return { t, o, h, l, c, v }
}

/**
 * A strategy that buys some of the new tokens of a market, and sells them by exits or after some time. If it does not
 * buy, it records the reason with `bot.note`.
 */
export const trader = defineStrategy({
  name: 'trader',
  about: '',
  params: z.object({}),
  keys: ['trades', 'newTokens'],
  bars: { '15s': 20 },
  start: (_params, bot) => ({
    onNewToken(token) {
      if (token.symbol.length % 2 === 0) bot.note(token.mint, `too short: ${token.symbol}`)
      if (token.symbol.startsWith('<')) bot.log.warn('a strange symbol', { mint: token.mint, symbol: token.symbol })
    },
    onTrade({ amount }, token) {
      if (amount > 0.4 && token.price !== undefined && bot.position(token.mint) === undefined)
        bot.buy(token, { sol: 0.05, reason: 'a large print', tag: amount > 1 ? 'large' : '' })
      if (amount > 2) bot.limitBuy(token, { sol: 0.02, atPrice: (token.price ?? 1) / 2, reason: 'cheaper' })
    },
    onBar(bar, token) {
      if (!bar.gap) bot.log.info('bar', { mint: token.mint, ...barOf(bar) })
    },
    onFill: ({ side, mint }) => bot.message(`${side} ${mint}`),
  }),
})

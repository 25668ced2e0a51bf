import { expect, test } from 'vitest'
import { type Bar, type BarPlan, type Bot, defineStrategy, sma, type Token, type Width, z } from '../../../src/index.ts'
import { MINT, OTHER_MINT, testStrategy } from '../../../src/testing.ts'

const PRICE = 1e-7
const HALF_DAY = 12 * 3600
type Act = (bot: Bot, token: Token<unknown>) => unknown

/**
 * Trades a token at noon of the first day, and again `halfDays` half-days later. In between, only another token is
 * traded. Returns the bars and the average that the bot reads at the later trades, and how many of these bars are from
 * the first day.
 */
function readAfter(halfDays: number, width: Width, act: Act) {
  let read: { bars: readonly Bar[]; mean: number | undefined } | undefined
  let isFirst = true
  const strategy = defineStrategy({
    ...{ name: 'reader', about: '', params: z.object({}), keys: ['trades'] },
    bars: { [width]: { keep: 20, silent: 'gap' } } as BarPlan,
    indicators: () => ({ mean: sma(width, 5) }),
    start: (_params, bot) => ({
      onTrade(_trade, token) {
        if (token.mint !== MINT) return
        read = { bars: token.bars(width), mean: token.indicators.mean }
        if (isFirst && token.price !== undefined) act(bot, token)
        isFirst &&= token.price === undefined
      },
    }),
  })
  const rig = testStrategy(strategy, { exits: 'none' })
  rig.advance(HALF_DAY)
  for (let print = 0; print < 12; print++) rig.trade({ price: PRICE, afterSeconds: 30 })
  for (let half = 0; half < halfDays; half++) {
    rig.advance(HALF_DAY)
    rig.trade({ price: PRICE, mint: OTHER_MINT })
  }
  const back = rig.now
  for (let print = 0; print < 6; print++) rig.trade({ price: PRICE, afterSeconds: 15 })
  const { bars = [], mean } = read ?? {}
  return { bars: bars.length, old: bars.filter(({ openTime }) => openTime < back - HALF_DAY * 1000).length, mean }
}

const nothing: Act = () => {}
const buys: Act = (bot, token) => bot.buy(token, { sol: 0.1, reason: 'to hold' })
const watches: Act = (bot, token) => bot.watch(token.mint)

test.each<[string, number, Act, boolean]>([
  ['the bars of a token without a further print are kept for a day and a half', 3, nothing, true],
  ['the bars of a token without a further print are kept for two days, until the UTC day ends', 4, nothing, true],
  ['the bars of a token without a further print are freed within two and a half days', 5, nothing, false],
  ['the bars of a token without a further print are freed within four days', 8, nothing, false],
  ['the bars of a token without a further print are kept for four days while the bot holds the token', 8, buys, true],
  [
    'the bars of a token without a further print are kept for four days while the bot watches the token',
    8,
    watches,
    true,
  ],
])('%s', (_what, halfDays, act, isKept) => {
  for (const width of ['1 trade', '1m'] as const) {
    const { bars, old, mean } = readAfter(halfDays, width, act)
    expect({ width, isKept: old > 0 }).toEqual({ width, isKept })
    expect({ width, isWarm: mean !== undefined }).toEqual({ width, isWarm: isKept })
    expect(bars, 'the new bars').toBeGreaterThan(old)
  }
})

import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Strategy } from '../src/engine/strategy.ts'
import { above, all, atr, below, bollinger, defineStrategy, ema, figure, minus, rsi, z } from '../src/index.ts'
import type { LiveBlock } from '../src/market/live-block.ts'
import { Mints } from '../src/market/mints.ts'
import { type Figure, isMain, pairs, printFigures, threadMs } from './figure.ts'
import { played, randomMarket, TOKENS } from './random-market.ts'

/** Mean numbers of trades of a token per minute for which the bars are measured. The last number was measured on
 *  recorded tokens, in the minutes in which they trade. */
const DENSITIES = [3, 12, 30, 100]
/** The density of recorded tokens, for which the goal counts: the mean over the minutes in which a token trades. */
const RECORDED = 100
/** Trades of a token per minute in the case that reads the indicators at every trade, and not only at every bar. */
const READ_EACH = 12
const BLOCKS = 64
const ROUNDS = 3
const RUNS = 7

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const plain = {
  about: '',
  params: z.object({}),
  keys: ['trades'],
  token: () => ({ high: 0, seen: 0 }),
}

/** A strategy without bars. It reads the price of every trade, as dip-buyer does. */
const without = defineStrategy({
  ...plain,
  name: 'without',
  start: (_params, bot) => ({
    onTrade(_trade, token) {
      const { price, state } = token
      if (price === undefined) return
      state.high = Math.max(state.high, price)
      if ((1 - price / state.high) * 100 < 60 || token.position !== undefined) return
      bot.buy(token, { sol: 0.05, reason: 'fell' })
    },
  }),
})

const declared = {
  ...plain,
  bars: { '1m': 200 },
  indicators: () => ({
    fast: ema('1m', 9),
    slow: ema('1m', 21),
    strength: rsi('1m', 14),
    bands: bollinger('1m', 20, 2),
    range: atr('1m', 14),
  }),
} as const

/** The strategy `without`, extended by bars and by five indicators that it reads at the end of each bar. */
const withBars = defineStrategy({
  ...declared,
  name: 'with',
  start: (params, bot) => ({
    ...without.start(params, bot as never),
    onBar({ close }, token) {
      const { fast, slow, strength, bands, range } = token.indicators
      if (fast === undefined || slow === undefined || strength === undefined || bands === undefined) return
      if (range === undefined || !(fast > slow && strength < 40 && close < bands.lower - range)) return
      token.state.seen++
    },
  }),
})

/** Like `withBars`, but it declares the test of each bar as a condition of `when`. */
const withConditions = defineStrategy({
  ...declared,
  name: 'conditions',
  when: ({ fast, slow, strength, bands, range }) =>
    all(above(fast, slow), below(strength, 40), below(figure('1m'), minus(bands.lower, range))),
  start: (params, bot) => ({
    ...without.start(params, bot as never),
    onCondition(_bar, token) {
      token.state.seen++
    },
  }),
})

/** The strategy `withBars`, changed so that it reads the five indicators at each trade. */
const atTrades = defineStrategy({
  ...declared,
  name: 'at-trades',
  start: (params, bot) => {
    const { onTrade } = without.start(params, bot as never)
    return {
      onTrade(trade, token) {
        onTrade?.(trade, token as never)
        const { price = 0, indicators } = token
        const { fast, slow, strength, bands, range } = indicators
        if (fast === undefined || slow === undefined || strength === undefined || bands === undefined) return
        if (range === undefined || !(fast > slow && strength < 40 && price < bands.lower - range)) return
        token.state.seen++
      },
    }
  },
})

function nsPerRow(strategy: Strategy, blocks: readonly LiveBlock[], mints: Mints): number {
  const start = threadMs()
  for (let round = 0; round < ROUNDS; round++) played(strategy, blocks, mints)
  return ((threadMs() - start) * 1e6) / (ROUNDS * BLOCKS * (blocks[0]?.length ?? 0))
}

/** Returns the bytes that the bars and indicators of a strategy take per token at the end of the market. */
async function bytesPerToken(blocks: readonly LiveBlock[], mints: Mints): Promise<number> {
  const bytes: number[] = []
  for (const strategy of [without, withBars]) {
    const before = await memoryBytes()
    const engine = played(strategy as unknown as Strategy, blocks, mints)
    bytes.push((await memoryBytes()) - before)
    if (engine.outputs.length > 0) throw new Error('the strategies must not make decisions, but the engine has outputs')
  }
  return ((bytes[1] as number) - (bytes[0] as number)) / TOKENS
}

/** Bytes of the heap's objects and of buffers, after garbage collections. Several collections are needed, because
 *  buffers are freed only some time after they were collected. */
async function memoryBytes(): Promise<number> {
  for (let times = 0; times < 5; times++) {
    collect()
    await setTimeout(20)
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Measures what one-minute bars and five indicators of 2,000 tokens cost per market row. */
export async function benchBars(smoke = false): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const density of DENSITIES) {
    const mints = new Mints()
    const blocks = randomMarket(mints, BLOCKS, 60_000 / (TOKENS * density))
    const of = (strategy: unknown) => () => nsPerRow(strategy as Strategy, blocks, mints)
    const { ours, bare, ratio } = await pairs(smoke ? 1 : RUNS, of(withBars), of(without))
    const what = `${density} trades per token and minute`
    figures.push({ name: `no bars, ${what}`, unit: 'ns/row', ...bare })
    figures.push({ name: `bars and 5 indicators, ${what}`, unit: 'ns/row', ...ours })
    const goal = density === RECORDED ? { goal: 1.5, atMost: true } : {}
    figures.push({ name: `bars and 5 indicators, ${what}`, unit: 'x no bars', ...goal, ...ratio })
    const told = await pairs(smoke ? 1 : RUNS, of(withConditions), of(without))
    figures.push({ name: `bars and 5 indicators in a condition, ${what}`, unit: 'x no bars', ...told.ratio })
    if (density === READ_EACH) {
      const read = await pairs(smoke ? 1 : RUNS, of(atTrades), of(without))
      figures.push({ name: `bars and 5 indicators read at each trade, ${what}`, unit: 'x no bars', ...read.ratio })
    }
    const bytes = await bytesPerToken(blocks, mints)
    const minutes = Math.floor((BLOCKS * (blocks[0]?.length ?? 0)) / (TOKENS * density))
    figures.push({
      name: `memory of ${minutes} bars and 5 indicators`,
      unit: 'B/token',
      median: bytes,
      min: bytes,
      max: bytes,
    })
  }
  return figures
}

if (isMain(import.meta.url)) printFigures(await benchBars())

// A trading strategy from disk, compared with the same work without a framework. Alone: `npx node bench/sma.ts`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../src/config/config.ts'
import { backtestRate, bareColumns, configOf, ROWS, TOKENS, writeBare, writeTape } from './backtest.ts'
import { type Figure, isMain, pairsOf, printFigures, type Spread, threadMs } from './figure.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const BLOCKS = 48
const SMOKE_BLOCKS = 4
const RUNS = 5
const FAST = 20
const SLOW = 50
/** Every token has its averages, and one in this many is traded: an order in about 1,000 rows. The cost of an order
 *  is measured with all tokens traded. */
const TRADED = 20
const SOL = 0.01
const FEE = 0.000505

/** Work of both per row: sums over the last prices of its token, and whether they have crossed. */
const SMA = `import { defineStrategy, z } from 'sluice'
let tokens = 0
export default defineStrategy({
  name: 'sma-cross', about: 'buys when the fast average crosses above the slow one', params: z.object({ oneIn: z.number() }), keys: ['trades'],
  token: () => ({ prices: new Float64Array(${SLOW}), count: 0, fast: 0, slow: 0, isAbove: false, number: tokens++ }),
  start: ({ oneIn }, bot) => ({
    onTrade(trade, token) {
      const { state } = token
      const { price } = trade
      const count = state.count++
      const at = count % ${SLOW}
      state.fast += price - (count >= ${FAST} ? state.prices[(count - ${FAST}) % ${SLOW}] : 0)
      state.slow += price - (count >= ${SLOW} ? state.prices[at] : 0)
      state.prices[at] = price
      if (count < ${SLOW}) return
      const isAbove = state.fast * ${SLOW / FAST} > state.slow
      if (isAbove === state.isAbove) return
      state.isAbove = isAbove
      if (oneIn === 0 || state.number % oneIn !== 0) return
      if (isAbove && !token.position) bot.buy(token, { sol: ${SOL}, reason: 'the averages crossed' })
      else if (!isAbove && token.position?.state === 'open') bot.sell(token, { all: true, reason: 'they crossed back' })
    },
  }),
})
`

interface BareToken {
  readonly prices: Float64Array
  count: number
  fast: number
  slow: number
  isAbove: boolean
  /** An order waits for the next print. */
  wants: 'buy' | 'sell' | ''
  position: { tokens: number; costSol: number } | undefined
}

/** The yardstick: averages, orders filled at the next print for a fixed fee, positions and a ledger, written for
 *  this purpose alone. */
function bareTrades(path: string, rows: number): { rate: number; orders: number } {
  const began = threadMs()
  const ledger: { time: number; token: number; side: string; sol: number; balance: number }[] = []
  const states = Array.from({ length: TOKENS }, (): BareToken => {
    return {
      prices: new Float64Array(SLOW),
      count: 0,
      fast: 0,
      slow: 0,
      isAbove: false,
      wants: '',
      position: undefined,
    }
  })
  let balance = 10
  for (const { token, time, price: prices } of bareColumns(path))
    for (let row = 0; row < token.length; row++) {
      const number = token[row] as number
      const price = prices[row] as number
      const state = states[number] as BareToken
      if (state.wants !== '') {
        const sol = state.wants === 'buy' ? -SOL : (state.position?.tokens ?? 0) * price
        state.position = state.wants === 'buy' ? { tokens: SOL / price, costSol: SOL } : undefined
        balance += sol - FEE
        ledger.push({ time: time[row] as number, token: number, side: state.wants, sol, balance })
        state.wants = ''
      }
      const count = state.count++
      const at = count % SLOW
      state.fast += price - (count >= FAST ? (state.prices[(count - FAST) % SLOW] as number) : 0)
      state.slow += price - (count >= SLOW ? (state.prices[at] as number) : 0)
      state.prices[at] = price
      if (count < SLOW) continue
      const isAbove = state.fast * (SLOW / FAST) > state.slow
      if (isAbove === state.isAbove) continue
      state.isAbove = isAbove
      if (number % TRADED !== 0) continue
      if (isAbove && state.position === undefined) state.wants = 'buy'
      else if (!isAbove && state.position !== undefined) state.wants = 'sell'
    }
  return { rate: (rows / (threadMs() - began)) * 1000, orders: ledger.length }
}

export async function benchSma(smoke = false): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    const [blocks, runs] = smoke ? [SMOKE_BLOCKS, 1] : [BLOCKS, RUNS]
    const rows = blocks * ROWS
    const [tape, bare] = [join(folder, 'tape.db'), join(folder, 'bare.db')]
    await writeTape(tape, blocks)
    writeBare(bare, tape)
    writeFileSync(join(folder, 'sma-cross.ts'), SMA)
    const strategy = join(folder, 'sma-cross.ts')
    const configs = new Map<number, Config>()
    for (const oneIn of [0, 1, TRADED])
      configs.set(oneIn, await configOf(folder, { strategy, params: { oneIn }, exits: { maxHoldSeconds: 86_400 } }))
    /** For one bot in this market. */
    const run = (oneIn: number): { rate: number; orders: number } => {
      let orders = 0
      const rate = backtestRate(
        configs.get(oneIn) as Config,
        tape,
        ({ bots }) => (orders = bots[0]?.result.orders ?? 0),
      )
      return { rate, orders }
    }
    let orders = 0
    const found = await pairsOf(
      runs,
      () => {
        const [still, dense, usual] = [run(0), run(1), run(TRADED)]
        orders = usual.orders
        const perOrder = ((rows / dense.rate - rows / still.rate) * 1e6) / dense.orders
        return { rate: usual.rate, still: still.rate, perOrder }
      },
      () => {
        const { rate } = bareTrades(bare, rows)
        return { rate, still: rate, perOrder: 1 }
      },
    )
    const name = 'backtest: SMA 20/50 cross'
    const density = (orders / rows) * 1000
    const one = (value: number): Spread => ({ median: value, min: value, max: value })
    return [
      { name: 'backtest: SMA 20/50 cross, yardstick', unit: 'rows/s', ...found.rate.bare },
      { name: `${name}, rows without orders`, unit: 'rows/s', goal: 15e6, ...found.still.ours },
      { name: `${name}, what an order adds`, unit: 'us', goal: 8, atMost: true, ...found.perOrder.ours },
      { name: `${name}, with orders`, unit: 'x yardstick', goal: 0.35, ...found.rate.ratio },
      { name: `${name}, orders`, unit: '/ 1,000 rows', ...one(density) },
      {
        name: `${name}, orders of the yardstick`,
        unit: '/ 1,000 rows',
        ...one((bareTrades(bare, rows).orders / rows) * 1000),
      },
    ]
  })
}

if (isMain(import.meta.url)) printFigures(await benchSma(process.argv.includes('--smoke')))

import { admitStrategy } from '../src/config/strategy-modules.ts'
import type { Strategy } from '../src/engine/strategy.ts'
import type { LiveBlock } from '../src/market/live-block.ts'
import { Mints } from '../src/market/mints.ts'
import { type Figure, isMain, measure, printFigures, threadMs } from './figure.ts'
import { played, randomMarket } from './random-market.ts'

const BLOCKS = 32
const ROUNDS = 12

/** Rows per second of one core through the engine: all rows of all blocks, several rounds, each in a new engine. */
function rowsPerSecond(strategy: Strategy, blocks: readonly LiveBlock[], mints: Mints): number {
  const start = threadMs()
  for (let round = 0; round < ROUNDS; round++) played(strategy, blocks, mints)
  return ((ROUNDS * BLOCKS * (blocks[0]?.length ?? 0)) / (threadMs() - start)) * 1000
}

/** The bare loop: sums the same columns with a fresh object per row. */
function bareRowsPerSecond(blocks: readonly LiveBlock[]): number {
  let sum = 0
  const rounds = ROUNDS * 20
  const start = threadMs()
  for (let round = 0; round < rounds; round++) {
    for (const block of blocks) {
      for (let row = 0; row < block.length; row++) {
        const event = {
          price: block.price[row] as number,
          token: block.token[row] as number,
          time: block.time[row] as number,
        }
        sum += event.price * event.token + event.time
      }
    }
  }
  const rate = ((rounds * BLOCKS * (blocks[0]?.length ?? 0)) / (threadMs() - start)) * 1000
  return sum > 0 ? rate : 0
}

const trivial = {
  name: 'trivial',
  about: 'looks at every trade',
  params: { parse: () => ({}) },
  keys: ['trades'],
  start: () => ({ onTrade: (trade: { price: number }) => trade.price }),
} as unknown as Strategy

/** Loaded like a user's strategy: it imports this package by its name. */
async function dipBuyerStrategy(): Promise<Strategy> {
  const { href } = new URL('../strategies/dip-buyer.ts', import.meta.url)
  admitStrategy(href)
  return ((await import(href)) as { default: Strategy }).default
}

/** Engine over rows in memory, one core. */
export async function benchEngine(smoke = false): Promise<Figure[]> {
  const mints = new Mints()
  const blocks = randomMarket(mints, BLOCKS, 1)
  const dipBuyer = await dipBuyerStrategy()
  const runs = smoke ? 1 : 5
  const bare = measure(runs, () => bareRowsPerSecond(blocks))
  return [
    { name: 'bare loop, fresh object a row', unit: 'rows/s', ...bare },
    {
      name: 'engine, trivial strategy',
      unit: 'rows/s',
      goal: 20e6,
      ...measure(runs, () => rowsPerSecond(trivial, blocks, mints)),
    },
    {
      name: 'engine, dip-buyer on 2,000 tokens',
      unit: 'rows/s',
      goal: 10e6,
      ...measure(runs, () => rowsPerSecond(dipBuyer, blocks, mints)),
    },
  ]
}

if (isMain(import.meta.url)) printFigures(await benchEngine())

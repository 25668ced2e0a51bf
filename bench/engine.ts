import { admitStrategy } from '../src/config/strategy-modules.ts'
import type { Strategy } from '../src/engine/strategy.ts'
import type { LiveBlock } from '../src/market/live-block.ts'
import { Mints } from '../src/market/mints.ts'
import { type Loop, loops } from './bare/loops.ts'
import { type Figure, isMain, pairs, printFigures, threadMs } from './figure.ts'
import { played, randomMarket, TOKENS } from './random-market.ts'

const BLOCKS = 32
const ROUNDS = 12
const RUNS = 5

/** Returns the rows per second that the engine handles on one core. Each round plays all blocks in a new engine. */
function rowsPerSecond(strategy: Strategy, blocks: readonly LiveBlock[], mints: Mints): number {
  const start = threadMs()
  for (let round = 0; round < ROUNDS; round++) played(strategy, blocks, mints)
  return ((ROUNDS * BLOCKS * (blocks[0]?.length ?? 0)) / (threadMs() - start)) * 1000
}

/** Returns the rows per second of the bare loop that does the same work. Each round uses new arrays. */
function bareRowsPerSecond(loop: Loop, blocks: readonly LiveBlock[]): number {
  const start = threadMs()
  for (let round = 0; round < ROUNDS; round++) if (loop(blocks, TOKENS) === 0) throw new Error('nothing was read')
  return ((ROUNDS * BLOCKS * (blocks[0]?.length ?? 0)) / (threadMs() - start)) * 1000
}

const trivial = {
  name: 'trivial',
  about: 'Reads every trade.',
  params: { parse: () => ({}) },
  keys: ['trades'],
  start: () => ({ onTrade: (trade: { price: number }) => trade.price }),
} as unknown as Strategy

/** Loads the strategy dip-buyer in the same way as a user's strategy, because its file imports this package by name. */
async function dipBuyerStrategy(): Promise<Strategy> {
  const { href } = new URL('../strategies/dip-buyer.ts', import.meta.url)
  admitStrategy(href)
  return ((await import(href)) as { default: Strategy }).default
}

/** Measures the engine with rows in memory, on one core, against the bare loops. */
export async function benchEngine(smoke = false): Promise<Figure[]> {
  const mints = new Mints()
  const blocks = randomMarket(mints, BLOCKS, 1)
  const figures: Figure[] = []
  for (const [name, strategy, loop, goal] of [
    ['trivial strategy', trivial, loops.trivial, 20e6],
    ['dip-buyer on 2,000 tokens', await dipBuyerStrategy(), loops.dip, 10e6],
  ] as const) {
    const found = await pairs(
      smoke ? 1 : RUNS,
      () => rowsPerSecond(strategy, blocks, mints),
      () => bareRowsPerSecond(loop, blocks),
      `engine, ${name}`,
    )
    figures.push(
      { name: `engine, ${name}: bare loop`, unit: 'rows/s', ...found.bare },
      { name: `engine, ${name}`, unit: 'rows/s', goal, ...found.ours },
      { name: `engine, ${name}`, unit: 'x bare', ...found.ratio },
    )
  }
  return figures
}

if (isMain(import.meta.url)) printFigures(await benchEngine())

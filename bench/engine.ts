import { seededRandom } from '../src/base/random.ts'
import { admitStrategy } from '../src/config/strategy-modules.ts'
import { Engine } from '../src/engine/engine.ts'
import type { Strategy } from '../src/engine/strategy.ts'
import { RowKind } from '../src/market/block.ts'
import { LiveBlock } from '../src/market/live-block.ts'
import { Mints } from '../src/market/mints.ts'
import { botSettings, startInput } from '../test/support/engine-rig.ts'
import { type Figure, isMain, measure, printFigures, threadMs } from './figure.ts'

const TOKENS = 2_000
const BLOCKS = 32
const ROUNDS = 12

/** Rows of 2,000 tokens in memory, with realistic sizes and noise. Prices vary by a few percent. */
function market(mints: Mints): LiveBlock[] {
  const random = seededRandom(7)
  const prices = Float64Array.from({ length: TOKENS }, () => 1e-7 * (1 + random.next()))
  for (let token = 0; token < TOKENS; token++) mints.intern(`mint${token}`)
  return Array.from({ length: BLOCKS }, (_, index) => {
    const block = new LiveBlock(mints.list)
    for (let row = 0; row < block.capacity; row++) {
      const token = random.integer(TOKENS)
      prices[token] = (prices[token] as number) * (0.98 + 0.04 * random.next())
      const price = prices[token] as number
      const sol = random.next() < 0.3 ? 0.005 : random.next()
      const time = 1_780_000_000_000 + (index * block.capacity + row)
      const numbers = { price, amount: sol, size: sol / price, marketCap: price * 1e9, extra: 5, extra2: 0 }
      block.append(time, time, random.next() < 0.55 ? RowKind.buy : RowKind.sell, token, numbers, '', '')
    }
    return block
  })
}

/** Rows per second of one core through the engine: all rows of all blocks, several rounds, each in a new engine. */
function rowsPerSecond(strategy: Strategy, blocks: readonly LiveBlock[], mints: Mints): number {
  // every buy is refused: the cost of deciding without the cost of orders
  const limits = { maxLamportsPerOrder: 1 as never }
  const settings = botSettings(strategy.name, { params: strategy.params.parse({}) as never, limits })
  const start = threadMs()
  for (let round = 0; round < ROUNDS; round++) {
    const engine = new Engine(mints, new Map([[strategy.name, strategy]]))
    engine.input(1, 0, startInput([settings]))
    engine.input(2, 0, { kind: 'feed', status: 'live', confirmed: [] })
    engine.outputs.length = 0
    let seq = 3
    for (const block of blocks) {
      for (let row = 0; row < block.length; ) {
        const next = engine.rows(seq, block, row, block.length)
        seq += next - row
        row = next
        engine.outputs.length = 0
      }
    }
  }
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
  const blocks = market(mints)
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

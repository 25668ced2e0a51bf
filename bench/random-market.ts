import { seededRandom } from '../src/base/random.ts'
import { Engine } from '../src/engine/engine.ts'
import type { Strategy } from '../src/engine/strategy.ts'
import { RowKind } from '../src/market/block.ts'
import { LiveBlock } from '../src/market/live-block.ts'
import type { Mints } from '../src/market/mints.ts'
import { botSettings, startInput } from '../test/support/engine-rig.ts'

export const TOKENS = 2_000
const START = 1_780_012_800_000

/** Returns blocks of random trades in memory, with realistic sizes. The tokens come in random order, and their prices
 *  vary by a few percent. */
export function randomMarket(mints: Mints, blocks: number, stepMs: number): LiveBlock[] {
  const random = seededRandom(7)
  const prices = Float64Array.from({ length: TOKENS }, () => 1e-7 * (1 + random.next()))
  for (let token = 0; token < TOKENS; token++) mints.intern(`mint${token}`)
  return Array.from({ length: blocks }, (_, index) => {
    const block = new LiveBlock(mints.list)
    for (let row = 0; row < block.capacity; row++) {
      const token = random.integer(TOKENS)
      prices[token] = (prices[token] as number) * (0.98 + 0.0402 * random.next())
      const price = prices[token] as number
      const sol = random.next() < 0.3 ? 0.005 : random.next()
      const time = Math.floor(START + (index * block.capacity + row) * stepMs)
      const numbers = { price, amount: sol, size: sol / price, marketCap: price * 1e9, extra: 5, extra2: 0 }
      block.append(time, time, random.next() < 0.55 ? RowKind.buy : RowKind.sell, token, numbers, '', '')
    }
    return block
  })
}

/** Plays all rows in a new engine, and returns the engine. The engine refuses every buy, so that orders take no
 *  time. */
export function played(strategy: Strategy, blocks: readonly LiveBlock[], mints: Mints): Engine {
  const engine = new Engine(mints, new Map([[strategy.name, strategy]]))
  const limits = { maxLamportsPerOrder: 1 as never }
  const params = strategy.params.parse({}) as never
  engine.input(1, START, startInput([botSettings(strategy.name, { params, limits })]))
  engine.input(2, START, { kind: 'feed', status: 'live', confirmed: [] })
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
  return engine
}

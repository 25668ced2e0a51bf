import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { seededRandom } from '../src/base/random.ts'
import { Engine } from '../src/engine/engine.ts'
import type { Strategy } from '../src/engine/strategy.ts'
import { RowKind } from '../src/market/block.ts'
import { LiveBlock } from '../src/market/live-block.ts'
import { Mints } from '../src/market/mints.ts'
import { PaperMarket } from '../src/simulation/paper-market.ts'
import momentum from '../strategies/momentum.ts'
import { botSettings, startInput } from '../test/support/engine-rig.ts'
import { type Figure, isMain, printFigures } from './figure.ts'
import { base58 } from './frames.ts'

const DAYS = 16
/** From this day on, each day removes as many tokens as it launches, so memory should no longer grow. */
const FULL = 8
const LAUNCHES_A_DAY = 20_000
const TRADES_A_LAUNCH = 20
const DAY_MS = 86_400_000
const START = 1_780_012_800_000
/** Number of launches after which the feed releases unused mint numbers. */
const LAUNCHES_A_LOOK = 16_384

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes of the heap's objects and of buffers after a garbage collection. */
function heapBytes(): number {
  collect()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Returns the memory of an engine and of the paper market, bytes, at the beginning and after each day. Each token of
 *  the market trades for some time after its launch, and not later. */
function heapByDay(launches: number): number[] {
  const random = seededRandom(1)
  const mints = new Mints()
  const strategy = momentum as unknown as Strategy
  const engine = new Engine(mints, new Map([[strategy.name, strategy]]))
  const market = new PaperMarket(mints, { tradePrice: 'auto', tradeAmount: 'sol' })
  mints.addHolder(engine)
  mints.addHolder(market)
  let seq = 0
  const params = strategy.params.parse({}) as never
  engine.input(++seq, START, startInput([botSettings(strategy.name, { params, limits: { maxOpenPositions: 0 } })]))
  engine.outputs.length = 0
  const looks = Math.min(LAUNCHES_A_LOOK, launches)
  const heaps = [heapBytes()]
  for (let day = 0; day < DAYS; day++) {
    for (let launch = 0; launch < launches; launch++) {
      if ((day * launches + launch) % looks === looks - 1) mints.giveBack(() => false)
      const time = START + day * DAY_MS + (launch * DAY_MS) / launches
      const block = new LiveBlock(mints.list, TRADES_A_LAUNCH)
      const token = mints.intern(Buffer.from(base58(random, 32)).toString('latin1')) // without slices, as in a frame
      for (let row = 0; row < TRADES_A_LAUNCH; row++) {
        const price = 1e-7 * (1 + random.next())
        const numbers = { price, amount: 1, size: 1 / price, marketCap: 1, extra: 0, extra2: 0 }
        block.append(time, time, RowKind.buy, token, numbers, '', '')
      }
      for (let row = 0; row < block.length; engine.outputs.length = 0) {
        const next = engine.rows(seq + 1, block, row, block.length)
        market.observe(block, row, next)
        seq += next - row
        row = next
      }
    }
    heaps.push(heapBytes())
  }
  return heaps
}

/** Measures whether memory stays constant under 20,000 launches per day, processed at full speed. */
export function benchLaunches(smoke = false): Figure[] {
  const launches = smoke ? 500 : LAUNCHES_A_DAY
  const heaps = heapByDay(launches)
  const [empty = 0] = heaps
  // Tokens are kept until the end of the next day, so the tokens of two days are in memory.
  const live = ((heaps[2] as number) - empty) / (2 * launches)
  const growth = ((heaps[DAYS] as number) - (heaps[FULL] as number)) / (DAYS - FULL)
  const one = (value: number) => ({ median: value, min: value, max: value })
  return [
    { name: 'engine, memory of a token that is kept', unit: 'bytes', ...one(live) },
    { name: 'engine, memory left by a removed token', unit: 'bytes', ...one(growth / launches) },
    { name: `engine, growth per day with ${launches} launches`, unit: 'bytes', ...one(growth) },
  ]
}

if (isMain(import.meta.url)) printFigures(benchLaunches())

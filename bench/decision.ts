import { seededRandom } from '../src/base/random.ts'
import { Engine } from '../src/engine/engine.ts'
import type { Strategy } from '../src/engine/strategy.ts'
import { Mints } from '../src/market/mints.ts'
import { Intake } from '../src/venues/token-service/intake.ts'
import { Decoder } from '../src/venues/token-service/wire/decode.ts'
import { botSettings, orders, startInput } from '../test/support/engine-rig.ts'
import { type Figure, isMain, pairsOf, printFigures } from './figure.ts'
import follower, { BUY } from './follower.ts'
import { base58, marketTexts, tradeText } from './frames.ts'

const FRAMES = 65_536
const RUNS = 9
/** One of this many frames triggers a buy. */
const ORDER_EVERY = 20

/** Messages of the feed as buffers. All messages that trigger a buy concern one token. */
function framesOf(seed: number): Buffer[] {
  const random = seededRandom(seed)
  const mint = base58(random, 32)
  return marketTexts(FRAMES, seed).map((text, index) => {
    if (index % ORDER_EVERY !== 0) return Buffer.from(text)
    const trade = tradeText(mint, base58(random, 64), mint, 1e-7, random)
    return Buffer.from(trade.replace(/"amount":[^,]+,"tokensTraded":[^,]+/, `"amount":${BUY},"tokensTraded":70000000`))
  })
}

/** Processing times of single frames, ascending, nanoseconds. `looked`: frames without a decision; `ordered`: frames
 *  that trigger a buy. */
interface Times {
  readonly looked: Float64Array
  readonly ordered: Float64Array
}

function timed(frames: readonly Buffer[], step: (frame: Buffer) => boolean, after: () => void): Times {
  const looked: number[] = []
  const ordered: number[] = []
  for (const frame of frames) {
    const began = performance.now()
    const isOrder = step(frame)
    const elapsed = (performance.now() - began) * 1e6
    ;(isOrder ? ordered : looked).push(elapsed)
    if (isOrder) after()
  }
  return { looked: Float64Array.from(looked).sort(), ordered: Float64Array.from(ordered).sort() }
}

/** Measures Sluice: a frame is decoded into columns and passed to engine and strategy, until an order is among the
 *  engine's outputs. The time to handle the outputs does not count. */
function ours(frames: readonly Buffer[]): Times {
  const mints = new Mints()
  const engine = new Engine(mints, new Map([[follower.name, follower as unknown as Strategy]]))
  const decoder = new Decoder()
  let seq = 0
  const intake = new Intake(
    mints,
    () => false,
    (block, row) => {
      return engine.rows(++seq, block, row, row + 1)
    },
  )
  engine.input(++seq, 0, startInput([botSettings(follower.name)]))
  engine.input(++seq, 0, { kind: 'feed', status: 'live', confirmed: [] })
  engine.outputs.length = 0
  let time = Date.now()
  const step = (frame: Buffer): boolean => {
    decoder.decode(frame, false)
    intake.add(decoder.row, time, 0)
    intake.deliver()
    return engine.outputs.length > 0
  }
  const after = (): void => {
    time = Date.now()
    const [order] = orders(engine.outputs.splice(0))
    if (order === undefined) return
    const report = { orderId: order.id, attemptId: '', state: 'refused', code: 'LIMIT_WAIT', reason: '' } as const
    engine.input(++seq, time, { kind: 'report', id: seq, report })
    engine.outputs.length = 0
  }
  return timed(frames, step, after)
}

const TEXTS = {
  trade: ['mint', 'signature', 'trader', 'side'],
  newToken: ['mint', 'creator', 'symbol', 'name'],
  priceUpdate: ['mint'],
}
const NUMBERS = {
  trade: ['amount', 'tokensTraded', 'price', 'marketCap', 'timestamp', 'slippage', 'priorityFee'],
  newToken: ['initialLiquidity', 'marketCap', 'timestamp'],
  priceUpdate: ['price', 'priceChange', 'marketCap', 'volume24h', 'liquidityUsd', 'timestamp'],
}

/** Measures the bare baseline: it parses a frame as JSON, checks each field, and calls a function that queues an
 *  order. */
function bare(frames: readonly Buffer[]): Times {
  const queue: object[] = []
  const onEvent = (event: Record<string, unknown>): void => {
    if (event.amount === BUY) queue.push({ mint: event.mint, sol: 0.05, reason: 'a trade of 7 SOL' })
  }
  const step = (frame: Buffer): boolean => {
    const record = JSON.parse(frame.toString()) as Record<string, unknown>
    const type = record.type as keyof typeof TEXTS
    for (const name of TEXTS[type]) if (typeof record[name] !== 'string') return false
    for (const name of NUMBERS[type]) if (!Number.isFinite(record[name])) return false
    onEvent(record)
    return queue.length > 0
  }
  return timed(frames, step, () => queue.splice(0))
}

function quantiles({ looked, ordered }: Times) {
  const at = (sorted: Float64Array, share: number): number => sorted[Math.floor(sorted.length * share)] as number
  return {
    'decision, p50': at(looked, 0.5),
    'decision, p99': at(looked, 0.99),
    'order, p50': at(ordered, 0.5),
    'order, p99': at(ordered, 0.99),
  }
}

export async function benchDecision(smoke = false): Promise<Figure[]> {
  const figures: Figure[] = []
  const frames = framesOf(11).slice(0, smoke ? 4_000 : FRAMES)
  const found = await pairsOf(
    smoke ? 1 : RUNS,
    () => quantiles(ours(frames)),
    () => quantiles(bare(frames)),
  )
  for (const [name, { ours: all, bare: allBare, ratio }] of Object.entries(found)) {
    figures.push(
      { name: `frame to ${name}, bare`, unit: 'ns', ...allBare },
      { name: `frame to ${name}`, unit: 'ns', ...all },
    )
    // Only frames without an order have a goal. For an order, the baseline does less work: it only creates an object.
    const goal = name.startsWith('decision') ? { goal: 2, atMost: true } : {}
    figures.push({ name: `frame to ${name}`, unit: 'x bare', ...goal, ...ratio })
  }
  return figures
}

if (isMain(import.meta.url)) printFigures(await benchDecision())

import { WebSocket } from 'ws'
import type { Strategy } from '../src/engine/strategy.ts'
import { botSettings } from '../test/support/engine-rig.ts'
import { type Figure, isMain, pairsOf, printFigures, threadMs } from './figure.ts'
import { startRig } from './rig.ts'
import { type Server, startServer } from './server.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const MESSAGES = 400_000
const RUNS = 7

/** A strategy that reads every event and does nothing. */
export const probe = {
  name: 'probe',
  about: 'Reads every event.',
  params: { parse: () => ({}) },
  keys: ['trades', 'newTokens', 'priceUpdates'],
  start: () => ({ onTrade: () => {}, onNewToken: () => {}, onPriceUpdate: () => {} }),
} as unknown as Strategy

/** Messages per second of wall time, and per second of processor time of the main thread. */
interface Rates {
  readonly wall: number
  readonly thread: number
}

function stopwatch(): (messages: number) => Rates {
  const began = performance.now()
  const start = threadMs()
  const rate = (messages: number, ms: number): number => (messages / ms) * 1000
  return (messages) => ({
    wall: rate(messages, performance.now() - began),
    thread: rate(messages, threadMs() - start),
  })
}

/** Returns the rates of a bare `ws` client that only parses every message as JSON. */
async function bareRate(server: Server, messages: number): Promise<Rates> {
  const socket = new WebSocket(server.feedUrl, { perMessageDeflate: false })
  await new Promise((resolve) => socket.on('open', resolve))
  const { promise, resolve } = Promise.withResolvers<void>()
  let count = 0
  let watch = stopwatch()
  let trades = 0
  socket.on('message', (data: Buffer) => {
    if (count === 0) watch = stopwatch()
    if ((JSON.parse(data.toString()) as { type: string }).type === 'trade') trades++
    if (++count === messages) resolve()
  })
  server.tell({ kind: 'blast', count: messages })
  await promise
  const rates = watch(messages)
  socket.terminate()
  return trades > 0 ? rates : { wall: 0, thread: 0 }
}

/** Returns the rates of Sluice's feed, engine and journal together. The measurement ends when the last row is
 *  durable. */
async function ourRate(server: Server, folder: string, messages: number): Promise<Rates> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let watch: ReturnType<typeof stopwatch> | undefined
  const rig = await startRig({
    ...{ url: server.feedUrl, folder, bot: botSettings(probe.name), strategy: probe },
    observe: () => {
      watch ??= stopwatch()
      if (rig.rows() === messages) rig.journal.commit(resolve)
    },
  })
  server.tell({ kind: 'blast', count: messages })
  await promise
  const rates = (watch ?? stopwatch())(messages)
  await rig.close()
  return rates
}

export async function benchFeed(smoke = false): Promise<Figure[]> {
  const [messages, runs] = smoke ? [20_000, 1] : [MESSAGES, RUNS]
  const server = await startServer()
  try {
    return await inTemporaryFolder(async (folder) => {
      const found = await pairsOf(
        runs,
        () => ourRate(server, folder, messages),
        () => bareRate(server, messages),
      )
      const goal = { unit: 'x bare ws', goal: 0.8 }
      return [
        { name: 'bare ws client with JSON.parse', unit: 'messages/s', ...found.wall.bare },
        { name: 'feed to engine and tape', unit: 'messages/s', ...found.wall.ours },
        { name: 'feed to engine and tape', ...goal, ...found.wall.ratio },
        { name: 'feed to engine and tape, main thread', ...goal, ...found.thread.ratio },
      ]
    })
  } finally {
    server.close()
  }
}

if (isMain(import.meta.url)) printFigures(await benchFeed())

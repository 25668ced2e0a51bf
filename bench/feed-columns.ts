import { WebSocket } from 'ws'
import { seededRandom } from '../src/base/random.ts'
import { Mints } from '../src/market/mints.ts'
import { SystemClock } from '../src/runtime/system-clock.ts'
import { Feed } from '../src/venues/token-service/feed.ts'
import { dialWebSocket } from '../src/venues/web-socket.ts'
import { type Figure, isMain, pairs, printFigures } from './figure.ts'
import { type Server, startServer } from './server.ts'

const MESSAGES = 400_000
const RUNS = 7

/** Starts to measure a rate. The returned function ends the measurement and returns the messages per second of
 *  processor time, which depends less on other load of the machine than wall time. */
function stopwatch(): (messages: number) => number {
  const start = process.cpuUsage()
  return (messages) => {
    const { user, system } = process.cpuUsage(start)
    return (messages / (user + system)) * 1e6
  }
}

async function bareRate(server: Server, messages: number): Promise<number> {
  const socket = new WebSocket(server.feedUrl, { perMessageDeflate: false })
  await new Promise((resolve) => socket.on('open', resolve))
  const { promise, resolve } = Promise.withResolvers<number>()
  let watch = stopwatch()
  let count = 0
  let sum = 0
  socket.on('message', (data: Buffer) => {
    if (count === 0) watch = stopwatch()
    sum += (JSON.parse(data.toString()) as { timestamp: number }).timestamp
    if (++count === messages) resolve(watch(sum > 0 ? messages : 0))
  })
  server.tell({ kind: 'blast', count: messages })
  const rate = await promise
  socket.terminate()
  return rate
}

async function ourRate(server: Server, messages: number): Promise<number> {
  const live = Promise.withResolvers<void>()
  const { promise, resolve } = Promise.withResolvers<number>()
  const clock = new SystemClock()
  let watch = stopwatch()
  let rows = 0
  const feed = new Feed('the service', {
    ...{
      url: server.feedUrl,
      apiKey: () => 'k',
      clock,
      mints: new Mints(),
      random: seededRandom(1),
      dial: dialWebSocket,
    },
    ...{ pace: (job: () => void) => job(), isHeld: () => false, load: () => 0 },
    on: { authenticated() {}, refused() {}, misfit: (why, text) => console.error(why, text), notice: console.error },
  })
  const stop = feed.start({
    rows: (_block, from, to) => {
      if (rows === 0) watch = stopwatch()
      rows += to - from
      if (rows === messages) resolve(watch(messages))
      return to
    },
    post: (input) => {
      if (input.kind === 'feed' && input.status === 'live') live.resolve()
    },
  })
  await live.promise
  server.tell({ kind: 'blast', count: messages })
  const rate = await promise
  await stop()
  clock.stop()
  return rate
}

/** Measures the feed alone, which decodes the messages of a WebSocket into columns, against a bare `ws` client that
 *  only parses them as JSON. Another process sends the messages. */
export async function benchFeedColumns(smoke = false): Promise<Figure[]> {
  const [messages, runs] = smoke ? [20_000, 1] : [MESSAGES, RUNS]
  const server = await startServer()
  try {
    const { ratio, ...rates } = await pairs(
      runs,
      () => ourRate(server, messages),
      () => bareRate(server, messages),
    )
    return [
      { name: 'ws and JSON.parse alone, processor time', unit: 'messages/s', ...rates.bare },
      { name: 'feed to columns, processor time', unit: 'messages/s', ...rates.ours },
      { name: 'feed to columns', unit: 'x bare ws', goal: 0.8, ...ratio },
    ]
  } finally {
    server.close()
  }
}

if (isMain(import.meta.url)) printFigures(await benchFeedColumns())

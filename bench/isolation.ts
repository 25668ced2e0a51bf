import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../src/base/random.ts'
import { type Figure, isMain, printFigures, summarize } from './figure.ts'
import { base58, stampNow } from './frames.ts'
import { signOf, tradingRig } from './post.ts'
import { type Server, startServer } from './server.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const RUNS = 3
const ORDERS = 60
/** Pause between two orders, ms, in which the previous order ends. */
const PAUSE_MS = 40

/** Median times of one run, microseconds, from the arrival of a frame to the order's decision and to its POST
 *  request. */
interface Times {
  readonly decision: number
  readonly post: number
}

/** Measures orders that market frames trigger. `isolated`: whether the engine runs in a thread of its own. */
async function run(server: Server, folder: string, isolated: boolean, orders: number): Promise<Times> {
  const random = seededRandom(3)
  const mint = base58(random, 32)
  let arrivedAt = 0
  let orderedAt = 0
  const rig = await tradingRig(server, folder, {
    isolated,
    arrived: () => {
      arrivedAt ||= stampNow() // later messages answer the subscriptions
    },
    ordered: () => {
      orderedAt = stampNow()
    },
  })
  const decision: number[] = []
  const post: number[] = []
  for (let number = -20; number < orders; number++) {
    await sleep(PAUSE_MS)
    const seen = server.nextPost()
    arrivedAt = 0
    server.tell({ kind: 'text', text: signOf(mint, random) })
    const at = await Promise.race([seen, sleep(number < 0 ? 200 : 1_000)])
    if (number < 0 || at === undefined) continue
    decision.push((orderedAt - arrivedAt) / 1000)
    post.push((at - arrivedAt) / 1000)
  }
  await rig.close()
  if (post.length < orders / 2) throw new Error('fewer than half of the orders were sent')
  return { decision: summarize(decision).median, post: summarize(post).median }
}

/** Measures how much later an order is sent if the engine has a thread of its own. Runs with and without that thread
 *  alternate. */
export async function benchIsolation(smoke = false): Promise<Figure[]> {
  const server = await startServer()
  try {
    return await inTemporaryFolder(async (folder) => {
      const here: Times[] = []
      const there: Times[] = []
      for (let number = 0; number < (smoke ? 1 : RUNS); number++) {
        here.push(await run(server, folder, false, smoke ? 5 : ORDERS))
        there.push(await run(server, folder, true, smoke ? 5 : ORDERS))
      }
      return (['decision', 'post'] as const).flatMap((part) => {
        const name = part === 'decision' ? 'frame to order, p50' : 'frame to first byte of the POST, p50'
        const of = (times: readonly Times[]): number[] => times.map((one) => one[part])
        const ratios = of(there).map((value, at) => value / (of(here)[at] as number))
        return [
          { name: `${name}, engine in the main thread`, unit: 'us', ...summarize(of(here)) },
          { name: `${name}, engine in a thread`, unit: 'us', ...summarize(of(there)) },
          { name: `${name}, engine in a thread`, unit: 'x main thread', ...summarize(ratios) },
        ]
      })
    })
  } finally {
    server.close()
  }
}

if (isMain(import.meta.url)) printFigures(await benchIsolation())

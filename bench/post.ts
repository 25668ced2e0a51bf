import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { Pool } from 'undici'
import { type Random, seededRandom } from '../src/base/random.ts'
import { lamports } from '../src/base/units.ts'
import type { Strategy } from '../src/engine/strategy.ts'
import { openHttp } from '../src/venues/http.ts'
import { CloudExecutor } from '../src/venues/token-service/cloud-executor.ts'
import { botSettings } from '../test/support/engine-rig.ts'
import { type Figure, isMain, printFigures, summarize } from './figure.ts'
import follower, { BUY } from './follower.ts'
import { base58, stampNow, tradeText } from './frames.ts'
import { type Rig, type RigOptions, startRig } from './rig.ts'
import { type Server, startServer } from './server.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const RUNS = 5
const ORDERS = 40
/** Pause before each measurement, ms. In real use, an order also follows a pause, after which the processor's caches
 *  are cold and its threads sleep. */
const PAUSE_MS = 250
/** Number of orders before the first measurement. They give the token a price, and the code is compiled meanwhile. */
const WARM = 20
const FOLLOWER = fileURLToPath(new URL('./follower.ts', import.meta.url))
let databases = 0

/** Durations in one run, microseconds: of bare commits, of bare POST requests, and from a frame to the POST request of
 *  its order. */
interface Times {
  readonly commit: number[]
  readonly post: number[]
  readonly order: number[]
}

/** Returns a function that commits one durable row, the least that must be written before an order, and that returns
 *  the duration in microseconds. */
function bareCommit(path: string): () => number {
  const db = new Database(path)
  db.pragma('page_size = 8192')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.exec('CREATE TABLE row (id INTEGER PRIMARY KEY, json TEXT)')
  const insert = db.prepare('INSERT INTO row (json) VALUES (?)')
  return () => {
    const began = stampNow()
    insert.run('x'.repeat(400))
    return (stampNow() - began) / 1000
  }
}

/** Returns a function that sends a bare POST request, and that resolves with the microseconds until its first byte
 *  reached the server. */
function barePost(server: Server): () => Promise<number> {
  const pool = new Pool(new URL(server.postUrl).origin, { allowH2: false, pipelining: 1 })
  const body = JSON.stringify({ publicKey: base58(seededRandom(1), 32), amount: 0.05, slippage: 5 })
  const headers = { authorization: 'Bearer k', accept: 'application/json', 'content-type': 'application/json' }
  return async () => {
    const seen = server.nextPost()
    const began = stampNow()
    const answer = pool.request({ method: 'POST', path: '/api/trade/buy', headers, body })
    const at = await seen
    await (await answer).body.text()
    return (at - began) / 1000
  }
}

/** Starts a bot that buys after each trade of 7 SOL, and that has enough money for all of these buys. Its orders go
 *  through the cloud executor, although its account is a paper account. */
export async function tradingRig(
  server: Server,
  folder: string,
  { isolated = false, ...told }: Pick<RigOptions, 'isolated' | 'arrived' | 'ordered'>,
): Promise<Rig> {
  const { http } = openHttp()
  const wallet = base58(seededRandom(2), 32)
  return startRig({
    ...{
      url: server.feedUrl,
      folder,
      bot: { ...botSettings(follower.name, { paperSol: 1_000 }), ...(isolated && { strategy: FOLLOWER }) },
      strategy: follower as unknown as Strategy,
      ...{ isolated, ...told },
    },
    executor: (clock) =>
      new CloudExecutor({
        ...{ http, clock, baseUrl: server.postUrl, apiKey: () => 'k', wallet },
        maxBuyLamports: () => lamports(100e9),
        sellUnit: () => 'unproved',
        holding: () => undefined,
        resolve: {
          begin: (_attempt, done) => ({
            ...{ refused: done, unsent: done },
            ...{ acked: () => {}, doubt: () => {}, hungUp: () => {} },
          }),
          resume: () => {},
        },
      }),
  })
}

/** Returns the message of a trade at which the bot buys. */
export function signOf(mint: string, random: Random): string {
  return tradeText(mint, base58(random, 64), mint, 1e-7, random).replace(
    /"amount":[^,]+,"tokensTraded":[^,]+/,
    `"amount":${BUY},"tokensTraded":70000000`,
  )
}

/** Measures alternately a bare commit with a bare POST request, and an order of Sluice. Before each measurement there
 *  is the same pause. */
async function run(server: Server, folder: string, orders: number): Promise<Times> {
  const random = seededRandom(3)
  const mint = base58(random, 32)
  const sign = (): string => signOf(mint, random)
  const commit = bareCommit(join(folder, `bare-${++databases}.db`))
  const post = barePost(server)
  let arrivedAt = 0
  const rig = await tradingRig(server, folder, {
    arrived: () => {
      arrivedAt = stampNow()
    },
  })
  const times: Times = { commit: [], post: [], order: [] }
  for (let number = -WARM; number < orders; number++) {
    const pauseMs = number < 0 ? PAUSE_MS / 10 : PAUSE_MS
    await sleep(pauseMs)
    const [commitUs, postUs] = [commit(), await post()]
    await sleep(pauseMs)
    const seen = server.nextPost()
    server.tell({ kind: 'text', text: sign() })
    const at = await Promise.race([seen, sleep(number < 0 ? 200 : 1_000)])
    if (number < 0 || at === undefined) continue
    times.commit.push(commitUs)
    times.post.push(postUs)
    times.order.push((at - arrivedAt) / 1000)
  }
  await rig.close()
  if (times.order.length < orders / 2) throw new Error('fewer than half of the orders were sent')
  return times
}

export async function benchPost(smoke = false): Promise<Figure[]> {
  const server = await startServer()
  try {
    return await inTemporaryFolder(async (folder) => {
      const runs: Times[] = []
      for (let number = 0; number < (smoke ? 1 : RUNS); number++) {
        process.stderr.write(`post: ${number} of ${RUNS} runs\n`)
        runs.push(await run(server, folder, smoke ? 5 : ORDERS))
      }
      const p50 = (part: keyof Times): number[] => runs.map((times) => summarize(times[part]).median)
      const [commit, post, order] = [p50('commit'), p50('post'), p50('order')]
      const ratios = order.map((value, at) => value / ((commit[at] as number) + (post[at] as number)))
      return [
        { name: 'one bare durable commit of a row, p50', unit: 'us', ...summarize(commit) },
        { name: 'one bare POST to its first byte, p50', unit: 'us', ...summarize(post) },
        { name: 'frame to first byte of the POST, p50', unit: 'us', ...summarize(order) },
        {
          name: 'frame to first byte of the POST, p50',
          unit: 'x commit + POST',
          goal: 1.5,
          atMost: true,
          ...summarize(ratios),
        },
      ]
    })
  } finally {
    server.close()
  }
}

if (isMain(import.meta.url)) printFigures(await benchPost())

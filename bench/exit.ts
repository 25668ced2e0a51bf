import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { seededRandom } from '../src/base/random.ts'
import { lamports } from '../src/base/units.ts'
import { NO_COSTS } from '../src/engine/accounting/fill-costs.ts'
import { newPosition, type Position } from '../src/engine/accounting/position.ts'
import { Engine } from '../src/engine/engine.ts'
import type { Order } from '../src/engine/order.ts'
import { NO_MONEY, type RecoveredMoney } from '../src/engine/recovered-money.ts'
import type { BotSettings } from '../src/engine/settings.ts'
import type { Strategy } from '../src/engine/strategy.ts'
import { startJournalThread } from '../src/journal/writer/journal-thread.ts'
import { RowKind } from '../src/market/block.ts'
import { LiveBlock } from '../src/market/live-block.ts'
import { Mints } from '../src/market/mints.ts'
import type { Attempt } from '../src/orders/attempt.ts'
import { Gateway } from '../src/orders/gateway.ts'
import { Limiter } from '../src/orders/plan-limiter.ts'
import type { Executor, Journal, Outcome } from '../src/orders/ports.ts'
import { Runner } from '../src/runtime/runner.ts'
import { monotonicMs, SystemClock } from '../src/runtime/system-clock.ts'
import { openHttp } from '../src/venues/http.ts'
import { PREMIUM, STANDARD } from '../src/venues/token-service/plans.ts'
import { botSettings, startInput } from '../test/support/engine-rig.ts'
import { type Figure, isMain, printFigures, summarize } from './figure.ts'
import follower from './follower.ts'
import { base58, stampNow } from './frames.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const PLANS = [STANDARD, PREMIUM]
/** Share of the plan's requests that is reserved for exits. */
const RESERVED_SHARE = 0.2
/** Entries that are requested per second while the exits fire: far more than any plan allows, so that most have to wait
 *  for a request. */
const ENTRIES_PER_SECOND = 1_000
const EXIT_EVERY_MS = 10
const RUNS = 7
const PRICE = 1e-6

interface Server {
  readonly url: string
  /** Arrival time of each order's POST, by order id. */
  readonly at: ReadonlyMap<string, number>
  close(): Promise<unknown>
}

async function startServer(): Promise<Server> {
  const worker = new Worker(new URL('./exit-server.ts', import.meta.url))
  const [{ port }] = (await once(worker, 'message')) as [{ port: number }]
  const at = new Map<string, number>()
  worker.on('message', (seen: { path: string; at: number }) => at.set(seen.path.slice(1), seen.at))
  return { url: `http://127.0.0.1:${port}/`, at, close: () => worker.terminate() }
}

/** Circumstances of a measured exit. alone: no other sale of the position is open. overtaking: another sale, of half of
 *  the position, was sent and its outcome is unknown. */
type Way = 'alone' | 'overtaking'

/** A position that was bought at PRICE. It is sold whole when the price falls by a fifth, and half of it when the price
 *  rises by a fifth. */
function held(mint: string, account: string, bot: string): Position {
  const takeProfitSteps = [{ atPercent: 20, sellPercent: 50 }]
  const position = newPosition({ account, bot, mint }, Date.now(), {
    stopLossPercent: 20,
    takeProfitSteps,
    windowPrints: 5,
  })
  return { ...position, bought: 1_000_000n, state: 'open', tokens: 1_000_000n, averagePrice: PRICE, highPrice: PRICE }
}

function fillOf({ id, orderId, account, bot, mint, side }: Attempt): Outcome {
  const none = lamports(0)
  const about = { signature: id, orderId, attemptId: id, account, bot, mint, side, slot: 1, time: Date.now() }
  const amounts = {
    tokens: 1_000_000n,
    decimals: 6,
    tradeLamports: none,
    feeLamports: none,
    rentLamports: none,
    costs: NO_COSTS,
  }
  return { kind: 'filled', fill: { ...about, ...amounts, walletLamports: none, final: true }, final: true }
}

function entry(number: number, account: string, mint: string): Order {
  const time = Date.now()
  return {
    ...{ id: `o${1_000_000 + number}`, seq: 1, time, account, bot: 'flood', mint, side: 'buy', class: 'entry' },
    ...{ size: { kind: 'sol', lamports: lamports(1e8) }, slippagePercents: [5], priorityFeeLamports: null },
    ...{ priorityFeeLadder: [], repeatMs: null, reserveLamports: lamports(1e8), notAfter: time + 2_000 },
    ...{ price: PRICE, reason: 'flood' },
  }
}

export interface ExitRun {
  readonly requestsPerMinute: number
  readonly folder: string
  readonly way: Way
  /** Number of entries that are requested per second while the exits fire. */
  readonly entriesPerSecond: number
  /** Returns a journal to use in place of the given one, such as one that observes its commits. */
  readonly watch?: (journal: Journal) => Journal
  /** Called before the first exit, for example to serve a desk during the exits. The returned function is called after
   *  the last exit. */
  readonly during?: (parts: ExitParts) => Promise<() => Promise<void>>
  /** Called before each exit with its number, from 0. */
  readonly before?: (exit: number) => Promise<void> | undefined
}

export interface ExitParts {
  readonly journalPath: string
  readonly bot: BotSettings
  readonly money: RecoveredMoney
  readonly engine: Engine
  readonly limiter: Limiter
  readonly clock: SystemClock
}

/** Measures the time, ms, from the market row that triggers each exit until the exit's POST request reaches the server.
 *  Uses the components of a live run and a journal on disk. */
export async function exitTimes(run: ExitRun): Promise<number[]> {
  const { requestsPerMinute, folder, way, entriesPerSecond } = run
  const server = await startServer()
  const { http, close: closeHttp } = openHttp()
  const clock = new SystemClock()
  const journalPath = join(folder, `${Math.random()}.db`)
  const written = await startJournalThread(journalPath, {
    onFailure: (error) => {
      throw error
    },
  })
  const opened = run.watch?.(written) ?? written
  const random = seededRandom(5)
  const bot = botSettings(follower.name, { paperSol: 1_000 })
  const account = bot.account.id
  const reserved = Math.floor(requestsPerMinute * RESERVED_SHARE)
  const exits = way === 'alone' ? reserved : Math.floor(reserved / 2)
  const mints = Array.from({ length: exits }, () => base58(random, 32))
  const money: RecoveredMoney = { ...NO_MONEY, positions: mints.map((mint) => held(mint, account, bot.name)) }
  const known = new Mints()
  const engine = new Engine(known, new Map([[follower.name, follower as unknown as Strategy]]))
  const executor: Executor = {
    execute: (attempt, done) =>
      void http({ method: 'POST', url: server.url + attempt.orderId, headers: {}, body: '{}' }).then(() =>
        done(attempt.size.kind === 'percent' ? { kind: 'unknown', reason: 'its answer was lost' } : fillOf(attempt)),
      ),
    resume: () => {},
  }
  const slots = { key: 'k', clock, monotonicMs, boot: 'b', requestsPerMinute, past: 'fresh' as const }
  const limiter = new Limiter({ ...slots, write: (slot) => opened.write({ kind: 'slot', slot }) })
  const gateway = new Gateway({
    ...{ clock, monotonicMs, journal: opened, nextReport: 1 },
    route: () => ({ kind: 'cloud', executor, limiter }),
    // The engine does not know the orders of the bot `flood`, so their reports are not forwarded to it.
    post: (input) => {
      if (input.kind !== 'report' || Number(input.report.orderId.slice(1)) < 1_000_000) runner.post(input)
    },
  })
  const due = new Map<string, number>()
  let triggeredAt = 0
  const runner: Runner = new Runner({
    ...{ clock, engine, journal: opened, firstSeq: 1, want: () => {}, alarm: () => {} },
    gateway: {
      cancel: (id, code) => gateway.cancel(id, code),
      trust: (account, isTrusted) => gateway.trust(account, isTrusted),
      halt: (account, isHalted) => gateway.halt(account, isHalted),
      submit: (order) => {
        if (order.size.kind === 'all') due.set(order.id, triggeredAt)
        gateway.submit(order)
      },
    },
  })
  runner.post(startInput([bot], money))
  runner.post({ kind: 'feed', status: 'live', confirmed: [] })
  const end = await run.during?.({ journalPath, bot, money, engine, limiter, clock })

  let asked = 0
  const began = performance.now()
  const flood = setInterval(() => {
    while (asked < ((performance.now() - began) * entriesPerSecond) / 1_000)
      gateway.submit(entry(asked++, account, `${asked}`))
  }, 1)
  const entrySlots = entriesPerSecond === 0 ? 0 : requestsPerMinute - reserved
  while (limiter.status().held < entrySlots) await sleep(10)
  await sleep(500)
  let block = new LiveBlock(known.list)
  const print = (mint: string, price: number): void => {
    const numbers = { price, amount: 1, size: 1 / price, marketCap: 500, extra: 5, extra2: 0.0005 }
    for (let prints = 0; prints < 5; prints++) {
      if (block.length === block.capacity) block = new LiveBlock(known.list)
      triggeredAt = stampNow()
      block.append(clock.now(), clock.now(), RowKind.sell, known.intern(mint), numbers, '', '')
      runner.rows(block, block.length - 1, block.length)
    }
  }
  for (const [exit, mint] of mints.entries()) {
    await run.before?.(exit)
    if (way === 'overtaking') print(mint, 1.3 * PRICE)
    await sleep(EXIT_EVERY_MS)
    print(mint, PRICE / 2)
  }
  await sleep(500)
  clearInterval(flood)
  await sleep(200)
  await end?.()
  runner.stop()
  clock.stop()
  await written.close()
  await closeHttp()
  await server.close()
  if (due.size !== exits) throw new Error(`${due.size} of ${exits} exits fired`)
  return [...due].map(([id, from]) => ((server.at.get(id) ?? Number.POSITIVE_INFINITY) - from) / 1e6)
}

export async function benchExit(smoke = false): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    const figures: Figure[] = []
    const ways: Way[] = ['alone', 'overtaking']
    for (const { plan, requestsPerMinute, way } of PLANS.flatMap(({ name, ...more }) =>
      ways.map((way) => ({ plan: name, ...more, way })),
    )) {
      const runs: number[][] = []
      for (let run = 0; run < (smoke ? 1 : RUNS); run++)
        runs.push(await exitTimes({ requestsPerMinute, folder, way, entriesPerSecond: ENTRIES_PER_SECOND }))
      const times = runs.flat().sort((a, b) => a - b)
      const at = (share: number): number =>
        times[Math.min(times.length - 1, Math.floor(times.length * share))] as number
      const what = way === 'alone' ? 'trigger of an exit' : 'trigger of an exit while a sale is unknown'
      const name = `${what} to its POST, ${ENTRIES_PER_SECOND} entries/s, ${plan}`
      const { min, max } = summarize(times)
      figures.push(
        { name: `${name}, p50`, unit: 'ms', ...summarize(times) },
        { name: `${name}, p99`, unit: 'ms', goal: 50, atMost: true, median: at(0.99), min, max },
      )
    }
    return figures
  })
}

if (isMain(import.meta.url)) printFigures(await benchExit())

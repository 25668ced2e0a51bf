import { join } from 'node:path'
import type { Clock } from '../src/base/machine.ts'
import { seededRandom } from '../src/base/random.ts'
import { Engine } from '../src/engine/engine.ts'
import type { Sink } from '../src/engine/ports.ts'
import type { BotSettings } from '../src/engine/settings.ts'
import type { Strategy } from '../src/engine/strategy.ts'
import { startJournalThread } from '../src/journal/writer/journal-thread.ts'
import { EngineThread } from '../src/live/isolation/engine-thread.ts'
import { ThreadedRunner } from '../src/live/isolation/threaded-runner.ts'
import type { Block } from '../src/market/block.ts'
import { Mints } from '../src/market/mints.ts'
import { Gateway } from '../src/orders/gateway.ts'
import { Limiter } from '../src/orders/plan-limiter.ts'
import type { Executor, Journal } from '../src/orders/ports.ts'
import { Runner } from '../src/runtime/runner.ts'
import { monotonicMs, SystemClock } from '../src/runtime/system-clock.ts'
import { ViewModel } from '../src/runtime/view/view-model.ts'
import { PaperMarket } from '../src/simulation/paper-market.ts'
import { Feed } from '../src/venues/token-service/feed.ts'
import { dialWebSocket } from '../src/venues/web-socket.ts'
import { startInput } from '../test/support/engine-rig.ts'

export interface RigOptions {
  readonly url: string
  readonly bot: BotSettings
  readonly strategy: Strategy
  /** Whether the engine runs in its own thread; `bot.strategy` is then the path of the strategy's file. */
  readonly isolated?: boolean
  /** Called when the engine has decided an order. */
  readonly ordered?: () => void
  /** Path of the journal. Without a journal, rows are counted and dropped. */
  readonly folder?: string
  readonly executor?: (clock: Clock) => Executor
  /** Called when a frame leaves the socket, before any code of Sluice reads it. */
  readonly arrived?: () => void
  /** Called with rows that the engine has handled. */
  readonly observe?: (block: Block, from: number, to: number) => void
}

export interface Rig {
  readonly feed: Feed
  readonly engine: Engine
  readonly runner: Runner | ThreadedRunner
  readonly journal: Journal
  rows(): number
  close(): Promise<void>
}

const nothing = (): void => {}
const NO_JOURNAL = {
  ...{ rows: nothing, input: nothing, output: nothing, write: nothing },
  commit: (then: () => void) => then(),
  close: async () => {},
}
const NO_EXECUTOR: Executor = { execute: nothing, resume: nothing }

/** Starts a live feed, an engine, a gateway and a journal, connected as in `live/start-bots.ts`. */
export async function startRig(options: RigOptions): Promise<Rig> {
  const { url, bot, strategy, isolated = false, folder, arrived, ordered, observe } = options
  const clock = new SystemClock()
  const mints = new Mints()
  const model = new ViewModel()
  const opened =
    folder === undefined
      ? NO_JOURNAL
      : await startJournalThread(join(folder, `${Math.random()}.db`), {
          onFailure: (error) => {
            throw error
          },
        })
  const journal = model.watch(opened)
  const engine = new Engine(mints, new Map([[strategy.name, strategy]]))
  const limits = { key: 'k', clock, monotonicMs, boot: 'b', requestsPerMinute: 100_000, past: 'fresh' as const }
  const limiter = new Limiter({ ...limits, write: (slot) => journal.write({ kind: 'slot', slot }) })
  const route = { kind: 'cloud' as const, executor: options.executor?.(clock) ?? NO_EXECUTOR, limiter }
  const market = new PaperMarket(mints, { tradePrice: 'auto', tradeAmount: 'sol' })
  const post: Sink['post'] = (input) => runner.post(input)
  const gateway = new Gateway({ clock, monotonicMs, journal, route: () => route, post, nextReport: 1 })
  const parts = {
    ...{ clock, engine, journal, gateway, firstSeq: 1, lastTime: 0, alarm: nothing, heard: nothing, decided: nothing },
    want: (keys: readonly string[]) => feed.want(keys),
    observe: (block: Block, from: number, to: number) => {
      market.observe(block, from, to)
      observe?.(block, from, to)
    },
  }
  const runner: Runner | ThreadedRunner = isolated ? new ThreadedRunner(parts) : new Runner(parts)
  model.onOutput((_time, output) => {
    if (output.kind === 'order') ordered?.()
  })
  const { promise: live, resolve } = Promise.withResolvers<void>()
  const feed: Feed = new Feed('the service', {
    ...{ url, apiKey: () => 'k', clock, mints, random: seededRandom(1), pace: (job) => job(), load: () => 0 },
    dial: (to, on) => dialWebSocket(to, arrived === undefined ? on : { ...on, message: stamped(arrived, on.message) }),
    isHeld: () => false,
    on: { authenticated: nothing, refused: nothing, misfit: nothing, notice: nothing },
  })
  const end = await begin(runner, bot)
  const stop = feed.start({
    rows: (block, from, to) => runner.rows(block, from, to),
    post: (input) => {
      runner.post(input)
      if (input.kind === 'feed' && input.status === 'live') resolve()
    },
  })
  await live
  const close = async (): Promise<void> => {
    await stop()
    model.mute()
    runner.stop()
    clock.stop()
    await end()
    await opened.close()
  }
  return { feed, engine, runner, journal, rows: () => model.rows, close }
}

/** Starts the engine. The returned function ends its thread. */
async function begin(runner: Runner | ThreadedRunner, bot: BotSettings): Promise<() => Promise<void>> {
  if (runner instanceof Runner) {
    runner.post(startInput([bot]))
    return async () => {}
  }
  const memory = { heapMb: 256, buffersMb: 256 }
  const thread = new EngineThread(new URL('../src/live/isolation/engine-worker.ts', import.meta.url), 'none', memory)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  thread.on = {
    begun: (outputs) => {
      runner.begun(thread, outputs)
      resolve()
    },
    did: (next, outputs) => runner.did(next, outputs),
    ...{ marks: nothing, readings: nothing, log: nothing, died: ({ reason }) => reject(new Error(reason)) },
  }
  runner.begin(thread, startInput([bot]))
  await promise
  return () => thread.end()
}

function stamped<T extends unknown[]>(arrived: () => void, message: (...args: T) => void): (...args: T) => void {
  return (...args) => {
    arrived()
    message(...args)
  }
}

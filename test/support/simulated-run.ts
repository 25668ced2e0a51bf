import type { Clock } from '../../src/base/machine.ts'
import { botSettings } from '../../src/config/accounts.ts'
import type { Config } from '../../src/config/config.ts'
import { codeHash } from '../../src/config/hashes.ts'
import type { FillModel } from '../../src/engine/accounting/fill-assumptions.ts'
import type { Plan } from '../../src/engine/settings.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { NO_PAST } from '../../src/journal/reader/recovery.ts'
import { openJournal } from '../../src/journal/writer/journal.ts'
import { Mints } from '../../src/market/mints.ts'
import { Limiter } from '../../src/orders/plan-limiter.ts'
import type { Executor, Journal } from '../../src/orders/ports.ts'
import type { Route } from '../../src/orders/working-order.ts'
import { PaperWorld } from '../../src/runtime/paper-world.ts'
import { Segment } from '../../src/runtime/segment.ts'
import { recoveredStart } from '../../src/runtime/start-input.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { type TapeItem, TapeSource } from '../../src/simulation/tape-source.ts'
import { firstPlan } from '../../src/venues/token-service/plans.ts'
import { NO_LIMITS } from './journal-samples.ts'
import { blockOf, type MarketRow } from './market-rows.ts'
import { feed, type Recording } from './recorded-tape.ts'

export interface SimulatedRun extends Recording {
  readonly config: Config
  /** Changes the fill model of the executor. */
  readonly model?: (model: FillModel) => FillModel
  readonly plan?: Plan
  /** Returns the executor that replaces an executor of the run. */
  readonly executor?: (inner: Executor, clock: Clock) => Executor
  /** Returns the delay with which a timer fires, ms. */
  readonly timerLateMs?: () => number
  /**
   * Returns the number of rows of the next block, as a live feed makes it; by default all rows up to the next input.
   */
  readonly rowsABlock?: () => number
  /** The number of rows per commit, as in a long-running process; by default all rows. */
  readonly rowsACommit?: number
  /** Whether the run waits for its commits; default true. */
  readonly durable?: boolean
  /** Whether records are compressed, as in a long-running process; default false. */
  readonly packs?: boolean
}

/**
 * Runs bots on paper on simulated time, and appends a journal like that of a real run. The run ends with its last
 * row or input, even if orders are open.
 */
export async function simulateRun(path: string, run: SimulatedRun): Promise<void> {
  const { config, time, items, keys = ['trades', 'newTokens'], model = (one) => one } = run
  const onFailure = (error: Error): never => {
    throw error
  }
  const { durable = true, packs = false } = run
  const file = openJournal(path, { space: NO_LIMITS, onFailure, durable, packs })
  const journal: Journal = {
    rows: (block, from, to, firstSeq) => {
      const step = run.rowsACommit ?? to - from
      for (let row = from; row < to; row += step) {
        file.rows(block, row, Math.min(to, row + step), firstSeq + row - from)
        if (run.rowsACommit !== undefined) file.commit(() => {})
      }
    },
    input: (seq, at, input) => file.input(seq, at, input),
    output: (seq, at, index, output) => file.output(seq, at, index, output),
    write: (record) => file.write(record),
    commit: (then) => file.commit(then),
  }
  journal.commit(() => {})
  const reader = openReader(path)
  const past = reader.segments().length === 0 ? NO_PAST : reader.recover()
  const clock = new SimulatedClock(time)
  const mints = new Mints()
  const paper = new PaperWorld(config, clock, mints, model)
  const plan = run.plan ?? firstPlan(config.service.plan)
  const { settings } = botSettings(config, { service: 's.example', cluster: '', publicKeyOf: () => '', allow: 'paper' })
  const segment = new Segment({
    machine: { clock, monotonicMs: () => clock.now(), boot: 'simulated' },
    ...{ journal, mints, past, want: () => {}, alarm: () => {} },
    strategies: new Map(config.bots.map(({ strategy }) => [strategy.name, strategy.strategy])),
    route: ({ account }) => routeOf(paper.route(account) as Route, clock, run),
    hold: (_timer, at, fire) => run.timerLateMs && clock.after(Math.max(0, at - clock.now()) + run.timerLateMs(), fire),
    observe: (block, from, to) => {
      paper.market.observe(block, from, to)
      clock.advanceTo(block.time[to - 1] as number)
    },
  })
  const code = codeHash(config.bots.map(({ strategy }) => strategy))
  const start = recoveredStart({ config, bots: settings, plan, code, past, reader })
  const untold = past.untaken.flatMap(({ report: { fill } }) => fill ?? [])
  const limiterOf = (key: string): Limiter => {
    const { requestsPerMinute } = plan
    const on = { key, clock, monotonicMs: () => clock.now(), boot: 'simulated' }
    return new Limiter({ ...on, past: 'fresh', write: () => {}, requestsPerMinute })
  }
  paper.restore(settings, start.money, limiterOf, untold)
  segment.begin(start, reader.blocks(mints, start.warm))
  segment.resume(start)
  const tape = new TapeSource(itemsOf(), clock)
  const stop = tape.start(paper.withInputs(segment.runner))
  tape.run()
  for (const mark of segment.takeMarks()) journal.write({ kind: 'mark', mark })
  segment.runner.stop()
  reader.close()
  await file.close()

  function* itemsOf(): Generator<TapeItem, void, undefined> {
    yield { kind: 'input', time, input: { kind: 'gap', from: time, to: time, keys } }
    yield { kind: 'input', time, input: feed('live', keys) }
    const { rowsABlock = () => Number.POSITIVE_INFINITY } = run
    let rows: MarketRow[] = []
    let room = rowsABlock()
    const flush = (): TapeItem[] => {
      const block = blockOf(rows, mints)
      rows = []
      room = rowsABlock()
      return block.length === 0 ? [] : [{ kind: 'rows', block, from: 0, to: block.length }]
    }
    for (const item of items) {
      if (!('input' in item)) {
        rows.push(item)
        if (rows.length >= room) yield* flush()
        continue
      }
      yield* flush()
      yield { kind: 'input', time: item.time, input: item.input }
    }
    yield* flush()
    void stop()
    yield { kind: 'input', time: clock.now(), input: { kind: 'command', command: { name: 'stop' } } }
  }
}

function routeOf(route: Route, clock: Clock, { executor }: SimulatedRun): Route {
  return executor === undefined ? route : { ...route, executor: executor(route.executor, clock) }
}

import Database from 'better-sqlite3'
import { botSettings } from '../../src/config/accounts.ts'
import { codeHash } from '../../src/config/hashes.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Position } from '../../src/engine/accounting/position.ts'
import type { PositionReading } from '../../src/engine/exits/exit-levels.ts'
import type { Input, StartInput } from '../../src/engine/messages.ts'
import { type JournalReader, openReader } from '../../src/journal/reader/reader.ts'
import type { Recovered } from '../../src/journal/reader/recovery.ts'
import { openJournal } from '../../src/journal/writer/journal.ts'
import type { Block } from '../../src/market/block.ts'
import { Mints } from '../../src/market/mints.ts'
import { Limiter } from '../../src/orders/plan-limiter.ts'
import type { Journal } from '../../src/orders/ports.ts'
import { PaperWorld } from '../../src/runtime/paper-world.ts'
import { Segment } from '../../src/runtime/segment.ts'
import { recoveredStart } from '../../src/runtime/start-input.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { type TapeItem, TapeSource } from '../../src/simulation/tape-source.ts'
import { firstPlan } from '../../src/venues/token-service/plans.ts'
import { NO_LIMITS } from './journal-values.ts'
import { blockOf, type MarketRow } from './market-rows.ts'
import { feed } from './recorded-tape.ts'

const KEYS = ['trades', 'newTokens', 'priceUpdates']

/** An event of a run: a row of the market, or another input. Events must be in the order of time. */
export type Happening = MarketRow | { readonly time: number; readonly input: Input }

/** The parts of a run that has just begun. An observer of its journal receives them. */
export interface WatchedRun {
  readonly journal: Journal
  readonly clock: SimulatedClock
  readonly reader: JournalReader
  readonly start: StartInput
  readonly past: Recovered
  readonly readingOf: (position: Position) => PositionReading | undefined
}

/**
 * Runs the bots of a configuration on paper, on simulated time and from the state of the journal, as one process does,
 * and records everything. The same arguments always give the same journal. The run can end in four ways. With `drain`,
 * it continues until open orders have ended. `stop` does the same and then removes the record of the process's end, as
 * if the process had been killed. `cut` removes this record too, but does not wait for open orders. `kill -9` kills
 * this process.
 * `watch` returns the journal to which the run writes.
 */
export async function recordPaperRun(
  journalPath: string,
  configFile: string,
  happenings: readonly Happening[],
  ending: 'drain' | 'stop' | 'cut' | 'kill -9' = 'drain',
  watch: (run: WatchedRun) => Journal = ({ journal }) => journal,
): Promise<void> {
  const loaded = await loadConfig([configFile])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const { config } = loaded
  const [from = 0] = happenings.map(({ time }) => time)
  const [clock, mints] = [new SimulatedClock(from), new Mints()]
  const machine = { clock, monotonicMs: () => clock.now(), boot: 'simulated' }
  const failed = (error: Error): never => {
    throw error
  }
  // Only a process that will be killed needs its records on the disk at each commit.
  const opened = openJournal(journalPath, { space: NO_LIMITS, onFailure: failed, durable: ending === 'kill -9' })
  const reader = openReader(journalPath)
  const past = reader.recover()
  const { settings } = botSettings(config, { service: 's.example', cluster: '', publicKeyOf: () => '', allow: 'paper' })
  const plan = firstPlan(config.service.plan)
  const start = recoveredStart({
    ...{ config, bots: settings, plan, past, reader },
    code: codeHash(config.bots.map((one) => one.strategy)),
  })
  const paper = new PaperWorld(config, clock, mints)
  const readingOf: WatchedRun['readingOf'] = (position) => segment.readingOf(position)
  const journal = watch({ journal: opened, clock, reader, start, past, readingOf })
  const limiterOf = (key: string): Limiter =>
    new Limiter({ ...machine, key, past: 'fresh', write: () => {}, requestsPerMinute: plan.requestsPerMinute })
  paper.restore(settings, start.money, limiterOf)
  const segment: Segment = new Segment({
    ...{ machine, journal, mints, past, want: () => {}, alarm: () => {} },
    strategies: new Map(config.bots.map(({ strategy }) => [strategy.name, strategy.strategy])),
    route: ({ account }) => paper.route(account) as NonNullable<ReturnType<PaperWorld['route']>>,
    observe: (block: Block, first: number, to: number) => {
      paper.market.observe(block, first, to)
      clock.advanceTo(block.time[to - 1] as number)
    },
  })
  segment.begin(start, reader.blocks(mints, start.warm))
  segment.resume(start)
  const tape = new TapeSource(items(), clock)
  const stop = tape.start(segment.runner)
  function* items(): Generator<TapeItem, void, undefined> {
    yield { kind: 'input', time: from, input: feed('live', KEYS) }
    for (const happening of happenings) {
      if ('input' in happening) yield { kind: 'input', ...happening }
      else yield { kind: 'rows', block: blockOf([happening], mints), from: 0, to: 1 }
    }
    if (ending === 'stop' || ending === 'cut') void stop()
    if (ending === 'cut') yield { kind: 'input', time: clock.now(), input: feed('live', KEYS) }
    if (ending === 'kill -9') process.kill(process.pid, 'SIGKILL')
  }
  tape.run()
  segment.runner.stop()
  reader.close()
  await opened.close()
  if (ending === 'drain') return
  const db = new Database(journalPath)
  // A killed process does not record its end.
  db.exec('UPDATE segment SET ended = NULL WHERE number = (SELECT max(number) FROM segment)')
  db.close()
}

import Database from 'better-sqlite3'
import { botSettings } from '../../src/config/accounts.ts'
import { codeHash } from '../../src/config/hashes.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Input } from '../../src/engine/messages.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { openJournal } from '../../src/journal/writer/journal.ts'
import type { Block } from '../../src/market/block.ts'
import { Mints } from '../../src/market/mints.ts'
import { Limiter } from '../../src/orders/limiter.ts'
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

/** Events in the order of time: rows of the market, and other inputs. */
export type Happening = MarketRow | { readonly time: number; readonly input: Input }

/** Runs the bots of a configuration on paper, on virtual time and from the state of the journal, as one process does,
 *  and records everything. The resulting journal is the same every time. `drain`: open orders end first. `stop`: ends
 *  as if killed, with all writes done. `kill -9`: kills the current process. */
export async function recordPaperRun(
  journalPath: string,
  configFile: string,
  happenings: readonly Happening[],
  ending: 'drain' | 'stop' | 'kill -9' = 'drain',
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
  const journal = openJournal(journalPath, { space: NO_LIMITS, onFailure: failed })
  const reader = openReader(journalPath)
  const past = reader.recover()
  const { settings } = botSettings(config, { service: 's.example', cluster: '', wallet: '', allow: 'paper' })
  const plan = firstPlan(config.service.plan)
  const start = recoveredStart({
    ...{ config, bots: settings, plan, past, reader },
    code: codeHash(config.bots.map((one) => one.strategy)),
  })
  const paper = new PaperWorld(config, clock, mints)
  const limiterOf = (key: string): Limiter =>
    new Limiter({ ...machine, key, past: 'fresh', write: () => {}, requestsPerMinute: plan.requestsPerMinute })
  paper.restore(settings, start.money, limiterOf)
  const segment = new Segment({
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
    if (ending === 'stop') void stop()
    if (ending === 'kill -9') process.kill(process.pid, 'SIGKILL')
  }
  tape.run()
  segment.runner.stop()
  reader.close()
  await journal.close()
  if (ending === 'drain') return
  const db = new Database(journalPath)
  // A killed process does not record its end.
  db.exec('UPDATE segment SET ended = NULL WHERE number = (SELECT max(number) FROM segment)')
  db.close()
}

import type { Machine } from '../../base/machine.ts'
import type { Seq } from '../../base/units.ts'
import type { Config } from '../../config/config.ts'
import type { Alarm, LogLine, Message, StartInput } from '../../engine/messages.ts'
import type { Recovered } from '../../journal/reader/recovery.ts'
import type { Mints } from '../../market/mints.ts'
import type { Journal } from '../../orders/ports.ts'
import type { Log } from '../../runtime/log.ts'
import { type AnySegment, Segment } from '../../runtime/segment.ts'
import type { RecoveredJournal } from '../recovered-journal.ts'
import type { LiveWorld } from '../world.ts'
import { IsolatedSegment } from './isolated-segment.ts'
import type { MemoryLimits } from './memory-guard.ts'

/** Builds the input that starts an engine (`StartInput`) from recovered state. */
export type StartOf = (recovered: Recovered) => StartInput

export interface Isolation {
  /** Whether the engine runs in its own thread, so that a failing strategy cannot stop the other bots. */
  readonly isolate?: boolean
  /** Memory limits of the engine's thread. */
  readonly memory?: MemoryLimits
}

export interface HostParts {
  readonly config: Config
  readonly isolation: Isolation
  readonly machine: Machine
  readonly journal: Journal
  readonly mints: Mints
  readonly past: RecoveredJournal
  readonly world: LiveWorld
  readonly log: Log
  readonly startOf: StartOf
  /** Called with the reason when the engine was lost and no new one can be started. */
  readonly failed: (reason: string) => void
}

/** Creates the engine, in this thread or in another one, and connects it to the feed, the executors and the journal. */
export function hostEngine({ config, world, past, log, ...parts }: HostParts): AnySegment {
  const { machine, journal, mints, isolation, startOf, failed } = parts
  const common = {
    ...{ machine, journal, past: past.recovered, route: world.route, observe: world.observe },
    want: (keys: readonly string[]) => world.want(keys),
    poll: (mint: string) => world.poll(mint),
    alarm: (alarm: Alarm) => logAlarm(log, alarm),
    said: (line: LogLine | Message, seq: Seq) => logLine(log, line, seq),
  }
  if (isolation.isolate !== true) {
    const strategies = new Map(config.bots.map(({ strategy }) => [strategy.name, strategy.strategy]))
    return new Segment({ ...common, mints, strategies })
  }
  return new IsolatedSegment({
    ...{ ...common, log, failed, memory: isolation.memory, journalPath: config.journal.path },
    startAgain: () => startOf(past.reader.recover()),
    heard: world.heard,
    decided: (us) => world.decisionTime.add(us),
  })
}

/** Logs an alarm. The place in the strategy's code comes before the reason, because a terminal cuts long lines at their
 *  end. */
function logAlarm(log: Log, { bot, code, reason, thrownAt }: Alarm): void {
  if (thrownAt === undefined) log.error({ bot, code, reason }, 'alarm')
  else log.error({ bot, code, place: thrownAt.place, reason, stack: thrownAt.stack }, 'alarm')
}

/** Names of the log's own fields. If a strategy logs a field with one of these names, a dash is appended to the name of
 *  its field. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['bot', 'seq', 'dropped', 'level', 'time', 'msg', 'err'])

/** Logs a line or a message of a strategy. */
function logLine(log: Log, line: LogLine | Message, seq: Seq): void {
  const { bot, text } = line
  if (line.kind === 'message') {
    log.info({ bot, seq }, `message: ${text}`)
    return
  }
  const { level, fields = {}, dropped } = line
  const named = Object.entries(fields).map(([name, value]) => [OWN_FIELDS.has(name) ? `${name}-` : name, value])
  log[level]({ bot, seq, ...Object.fromEntries(named), ...(dropped !== undefined && { dropped }) }, text)
}

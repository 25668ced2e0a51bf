import { ExitCode, SluiceError } from '../../base/errors.ts'
import { codeHash } from '../../config/hashes.ts'
import { DEFAULT_FILL_MODEL, type ModelOf } from '../../engine/accounting/fill-assumptions.ts'
import type { StartInput } from '../../engine/messages.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import { windowOf } from '../../journal/tape/market-tape.ts'
import type { Segment } from '../../journal/tape/recorded-segments.ts'
import { Mints } from '../../market/mints.ts'
import type { Report } from '../report/report.ts'
import { RowsRead, type RowsReport } from '../rows-read.ts'
import type { Apart } from './attempt-matches.ts'
import {
  amount,
  type ByBot,
  LEAST_STEPS,
  type Replay,
  RunInParts,
  startsOf,
  stepsOf,
  WholeRun,
} from './attribution-runs.ts'
import { configOf } from './recorded-start.ts'
import { type RecordedStart, RunRecord } from './run-record.ts'

/** Difference between the result of a recorded run and the result of its backtest, split by factor, in lamports. */
export interface Difference {
  readonly liveLamports: number
  readonly backtestLamports: number
  readonly factors: readonly { readonly name: string; readonly lamports: number }[]
  /** Difference that no factor explains. */
  readonly residualLamports: number
}

export interface BotDifference extends Difference {
  readonly bot: string
  /** Mode of the bot; null if the recorded run has no bot of this name. */
  readonly mode: 'live' | 'paper' | null
  /** First transaction that only the recorded run or only the last replay sent; null if both sent the same
   *  transactions. */
  readonly apart: Apart | null
}

export interface Attribution extends Difference {
  /** Differences by bot. */
  readonly bots: readonly BotDifference[]
  /** Number of starts of the process in the recorded run. */
  readonly starts: number
  /** Number of attempts of the recorded run. `matched`: number of them that the replay of the last step also made. */
  readonly attempts: number
  readonly matched: number
  /** Causes of the difference that cannot be measured. Their effects are part of the residual. */
  readonly notes: readonly string[]
}

/** The parts of report.json that are used here. */
interface ReportedRun {
  readonly bots: readonly Pick<Report['bots'][number], 'name' | 'netSol' | 'fillModel'>[]
  readonly fillModel: Pick<Report['fillModel'], 'numbers'>
}

/** Explains why a run and its backtest have different results. Replays the backtest on the run's own tape, and replaces
 *  one factor after the other by the run's measurements. `backtest`: the report of the backtest, and the start that its
 *  journal recorded. */
export async function attribute(
  live: JournalReader,
  backtest: { readonly report: ReportedRun; readonly start: StartInput },
  progress?: RowsReport,
): Promise<Attribution> {
  const segments = live.segments().filter(({ start: { bots } }) => bots.length > 0)
  const [first, last] = [segments[0], segments.at(-1)]
  if (first === undefined || last === undefined)
    throw new SluiceError('the journal has no start with bots', ExitCode.usage)
  const read = new RowsRead(progress)
  read.expect(segments.reduce((sum, { rows }) => sum + rows, 0) * (1 + LEAST_STEPS))
  const record = recordOf(live, segments, read)
  // Market rows from before the first start serve only as warm-up.
  const market = read.market(windowOf(live.market(), first.time, Number.POSITIVE_INFINITY))
  const models = modelsOf(backtest.report)
  const [theirs, ours] = [await configOf(backtest.start, models), await configOf(last.start, models)]
  const starts = await startsOf(live, segments, record, models)
  const steps = stepsOf({
    ...{ record, theirs, ours },
    whole: new WholeRun(market, record.starts.at(-1) as RecordedStart),
    parts: starts && new RunInParts(starts, { record, modelOf: models, read }),
  })
  read.expect(steps.reduce((sum, { rows }) => sum + rows, 0))
  const replays = steps.map(({ name, play }) => ({ name, replay: play() }))
  const code = codeHash(theirs.bots.map(({ strategy }) => strategy))
  const nets: (readonly [string, ByBot])[] = [
    [
      code === backtest.start.code ? 'tape and feed gaps' : 'tape, feed gaps, code',
      (replays[0] as Played).replay.atEnd,
    ],
    ...replays.map(({ name, replay }) => [name, replay.net] as const),
  ]
  const final = (replays.at(-1) as Played).replay
  const reported = new Map(backtest.report.bots.map(({ name, netSol }) => [name, Math.round(netSol * 1e9)]))
  const modes = new Map(segments.flatMap(({ start }) => start.bots.map(({ name, account }) => [name, account.mode])))
  const bots = [...new Set([...modes.keys(), ...reported.keys()])].map((bot) => ({
    bot,
    mode: modes.get(bot) === 'live' ? ('live' as const) : modes.has(bot) ? ('paper' as const) : null,
    ...differenceOf(record.netLamports(bot) + amount(final.held, bot), amount(reported, bot), nets, bot),
    apart: final.matches.apart(bot) ?? null,
  }))
  return {
    ...summed(bots),
    bots,
    starts: segments.length,
    attempts: record.attempts.length,
    matched: final.matches.used,
    notes: notesOf(record, code, backtest.start.code, starts !== undefined),
  }
}

interface Played {
  readonly name: string
  readonly replay: Replay
}

function differenceOf(
  liveLamports: number,
  backtestLamports: number,
  nets: readonly (readonly [string, ByBot])[],
  bot: string,
): Difference {
  let before = backtestLamports
  const factors = nets.map(([name, net]) => {
    const lamports = amount(net, bot) - before
    before = amount(net, bot)
    return { name, lamports }
  })
  return { liveLamports, backtestLamports, factors, residualLamports: liveLamports - before }
}

function summed(parts: readonly Difference[]): Difference {
  const sum = (of: (part: Difference) => number): number => parts.reduce((total, part) => total + of(part), 0)
  return {
    liveLamports: sum(({ liveLamports }) => liveLamports),
    backtestLamports: sum(({ backtestLamports }) => backtestLamports),
    factors: (parts[0]?.factors ?? []).map(({ name }, at) => ({
      name,
      lamports: sum(({ factors }) => factors[at]?.lamports ?? 0),
    })),
    residualLamports: sum(({ residualLamports }) => residualLamports),
  }
}

/** Causes that cannot be measured, as sentences. `code`: hash of the code that makes the replay. `inParts`: whether
 *  each start was replayed separately. */
function notesOf({ starts }: RunRecord, code: string, backtestCode: string, inParts: boolean): string[] {
  const last = (starts.at(-1) as RecordedStart).start
  const another = 'the code of Sluice or of a strategy has changed since'
  return [
    ...(starts.every(({ start }) => start.code === code) ? [] : [`${another} the run`]),
    ...(code === backtestCode ? [] : [`${another} the backtest`]),
    ...(inParts
      ? []
      : [`the tape of a start was dropped, so the ${starts.length} starts are replayed together as one start`]),
    ...(inParts || starts.every(({ start }) => start.config === last.config)
      ? []
      : ['the configuration changed between the starts of the run; all are replayed with the last configuration']),
  ]
}

function recordOf(live: JournalReader, segments: readonly Segment[], read: RowsRead): RunRecord {
  const record = new RunRecord([...new Set(segments.flatMap(({ start: { bots } }) => bots.map(({ name }) => name)))])
  for (const segment of segments)
    for (const item of read.items(live.replay(segment, new Mints()))) {
      if (item.kind === 'input') record.input(item.seq, item.time, item.input)
      else if (item.kind === 'output') record.output(item.seq, item.time, item.index, item.output)
    }
  record.end()
  return record
}

/** Returns the fill models in the report of the backtest, by bot. A bot without an entry in the report has the general
 *  model of the report. */
function modelsOf({ fillModel, bots }: ReportedRun): ModelOf {
  const own = new Map(bots.map((bot) => [bot.name, bot.fillModel]))
  return (bot) => ({ ...DEFAULT_FILL_MODEL, ...(own.get(bot) ?? fillModel.numbers) })
}

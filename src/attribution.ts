import type { Report } from './backtest/report.ts'
import { type RecordedAttempt, RunRecord } from './backtest/run-record.ts'
import type { OneWallet } from './backtest-outcome.ts'
import { type Backtest, type BacktestOptions, runBacktest } from './backtest-run.ts'
import { codeHash } from './config/code-hash.ts'
import type { BotConfig, Config } from './config/config.ts'
import { loadStrategy } from './config/strategies.ts'
import { NO_FILTERS } from './core/entry-filters.ts'
import { ExitCode, SluiceError } from './core/errors.ts'
import type { StartInput } from './core/messages.ts'
import { Mints } from './core/mints.ts'
import type { Attempt } from './core/order.ts'
import { type BotSettings, NO_LIMITS } from './core/settings.ts'
import { lamports } from './core/units.ts'
import { windowOf } from './journal/market-window.ts'
import type { JournalReader } from './journal/reader.ts'
import type { Segment } from './journal/segment-replay.ts'
import { DEFAULT_FILL_MODEL, type FillModel } from './simulation/fill-model.ts'
import type { Measured, Measurements } from './simulation/measured.ts'
import { FINALITY_MS } from './simulation/paper-executor.ts'

/** An attempt of a replay is that of the run in the same lane, where it was sent at most so much earlier or later. */
const SAME_WITHIN_MS = 10_000
/** Below this the two clocks only differ by what a machine takes: then it is told at the same instant. */
const SAME_INSTANT_MS = 1_000

/** What the difference between a run and its backtest is made of; lamports. */
export interface Attribution {
  readonly liveLamports: number
  readonly backtestLamports: number
  readonly factors: readonly { readonly name: string; readonly lamports: number }[]
  /** What no factor explains. */
  readonly residualLamports: number
  /** Attempts of the run, and how many of them the last replay made too. */
  readonly attempts: number
  readonly matched: number
  /** What cannot be exchanged, and so lies in the residual. */
  readonly notes: readonly string[]
}

/** Of report.json. */
interface ReportedRun {
  readonly bots: readonly Pick<Report['bots'][number], 'netSol'>[]
  readonly fillModel: Pick<Report['fillModel'], 'numbers'>
}

/** Why a run made other money than its backtest: the backtest is played again on the run's own tape, and one thing after the other in it is
 *  exchanged for what the run has measured. `backtest`: its report, and the start that its results hold. */
export async function attribute(
  live: JournalReader,
  backtest: { readonly report: ReportedRun; readonly start: StartInput },
): Promise<Attribution> {
  const segments = live.segments().filter(({ start: { bots } }) => bots.length > 0)
  const [first, last] = [segments[0], segments.at(-1)]
  if (first === undefined || last === undefined) throw new SluiceError('no bot was started in it', ExitCode.usage)
  const { start } = last
  const names = [...new Set(segments.flatMap((segment) => segment.start.bots.map(({ name }) => name)))]
  const record = recordOf(live, segments, names)
  const positions = record.results.bots.flatMap(({ positions: held }) => [...held.values()])
  // What was recorded before the bots were started is theirs as a warm-up only.
  const market = windowOf(live.market(), first.time, Number.POSITIVE_INFINITY)
  const model = modelOf(backtest.report)
  const liveBots = start.bots.filter(({ account }) => account.mode === 'live').map(({ name }) => name)
  const wallet: OneWallet = { bots: liveBots, lamports: record.walletLamports }
  const [theirs, ours] = [await configOf(backtest.start, model), await configOf(start, model)]
  const asRun = { ...ours, service: { ...ours.service, plan: start.plan } }

  // One more than the last instant of the run, so that everything of it counts.
  const note = { at: record.endedAt + 1, foreign: positions }
  const play = (config: Config, more: Partial<BacktestOptions> = {}, factors: readonly Factor[] = []): Replay => {
    const matches = new Matches(record.attempts, factors)
    const measured: Measurements = (attempt) => matches.of(attempt)
    const options = { partial: true, tolerant: true, model: () => model, measured, note, ...more }
    return { backtest: runBacktest(config, market, options), matches }
  }
  const reported = Math.round(backtest.report.bots.reduce((sum, { netSol }) => sum + netSol * 1e9, 0))
  const again = play(theirs)
  const oneBudget = { oneBudget: liveBots }
  const together = { ...oneBudget, oneWallet: wallet }
  const replays: [string, Replay][] = [
    ['under way at the end', again],
    ['configuration', play({ ...ours, service: theirs.service })],
    ['plan delay', play(asRun, oneBudget)],
    ['one wallet', liveBots.length === 0 ? play(asRun, oneBudget) : play(asRun, together)],
    ['latency', play(asRun, together, ['latency'])],
    ['landing', play(asRun, together, ['latency', 'landing'])],
    ['impact', play(asRun, together, ['latency', 'landing', 'impact'])],
    ['fees', play(asRun, together, ['latency', 'landing', 'impact', 'fees'])],
  ]
  const code = codeHash(theirs.bots.map(({ strategy }) => strategy))
  const nets: (readonly [string, number])[] = [
    ['backtest', reported],
    [code === backtest.start.code ? 'tape and feed gaps' : 'tape, feed gaps, code', atEnd(again)],
    ...replays.map(([name, replay]) => [name, atNote(replay)] as const),
  ]
  const final = (replays.at(-1) as (typeof replays)[number])[1]
  const net = record.results.bots.reduce((sum, { walletLamports }) => sum + walletLamports, 0)
  const liveLamports = net + final.backtest.foreignLamports
  return {
    ...{ liveLamports, backtestLamports: reported, residualLamports: liveLamports - atNote(final) },
    factors: nets.slice(1).map(([name, value], index) => ({ name, lamports: value - (nets[index]?.[1] ?? 0) })),
    attempts: record.attempts.length,
    matched: final.matches.used,
    notes: notesOf(segments, code, backtest.start.code),
  }
}

/** `code`: of the replays. */
function notesOf(segments: readonly Segment[], code: string, backtestCode: string): string[] {
  const starts = segments.map(({ start }) => start)
  const last = starts.at(-1) as StartInput
  return [
    ...(code === last.code ? [] : ['the code of Sluice or of a strategy was another one in the run than it is now']),
    ...(code === backtestCode
      ? []
      : ['the code of Sluice or of a strategy was another one in the backtest than it is now']),
    ...(starts.length === 1 ? [] : [`the run was started ${starts.length} times; a replay starts once`]),
    ...(starts.every(({ config }) => config === last.config)
      ? []
      : ['the configuration changed between its starts; the last one is taken']),
  ]
}

interface Replay {
  readonly backtest: Backtest
  readonly matches: Matches
}

function atEnd({ backtest: { bots } }: Replay): number {
  return bots.reduce((sum, { result, valueLamports }) => sum + result.walletLamports + valueLamports, 0)
}

/** When the run ended. */
function atNote({ backtest: { bots } }: Replay): number {
  return bots.reduce((sum, { splitLamports }) => sum + (splitLamports ?? 0), 0)
}

type Factor = 'latency' | 'landing' | 'impact' | 'fees'

function recordOf(live: JournalReader, segments: readonly Segment[], bots: readonly string[]): RunRecord {
  const record = new RunRecord(bots)
  for (const segment of segments)
    for (const item of live.replay(segment, new Mints())) {
      if (item.kind === 'input') record.input(item.seq, item.time, item.input)
      else if (item.kind === 'output') record.output(item.seq, item.time, item.index, item.output)
    }
  return record
}

/** What the run knows of each attempt of a replay. */
class Matches {
  used = 0
  readonly #free = new Map<string, RecordedAttempt[]>()
  readonly #factors: ReadonlySet<Factor>

  constructor(attempts: readonly RecordedAttempt[], factors: readonly Factor[]) {
    this.#factors = new Set(factors)
    for (const attempt of attempts) {
      const lane = laneOf(attempt)
      this.#free.set(lane, [...(this.#free.get(lane) ?? []), attempt])
    }
  }

  of(attempt: Attempt): Measured | undefined {
    if (this.#factors.size === 0) return undefined
    const free = this.#free.get(laneOf(attempt)) ?? []
    const distance = ({ sentAt }: RecordedAttempt): number => Math.abs(sentAt - attempt.armedAt)
    const nearest = [...free].sort((one, other) => distance(one) - distance(other))[0]
    if (nearest === undefined || distance(nearest) > SAME_WITHIN_MS) return undefined
    free.splice(free.indexOf(nearest), 1)
    this.used++
    return this.#measured(nearest, attempt)
  }

  #measured({ sentAt, toldAt, landing, code, fill, feeLamports }: RecordedAttempt, { armedAt }: Attempt): Measured {
    const has = (factor: Factor): boolean => this.#factors.has(factor)
    if (toldAt === null || landing === null) return has('landing') ? { landing: 'open' } : {}
    const isSame = Math.abs(sentAt - armedAt) <= SAME_INSTANT_MS
    // Of what never landed it is told late: that is no latency as long as it is drawn whether it lands.
    const hasLanded = landing === 'filled' || landing === 'reverted'
    // That it failed is told once it is final, that it was filled as soon as it is seen.
    const finalMs = landing === 'reverted' ? FINALITY_MS : 0
    const fee = fill?.feeLamports ?? feeLamports
    return {
      ...(has(hasLanded ? 'latency' : 'landing') && {
        toldAfterMs: Math.max(0, toldAt - (isSame ? armedAt : sentAt) - finalMs),
      }),
      ...(has('landing') && { landing, ...(code !== '' && { code }) }),
      ...(has('impact') && fill !== null && { swap: { tokens: fill.tokens, tradeLamports: fill.tradeLamports } }),
      ...(has('fees') && fee !== null && { feeLamports: lamports(fee) }),
      ...(has('fees') && fill !== null && { rentLamports: fill.rentLamports }),
    }
  }
}

function laneOf({ bot, mint, side }: Pick<RecordedAttempt, 'bot' | 'mint' | 'side'>): string {
  return `${bot}|${mint}|${side}`
}

/** As the report states it. */
function modelOf({ fillModel }: ReportedRun): FillModel {
  return { ...DEFAULT_FILL_MODEL, ...(fillModel.numbers as Partial<FillModel>) }
}

/** The bots of a start, as a configuration that a backtest takes. */
async function configOf({ config, bots, plan, units, lists }: StartInput, model: FillModel): Promise<Config> {
  return {
    files: [],
    service: {
      ...{ kind: 'remote', baseUrl: '', wsUrl: '', host: bots[0]?.account.service ?? '' },
      ...{ plan, share: 1, lateMs: 0, units: { ...units, priceUpdate: 'auto', sell: 'auto' } },
    },
    chain: { rpc: [], secondOpinionLamports: lamports(0) },
    wallet: {
      caps: { perTransaction: null, perHour: null, perDay: null },
      limits: bots[0]?.walletLimits ?? NO_LIMITS, // of an older journal
    },
    journal: { path: '', keepTapeDays: 1 },
    bots: await Promise.all(bots.map((bot) => botOf(bot, model))),
    lists: new Map(Object.entries(lists ?? {})),
    warnings: [],
    hash: config,
  }
}

async function botOf(settings: BotSettings, { latencyMs, serviceFeePercent }: FillModel): Promise<BotConfig> {
  const { account: _account, executor: _executor, paperLamports, seed, strategy, params, ...rest } = settings
  const { limits, filters } = rest
  return {
    ...rest,
    // What was not there yet in an older journal bound nothing.
    ...{ limits: { ...NO_LIMITS, ...limits }, filters: filters ?? NO_FILTERS },
    ...{ strategy: await loadStrategy(strategy), params, mode: 'paper', executor: 'cloud' },
    paper: { lamports: paperLamports, seed, latencyMs, serviceFeePercent },
    at: { file: '', line: 0, column: 0 },
  }
}

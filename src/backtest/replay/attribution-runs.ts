import type { Config } from '../../config/config.ts'
import type { ModelOf } from '../../engine/accounting/fill-assumptions.ts'
import type { StartInput } from '../../engine/messages.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import type { Market } from '../../journal/tape/market-tape.ts'
import type { Segment } from '../../journal/tape/recorded-segments.ts'
import type { Measurements } from '../../simulation/measurements.ts'
import type { OneWallet } from '../outcome.ts'
import type { RowsRead } from '../rows-read.ts'
import { type BacktestOptions, type BotOutcome, runBacktest } from '../run.ts'
import { AttemptMatches, type Factor } from './attempt-matches.ts'
import { holdOf, Moments } from './moments.ts'
import { RecordedOrders } from './recorded-orders.ts'
import { configOf, type ReplayedStart } from './recorded-start.ts'
import type { RecordedStart, RunRecord } from './run-record.ts'

/** Amounts in lamports, by bot. */
export type ByBot = ReadonlyMap<string, number>

export const amount = (amounts: ByBot, bot: string): number => amounts.get(bot) ?? 0

export interface Replay {
  /** Net result of the replay at the time at which the recorded run ended. */
  readonly net: ByBot
  /** Net result of the replay after all its orders ended. */
  readonly atEnd: ByBot
  /** Liquidation value of the recorded run's own positions when that run ended. */
  readonly held: ByBot
  readonly matches: AttemptMatches
}

type More = Pick<BacktestOptions, 'oneBudget' | 'oneWallet' | 'replayed'>

/** Replays a whole tape in one pass. Takes the interim results when `recorded`, the last recorded start of a process on
 *  this tape, ended. */
export class WholeRun {
  readonly #market: Market
  readonly #recorded: RecordedStart

  constructor(market: Market, recorded: RecordedStart) {
    this.#market = market
    this.#recorded = recorded
  }

  get rows(): number {
    return this.#market.rows
  }

  play(config: Config, more: More = {}, matches = new AttemptMatches([], [])): Replay {
    const { endedAt, held } = this.#recorded
    // The recorded run contains no attempts after its end, so orders that the replay sends later are simulated.
    const measured: Measurements = (attempt) =>
      attempt.armedAt > endedAt ? undefined : matches.of(attempt, more.replayed?.moments)
    const backtest = runBacktest(config, this.#market, {
      ...{ partial: true, tolerant: true, measured },
      // The interim results are taken just after the last instant of the recorded run, so that they include all of it.
      ...{ note: { at: endedAt + 1, foreign: held }, ...more },
    })
    const byBot = (of: (bot: BotOutcome) => number): ByBot =>
      new Map(backtest.bots.map((bot) => [bot.result.name, of(bot)]))
    return {
      net: byBot(({ splitLamports }) => splitLamports ?? 0),
      atEnd: byBot(({ result, valueLamports }) => result.walletLamports + valueLamports),
      held: byBot(({ foreignLamports }) => foreignLamports),
      matches,
    }
  }
}

export interface PlayedStart {
  readonly recorded: RecordedStart
  readonly market: Market
  readonly config: Config
  readonly more: More
  readonly items: ReplayedStart['items']
}

/** Kinds of recorded inputs that a backtest does not have. `operated`: commands of the operator, and changed filter
 *  lists. `gated`: inputs from the chain and the service that are not reports of orders, such as entry stops and
 *  balances. */
export const BESIDE = ['operated', 'gated'] as const
export type From = (typeof BESIDE)[number]

/** Replays each start of the recorded run separately, with its own configuration, market rows and restored state. */
export class RunInParts {
  readonly #starts: readonly PlayedStart[]
  readonly #record: RunRecord
  readonly #modelOf: ModelOf
  readonly #read: RowsRead

  constructor(
    starts: readonly PlayedStart[],
    { record, modelOf, read }: { record: RunRecord; modelOf: ModelOf; read: RowsRead },
  ) {
    this.#starts = starts
    this.#record = record
    this.#modelOf = modelOf
    this.#read = read
  }

  get rows(): number {
    return this.#starts.reduce((sum, { market }) => sum + market.rows, 0)
  }

  /** Replays all starts. The replay of each start begins with the state that the run recorded at this start, not with
   *  the end state of the previous replay. */
  play(factors: readonly Factor[], told: readonly From[] = [...BESIDE]): Replay {
    const { attempts, orders } = this.#record
    const matches = new AttemptMatches(attempts, factors, orders.values())
    const net = new Map<string, number>()
    let held: ByBot = new Map()
    for (const { recorded, market, config, more, items } of this.#starts) {
      const { start, carried } = recorded
      const moments = new Moments()
      const replayed: ReplayedStart = {
        ...{ start, items: (mints) => this.#read.items(items(mints)), moments },
        inOwnAccounts: told.includes('gated'),
        told: new Map([...carried, ...told.flatMap((from) => [...recorded[from]])]),
        orders: factors.includes('landing')
          ? (run) => new RecordedOrders({ ...run, matches, moments, modelOf: this.#modelOf })
          : undefined,
        hold: factors.includes('latency') ? holdOf(recorded.timers, moments) : undefined,
      }
      const part = new WholeRun(market, recorded).play(config, { ...more, replayed }, matches)
      for (const [bot, made] of part.net) net.set(bot, amount(net, bot) + made - amount(held, bot))
      held = new Map([...held, ...part.held])
    }
    return { net, atEnd: net, held, matches }
  }
}

/** Returns the starts of the recorded run, each with its part of the tape; undefined if the tape of a start was
 *  dropped. */
export async function startsOf(
  live: JournalReader,
  segments: readonly Segment[],
  record: RunRecord,
  modelOf: ModelOf,
): Promise<PlayedStart[] | undefined> {
  const starts: PlayedStart[] = []
  for (const [index, segment] of segments.entries()) {
    const recorded = record.starts[index] as RecordedStart
    const market = live.marketOf(segment)
    if (market === undefined) return undefined
    const config = await configOf(segment.start, modelOf)
    const more = { oneBudget: liveBotsOf(segment.start), oneWallet: walletOf(segment.start, record) }
    const items: ReplayedStart['items'] = (mints) => live.replay(segment, mints)
    const planned = { ...config, service: { ...config.service, plan: recorded.plan } }
    starts.push({ recorded, market, config: planned, more, items })
  }
  return starts
}

function liveBotsOf({ bots }: StartInput): string[] {
  return bots.filter(({ account }) => account.mode === 'live').map(({ name }) => name)
}

function walletOf(start: StartInput, { walletLamports }: RunRecord): OneWallet {
  return { bots: liveBotsOf(start), lamports: walletLamports }
}

/** A step of the attribution: a replay that takes one more kind of data from the recorded run than the replay of the
 *  previous step. */
export interface Step {
  readonly name: string
  readonly play: () => Replay
  /** Number of market rows that `play` reads. */
  readonly rows: number
}

export interface StepParts {
  readonly whole: WholeRun
  /** The recorded run, divided at each start of the process; undefined if the tape of a start was dropped. The run is
   *  then replayed as a whole. */
  readonly parts: RunInParts | undefined
  readonly record: RunRecord
  /** `theirs`: configuration of the backtest. `ours`: configuration of the recorded run. */
  readonly theirs: Config
  readonly ours: Config
}

/** Number of steps for a recorded run with one start, without operator commands and without waits for the chain. */
export const LEAST_STEPS = 8

/** Returns the steps that lead from the backtest to the recorded run. The first step repeats the backtest. In each
 *  later step, data of the run replaces one more assumption of the backtest. */
export function stepsOf({ whole, parts, record, theirs, ours }: StepParts): Step[] {
  const { start, plan } = record.starts.at(-1) as RecordedStart
  const asRun = { ...ours, service: { ...ours.service, plan } }
  const oneBudget = { oneBudget: liveBotsOf(start) }
  const together = { ...oneBudget, oneWallet: walletOf(start, record) }
  const ofWhole = (name: string, play: () => Replay): Step => ({ name, play, rows: whole.rows })
  const apart = once(() => whole.play(asRun, oneBudget))
  const withFactors = (name: string, factors: readonly Factor[]): Step => ({
    name,
    play: () => parts?.play(factors) ?? whole.play(asRun, together, new AttemptMatches(record.attempts, factors)),
    rows: (parts ?? whole).rows,
  })
  return [
    ofWhole('orders open at the end', () => whole.play(theirs)),
    ofWhole('configuration', () => whole.play({ ...ours, service: theirs.service })),
    ofWhole('plan delay', apart),
    oneBudget.oneBudget.length === 0
      ? { name: 'one wallet', play: apart, rows: 0 }
      : ofWhole('one wallet', () => whole.play(asRun, together)),
    ...(parts === undefined ? [] : besideSteps(parts, record)),
    withFactors('latency', ['latency']),
    withFactors('landing', ['latency', 'landing']),
    withFactors('impact', ['latency', 'landing', 'impact']),
    withFactors('fees', ['latency', 'landing', 'impact', 'fees']),
  ]
}

function once(play: () => Replay): () => Replay {
  let replay: Replay | undefined
  return () => (replay ??= play())
}

/** Returns the steps for events that a backtest does not simulate: restarts, operator commands, and waits for the
 *  chain. */
function besideSteps(parts: RunInParts, { starts }: RunRecord): Step[] {
  const has = (from: From): boolean => starts.some((one) => one[from].size > 0)
  const steps: Step[] = []
  const add = (name: string, play: () => Replay): number => steps.push({ name, play, rows: parts.rows })
  if (starts.length > 1) add('restarts', () => parts.play([], []))
  if (has('operated')) add('operator', () => parts.play([], ['operated']))
  if (has('gated')) add('waiting for the chain', () => parts.play([]))
  return steps
}

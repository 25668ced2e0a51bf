import type { Json } from '../../base/json.ts'
import type { BotConfig, Config } from '../../config/config.ts'
import { parseParams } from '../../config/strategies.ts'
import { type Settings, variedBot } from '../../config/varied-bot.ts'
import { readPlan } from '../../engine/bars/bar-plan.ts'
import { statesDoubles } from '../../engine/indicators/indicator-memory.ts'
import { NumberIndicator } from '../../engine/indicators/number-indicator.ts'
import type { Strategy } from '../../engine/strategy.ts'
import type { Market } from '../../journal/tape/market-tape.ts'
import { runBacktest } from '../run.ts'
import type { Point } from './space.ts'
import type { SetResult, SweepSet } from './sweep.ts'

/** Number of param sets that run as bots of one engine. If the strategy keeps state for every token or has no
 *  conditions, more bots would have more state than a core's cache can hold: they would not run faster, but use more
 *  memory. */
const SETS_WITH_STATE = 8
/** The same for a strategy with conditions and without state for tokens. Its sets share bars and equal indicators, so
 *  more of them in one engine share more work. */
const SETS_OF_CONDITIONS = 64
/** Largest indicator state of a token, doubles, with which `SETS_OF_CONDITIONS` sets run in one engine: 32 kB. Sets
 *  whose indicators all differ would otherwise need eight times the memory. */
const MOST_SHARED_DOUBLES = 4_096

/** Returns the number of param sets of a bot that run in one engine. `sets`: the sets that the sweep has yet to run. */
export function setsAnEngine(
  { strategy: { strategy } }: Pick<BotConfig, 'strategy'>,
  sets: readonly SweepSet[],
): number {
  if (strategy.when === undefined || strategy.token !== undefined) return SETS_WITH_STATE
  const all = new Map<string, NumberIndicator<unknown>>()
  for (const { params } of sets)
    for (const indicator of indicatorsOf(strategy, partsOf(params as object).params))
      if (indicator instanceof NumberIndicator) all.set(`${indicator.width} ${indicator.name}`, indicator)
  const byWidth = Map.groupBy(all.values(), ({ width }) => width)
  const doubles = [...byWidth.values()].reduce((sum, indicators) => sum + statesDoubles(indicators), 0)
  return doubles <= MOST_SHARED_DOUBLES ? SETS_OF_CONDITIONS : SETS_WITH_STATE
}

function indicatorsOf(strategy: Strategy, params: unknown): Iterable<unknown> {
  try {
    return readPlan(strategy, params).plan.indicators.values()
  } catch {
    return [] // The set's bot throws the same error when it starts, and the set has no result.
  }
}

/** The inputs that are the same for all param sets of a sweep. */
export interface SweepGround {
  readonly config: Config
  /** The bot whose params are swept. */
  readonly bot: BotConfig
  /** First market row of the hold-out; undefined without a hold-out. */
  readonly splitRow: number | undefined
}

/** Splits a point of a sweep, one combination of values, into values of params and values of settings. The names of
 *  settings are paths. */
function partsOf(point: object): { readonly params: Record<string, Json>; readonly settings: Settings } {
  const entries = Object.entries(point) as [string, number][]
  const isSetting = ([name]: [string, number]): boolean => name.includes('.')
  return {
    params: Object.fromEntries(entries.filter((entry) => !isSetting(entry))),
    settings: Object.fromEntries(entries.filter(isSetting)),
  }
}

/** Returns the params of a bot with the values of `point` in place of the bot's own, and the values of the swept
 *  settings; undefined if the strategy's schema refuses the params. */
export function paramsOf({ strategy, params }: BotConfig, point: Point): Json | undefined {
  const varied = partsOf(point)
  const parsed = parseParams(strategy.strategy, { ...(params as Record<string, Json>), ...varied.params })
  return parsed.ok
    ? { ...(JSON.parse(JSON.stringify(parsed.value)) as Record<string, Json>), ...varied.settings }
    : undefined
}

/** The variants of the swept bot, by the values of its swept settings. Each combination of values is loaded once. */
export class VariedBots {
  readonly #ground: Pick<SweepGround, 'config' | 'bot'>
  readonly #bots = new Map<string, BotConfig | { readonly problem: string }>()

  constructor(ground: Pick<SweepGround, 'config' | 'bot'>) {
    this.#ground = ground
  }

  /** Loads the bot with the settings of a param set. Returns the errors as text if the settings are invalid. */
  async load({ params }: Pick<SweepSet, 'params'>): Promise<BotConfig | { readonly problem: string }> {
    const { settings } = partsOf(params as object)
    const key = JSON.stringify(settings)
    const { config, bot } = this.#ground
    const known = this.#bots.get(key) ?? (key === '{}' ? bot : await variedBot(config.files, bot.name, settings))
    this.#bots.set(key, known)
    return known
  }

  /** Returns the bot with the settings and params of a set. `load` must have been called for this set before. */
  of({ set, params }: SweepSet): BotConfig {
    const varied = partsOf(params as object)
    const key = JSON.stringify(varied.settings)
    const bot = key === '{}' ? this.#ground.bot : this.#bots.get(key)
    if (bot === undefined || 'problem' in bot) throw new Error(`the settings of set ${set} were not loaded`)
    return { ...bot, name: `${this.#ground.bot.name}#${set}`, params: varied.params }
  }
}

/** Runs param sets as bots of one engine in one pass over the tape, each with an account of its own. Each result
 *  equals that of a separate run, because the bots share only the market, and each has its own seed. */
export function runSets(
  { config, bot, splitRow }: SweepGround,
  sets: readonly SweepSet[],
  market: Market,
  progress?: (rows: number) => void,
  varied = new VariedBots({ config, bot }),
): SetResult[] {
  const bots = sets.map((set) => varied.of(set))
  const backtest = runBacktest({ ...config, bots }, market, {
    ...{ partial: true, tolerant: true, splitRow },
    ...(progress && { progress }),
  })
  return backtest.bots.map(({ result, valueLamports, splitLamports, threw }, index) => {
    const { set, params } = sets[index] as SweepSet
    const netLamports = result.walletLamports + valueLamports
    return {
      ...{ set, params, threw, netLamports },
      sampleLamports: splitLamports ?? netLamports,
      orders: result.orders,
      buys: result.buys,
      sells: result.sells,
      open: result.positions.size,
      realizedLamports: result.realizedLamports,
      feeLamports: result.feeLamports,
      venueLamports: result.fees.venue,
    }
  })
}

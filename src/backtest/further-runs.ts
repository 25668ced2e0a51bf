import { deriveSeed } from '../base/random.ts'
import { LAMPORTS_PER_SOL, type Lamports, lamports } from '../base/units.ts'
import type { BotConfig, Config } from '../config/config.ts'
import type { FillModel } from '../engine/accounting/fill-assumptions.ts'
import { LIMITS, type Limits, NO_LIMITS, WALLET_LIMITS, type WalletLimits } from '../engine/limits/limit-rules.ts'
import { mapSol } from '../engine/limits/setting-rows.ts'
import type { Market } from '../journal/tape/market-tape.ts'
import { RowKind } from '../market/block.ts'
import { Mints } from '../market/mints.ts'
import { stressed, withoutDelay } from '../simulation/fill-model.ts'
import {
  type BotExtras,
  beatenPercent,
  entriesAlone,
  errorPercent,
  type FreedRun,
  type RandomEntries,
  randomEntries,
  scaledStrategy,
  type VariedRun,
} from './metrics/extras.ts'
import { quantile } from './metrics/statistics.ts'
import { type Backtest, type BotOutcome, runBacktest } from './run.ts'

const STRESS = [2, 4]
const SIZES = [0.5, 2, 5]
/** Number of bots with random entries in one run. Each bot has state for every token, so more bots would need too much
 *  memory. */
const SEEDS_A_RUN = 5

export interface ExtraOptions {
  /** Called with the number of rows that the runs of `extrasOf` have played so far. `extraRows` returns their total. */
  readonly progress: (rows: number) => void
  /** The fill model of the backtest, which the runs of `extrasOf` vary. */
  readonly model: (assumed: FillModel) => FillModel
  /** Number of bots with random entries that each configured bot is compared with; at least 1. */
  readonly seeds: number
}

/** Total number of rows that the runs of `extrasOf` will play. */
export function extraRows(config: Config, market: Market, seeds: number): number {
  return market.rows * (STRESS.length + SIZES.length + 3 + config.bots.length * Math.ceil(seeds / SEEDS_A_RUN))
}

/** Repeats a backtest with other assumptions: with other costs, with other sizes, without delay or limits, and with
 *  random entries. The backtest must have been run with `logged`. Returns the results by bot. */
export function extrasOf(
  config: Config,
  market: Market,
  backtest: Backtest,
  { progress, model, seeds }: ExtraOptions,
): Map<string, BotExtras> {
  const trades = tradesOf(market)
  let done = 0
  const run = (varied: Config, more: Partial<Parameters<typeof runBacktest>[2]> = {}): Backtest => {
    const found = runBacktest(varied, market, {
      partial: true,
      tolerant: true,
      model,
      progress: (rows) => progress(done + rows),
      ...more,
    })
    done += market.rows
    return found
  }
  // The runs are made one at a time, and only their results are kept, because engines and logs need much memory.
  const stress = STRESS.map((factor) =>
    variedRuns(factor, run(config, { logged: true, model: (assumed) => stressed(model(assumed), factor) })),
  )
  const sizes = SIZES.map((factor) => variedRuns(factor, run(sized(config, factor), { logged: true })))
  const whole = [...sizes, variedRuns(1, backtest)].sort(([a], [b]) => (a?.factor ?? 0) - (b?.factor ?? 0))
  const freed = [
    freedRuns('delay', run(config, { model: (assumed) => withoutDelay(model(assumed)) })),
    freedRuns('limits', run(unlimited(config))),
  ]
  const entries = run(withoutSales(config)).bots
  return new Map(
    backtest.bots.map((bot, index) => {
      const of = (runs: readonly VariedRun[][]): VariedRun[] => runs.map((bots) => bots[index] as VariedRun)
      const own = entries[index] as BotOutcome
      const random = byChance({ config, bot: config.bots[index] as BotConfig, base: bot, own, trades, seeds }, run)
      return [
        bot.result.name,
        { stress: of(stress), sizes: of(whole), freed: freed.map((bots) => bots[index] as FreedRun), random },
      ]
    }),
  )
}

function tradesOf(market: Market): number {
  let trades = 0
  for (const item of market.items(new Mints())) {
    if (item.kind !== 'rows') continue
    for (let row = item.from; row < item.to; row++) if ((item.block.kind[row] as number) <= RowKind.sell) trades++
  }
  return trades
}

function variedRuns(factor: number, { bots }: Backtest): VariedRun[] {
  return bots.map((bot) => variedRun(factor, bot))
}

function freedRuns(of: FreedRun['of'], { bots }: Backtest): FreedRun[] {
  return bots.map((bot) => ({ of, netSol: netOf(bot) / 1e9, buys: bot.result.buys }))
}

function netOf({ result, valueLamports }: BotOutcome): number {
  return result.walletLamports + valueLamports
}

function variedRun(factor: number, bot: BotOutcome): VariedRun {
  const trades = bot.result.log?.money.trips.length ?? 0
  return { factor, netSol: netOf(bot) / 1e9, trades, percentOfBought: percentOf(bot) }
}

/** Net result as a percentage of the SOL spent on buys; null if the bot bought nothing. */
function percentOf(bot: BotOutcome): number | null {
  const { boughtLamports } = bot.result
  return boughtLamports === 0 ? null : (netOf(bot) / boughtLamports) * 100
}

interface Chance {
  readonly config: Config
  readonly bot: BotConfig
  /** Outcome of the bot in the backtest itself. */
  readonly base: BotOutcome
  /** Outcome of the bot in a run in which only the configured exits sell, not the strategy. */
  readonly own: BotOutcome
  /** Number of trades on the tape. */
  readonly trades: number
  readonly seeds: number
}

/** Results of random entries with the exits of a bot; null if the bot bought nothing, or if no random run bought
 *  anything. */
function byChance(chance: Chance, run: (config: Config) => Backtest): RandomEntries | null {
  const { config, base, own, seeds } = chance
  if (base.result.buys === 0) return null
  const bots = randomBots(chance)
  const nets: number[] = []
  const percents: number[] = []
  let trades = 0
  for (let from = 0; from < seeds; from += SEEDS_A_RUN)
    for (const one of run({ ...config, bots: bots.slice(from, from + SEEDS_A_RUN) }).bots) {
      nets.push(netOf(one) / 1e9)
      const percent = percentOf(one)
      if (percent !== null) percents.push(percent)
      trades += one.result.buys
    }
  // Runs without a fill are left out, because a result of 0 % would rank above every loss.
  if (percents.length === 0) return null
  const at = (values: readonly number[], share: number): number => quantile(values, share) as number
  const entriesPercent = percentOf(own)
  const beaten = beatenPercent(entriesPercent ?? 0, percents)
  return {
    entriesSol: netOf(own) / 1e9,
    entriesPercent,
    seeds,
    tradesPerSeed: trades / seeds,
    ...{ p5Sol: at(nets, 0.05), medianSol: at(nets, 0.5), p95Sol: at(nets, 0.95) },
    ...{ p5Percent: at(percents, 0.05), medianPercent: at(percents, 0.5), p95Percent: at(percents, 0.95) },
    beatenPercent: beaten,
    beatenErrorPercent: errorPercent(beaten, percents.length),
  }
}

/** Configures bots with random entries. Each makes as many entries as the bot had filled buys, of their average
 *  size. */
function randomBots({ bot, base: { result }, trades, seeds }: Chance): BotConfig[] {
  const sol = Math.floor(result.boughtLamports / result.buys) / 1e9
  const { params } = bot.strategy.strategy
  const exits = [...(result.log?.exits.values() ?? [])]
  const strategy = randomEntries({ params, sol, entries: result.buys, trades, exits })
  return Array.from({ length: seeds }, (_, seed): BotConfig => {
    const name = `${bot.name} random ${seed + 1}`
    const paper = { ...bot.paper, seed: deriveSeed(bot.paper.seed, name) }
    return { ...bot, name, params: null, strategy: { ...bot.strategy, name: strategy.name, strategy }, paper }
  })
}

/** A balance that is always large enough. */
const ENOUGH = lamports(1_000_000 * LAMPORTS_PER_SOL)

function unlimited(config: Config): Config {
  const bots = config.bots.map((bot): BotConfig => {
    return { ...bot, limits: NO_LIMITS, paper: { ...bot.paper, lamports: ENOUGH } }
  })
  return { ...config, wallets: config.wallets.map((wallet) => ({ ...wallet, limits: NO_LIMITS })), bots }
}

function withoutSales(config: Config): Config {
  const bots = config.bots.map((bot): BotConfig => {
    return { ...bot, strategy: { ...bot.strategy, strategy: entriesAlone(bot.strategy.strategy) } }
  })
  return { ...config, bots }
}

/** Returns the configuration with all orders `factor` times as large. Money and limits are multiplied too, so that only
 *  the market can refuse an order. */
function sized(config: Config, factor: number): Config {
  const times = <T extends Lamports | null>(amount: T): T =>
    amount === null ? amount : (lamports(Math.round(amount * factor)) as T)
  const bots = config.bots.map((bot): BotConfig => {
    const strategy = { ...bot.strategy, strategy: scaledStrategy(bot.strategy.strategy, factor) }
    const paper = { ...bot.paper, lamports: times(bot.paper.lamports) }
    return { ...bot, strategy, limits: mapSol<Limits>(LIMITS, bot.limits, times), paper }
  })
  return {
    ...config,
    wallets: config.wallets.map((wallet) => ({
      ...wallet,
      limits: mapSol<WalletLimits>(WALLET_LIMITS, wallet.limits, times),
    })),
    bots,
  }
}

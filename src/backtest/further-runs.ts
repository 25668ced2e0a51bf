import { deriveSeed } from '../base/random.ts'
import { LAMPORTS_PER_SOL, type Lamports, lamports } from '../base/units.ts'
import type { BotConfig, Config } from '../config/config.ts'
import { LIMITS, type Limits, NO_LIMITS, WALLET_LIMITS, type WalletLimits } from '../engine/limits/limits.ts'
import { mapSol } from '../engine/limits/setting-rows.ts'
import type { Market } from '../journal/tape/market-tape.ts'
import { type FillModel, stressed, withoutDelay } from '../simulation/fill-model.ts'
import {
  type BotExtras,
  entriesAlone,
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
const SEEDS = 100
/** Bots in one engine: each has state for every token, so more of them need too much memory. */
const SEEDS_A_RUN = 5

export interface ExtraOptions {
  /** Called with the number of rows done over all runs; `extraRows` is the total. */
  readonly progress: (rows: number) => void
  /** The fill model of the backtest; these runs vary it. */
  readonly model: (assumed: FillModel) => FillModel
}

/** Rows that the further runs play. */
export function extraRows(config: Config, market: Market): number {
  return market.rows * (STRESS.length + SIZES.length + 3 + config.bots.length * (SEEDS / SEEDS_A_RUN))
}

/** Further runs of a logged backtest, by bot: with other costs, other sizes, and random entries. */
export function extrasOf(
  config: Config,
  market: Market,
  backtest: Backtest,
  { progress, model }: ExtraOptions,
): Map<string, BotExtras> {
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
  // Runs one at a time and keeps only these figures: engines and logs are large.
  const stress = STRESS.map((factor) =>
    variedRuns(factor, run(config, { logged: true, model: (assumed) => stressed(model(assumed), factor) })),
  )
  const sizes = SIZES.map((factor) => variedRuns(factor, run(sized(config, factor), { logged: true })))
  const whole = [...sizes, variedRuns(1, backtest)].sort(([a], [b]) => (a?.factor ?? 0) - (b?.factor ?? 0))
  const freed = [
    freedRuns('delay', run(config, { model: (assumed) => withoutDelay(model(assumed)) })),
    freedRuns('limits', run(unlimited(config))),
  ]
  const entries = run(withoutSales(config)).bots.map(netOf)
  return new Map(
    backtest.bots.map((bot, index) => {
      const of = (runs: readonly VariedRun[][]): VariedRun[] => runs.map((bots) => bots[index] as VariedRun)
      const random = byChance(
        config,
        config.bots[index] as BotConfig,
        bot,
        entries[index] as number,
        backtest.rows,
        run,
      )
      return [
        bot.result.name,
        { stress: of(stress), sizes: of(whole), freed: freed.map((bots) => bots[index] as FreedRun), random },
      ]
    }),
  )
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
  const trips = bot.result.log?.money.trips ?? []
  const bought = trips.reduce((sum, { boughtLamports }) => sum + boughtLamports, 0)
  const net = netOf(bot)
  return {
    factor,
    netSol: net / 1e9,
    trades: trips.length,
    percentOfBought: bought === 0 ? null : (net / bought) * 100,
  }
}

/** Result of the entries with the configured exits only; null if the bot bought nothing. `entriesLamports`: result of
 *  the bot's own entries with these exits. */
function byChance(
  config: Config,
  bot: BotConfig,
  { result: { log } }: BotOutcome,
  entriesLamports: number,
  rows: number,
  run: (config: Config) => Backtest,
): RandomEntries | null {
  const buys = [...(log?.orders.values() ?? [])].filter(({ side }) => side === 'buy')
  if (buys.length === 0) return null
  const sol = buys.reduce((sum, order) => sum + (order.lamports ?? 0), 0) / buys.length / 1e9
  const { params } = bot.strategy.strategy
  const strategy = randomEntries({ params, sol, entries: buys.length, rows, exits: [...(log?.exits.values() ?? [])] })
  const bots = Array.from({ length: SEEDS }, (_, seed): BotConfig => {
    const name = `${bot.name} random ${seed + 1}`
    const paper = { ...bot.paper, seed: deriveSeed(bot.paper.seed, name) }
    return { ...bot, name, params: null, strategy: { ...bot.strategy, name: strategy.name, strategy }, paper }
  })
  const nets: number[] = []
  let trades = 0
  for (let from = 0; from < SEEDS; from += SEEDS_A_RUN)
    for (const one of run({ ...config, bots: bots.slice(from, from + SEEDS_A_RUN) }).bots) {
      nets.push(netOf(one))
      trades += one.result.buys
    }
  const at = (share: number): number => (quantile(nets, share) as number) / 1e9
  const beaten = nets.filter((net) => net < entriesLamports).length
  return {
    entriesSol: entriesLamports / 1e9,
    seeds: SEEDS,
    tradesPerSeed: trades / SEEDS,
    p5Sol: at(0.05),
    medianSol: at(0.5),
    p95Sol: at(0.95),
    beatenPercent: (beaten / SEEDS) * 100,
  }
}

/** More than any market takes. */
const ENOUGH = lamports(1_000_000 * LAMPORTS_PER_SOL)

function unlimited(config: Config): Config {
  const bots = config.bots.map((bot): BotConfig => {
    return { ...bot, limits: NO_LIMITS, paper: { ...bot.paper, lamports: ENOUGH } }
  })
  return { ...config, wallet: { ...config.wallet, limits: NO_LIMITS }, bots }
}

function withoutSales(config: Config): Config {
  const bots = config.bots.map((bot): BotConfig => {
    return { ...bot, strategy: { ...bot.strategy, strategy: entriesAlone(bot.strategy.strategy) } }
  })
  return { ...config, bots }
}

/** Money and limits grow with the orders, so that only the market can refuse them. */
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
    wallet: { ...config.wallet, limits: mapSol<WalletLimits>(WALLET_LIMITS, config.wallet.limits, times) },
    bots,
  }
}

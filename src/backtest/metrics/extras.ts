import type { Json } from '../../base/json.ts'
import type { ExitRules } from '../../engine/exits/exit-settings.ts'
import type { Bot, OrderView, Strategy } from '../../engine/strategy.ts'

/** Results of repeated backtests of a bot over the same tape, each with other assumptions. Amounts are in SOL. */
export interface BotExtras {
  /** Runs with all fees and the latency multiplied by a factor. */
  readonly stress: readonly VariedRun[]
  /** Runs with all orders, limits and the money multiplied by a factor. Factor 1 is the backtest itself. */
  readonly sizes: readonly VariedRun[]
  /** Results of a run without delay, and of a run without limits. */
  readonly freed: readonly FreedRun[]
  /** Results of random entries; null if the bot bought nothing, or if no random run bought anything. */
  readonly random: RandomEntries | null
}

/** Result of a run without one restriction. `delay`: every transaction lands in the Solana slot after its decision.
 *  `limits`: the bot has no limits of its own, and enough money. */
export interface FreedRun {
  readonly of: 'delay' | 'limits'
  readonly netSol: number
  readonly buys: number
}

export interface VariedRun {
  readonly factor: number
  readonly netSol: number
  readonly trades: number
  /** Net result as a percentage of the amount bought; null if nothing was bought. */
  readonly percentOfBought: number | null
}

/** Results of runs that buy at random times, as often as the bot bought, for the average amount of its buys, and with
 *  the exits of its positions. The strategy itself sells nothing in these runs. Percentages are results per SOL bought,
 *  because the runs may make different numbers of trades. */
export interface RandomEntries {
  /** Result of the entries of the bot if only the configured exits sell. It equals the result of the bot if the
   *  strategy never sells. */
  readonly entriesSol: number
  readonly entriesPercent: number | null
  readonly seeds: number
  readonly tradesPerSeed: number
  readonly p5Sol: number
  readonly medianSol: number
  readonly p95Sol: number
  readonly p5Percent: number
  readonly medianPercent: number
  readonly p95Percent: number
  /** Percentage of the random runs whose result per SOL bought is lower than `entriesPercent`. A run with an equal
   *  result counts as half a run. */
  readonly beatenPercent: number
  /** Half of the width of the 95 % interval of `beatenPercent`, which is an estimate, because the random runs are a
   *  sample. */
  readonly beatenErrorPercent: number
}

/** Percentage of the values that are lower than `own`. A value equal to `own` counts half. */
export function beatenPercent(own: number, values: readonly number[]): number {
  const points = values.reduce((sum, value) => sum + (value < own ? 1 : value === own ? 0.5 : 0), 0)
  return (points / values.length) * 100
}

/** Half of the width of the 95 % interval of a percentage that was found in `count` draws, in percentage points. Uses
 *  the method of Agresti and Coull, because the usual formula gives 0 if all draws agree. */
export function errorPercent(percent: number, count: number): number {
  const share = ((percent / 100) * count + 2) / (count + 4)
  return 196 * Math.sqrt((share * (1 - share)) / (count + 4))
}

/** Returns the strategy with its buys `factor` times as large. */
export function scaledStrategy(strategy: Strategy, factor: number): Strategy {
  return changed(strategy, (bot) => ({
    buy: (token, options) => bot.buy(token, { ...options, sol: options.sol * factor }),
  }))
}

const ONLY_EXITS = { ok: false, code: 'LANE_BUSY', reason: 'only exits may sell' } as const

/** Returns the strategy without its own sales, so that only exits sell. */
export function entriesAlone(strategy: Strategy): Strategy {
  return changed(strategy, () => ({
    sell: () => ONLY_EXITS,
    setExits: () => ONLY_EXITS,
  }))
}

type Changes = Partial<Pick<Bot<unknown>, 'buy' | 'sell' | 'setExits'>>

function changed(strategy: Strategy, changes: (bot: Bot<unknown>) => Changes): Strategy {
  return { ...strategy, start: (params, bot) => strategy.start(params, changedBot(bot, changes(bot))) }
}

function changedBot(bot: Bot<unknown>, changes: Changes): Bot<unknown> {
  return new Proxy(bot, {
    get(target, key) {
      if (Object.hasOwn(changes, key)) return changes[key as keyof Changes]
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
    set: (target, key, value: Json) => Reflect.set(target, key, value),
  })
}

export interface ChanceOptions {
  /** Parameter schema of the replaced strategy. */
  readonly params: Strategy['params']
  readonly sol: number
  readonly entries: number
  /** Number of trades on the tape. */
  readonly trades: number
  /** Exit rules of the positions of the bot that is compared. Each random buy draws the rules of one position. */
  readonly exits: readonly ExitRules[]
}

const MISSED: ReadonlySet<OrderView['state']> = new Set(['failed', 'refused', 'expired', 'cancelled', 'not_executed'])

/** Longest wait of the strategy after a refused entry, as a share of the mean number of trades between two entries. */
const PAUSE = 0.2

/** A strategy that buys for `sol` at random prints, about `entries` times in `trades` trades. If an entry is refused or
 *  not filled, the strategy repeats it at a later print, so that limits do not reduce the number of entries. */
export function randomEntries({ params, sol, entries, trades, exits }: ChanceOptions): Strategy {
  const distance = trades / Math.max(1, entries)
  return {
    name: 'random entries',
    about: 'Buys at random prints.',
    params,
    keys: ['trades'],
    start: (_params, bot) => {
      const within = (most: number): number => 1 + Math.floor(bot.random() * Math.max(1, Math.round(most)))
      let left = within(2 * distance)
      let due = 0
      let pause = 0
      return {
        onTrade(_trade, token) {
          if (--left <= 0) {
            left = within(2 * distance)
            due++
          }
          if (due === 0 || --pause > 0 || token.price === undefined || token.position !== undefined) return
          const rules = exits[Math.floor(bot.random() * exits.length)] ?? {}
          if (bot.buy(token, { sol, reason: 'chance', exits: rules }).ok) due--
          else pause = within(PAUSE * distance)
        },
        onOrder({ side, state }) {
          if (side === 'buy' && MISSED.has(state)) due++
        },
      }
    },
  }
}

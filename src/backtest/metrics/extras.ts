import type { Json } from '../../base/json.ts'
import type { ExitRules } from '../../engine/exits/exit-rules.ts'
import type { Bot, Strategy } from '../../engine/strategy.ts'

/** What further runs over the same tape say of a bot. SOL. */
export interface BotExtras {
  /** All fees and the latency times a factor. */
  readonly stress: readonly VariedRun[]
  /** All orders, limits and the money times a factor; 1 is the run itself. */
  readonly sizes: readonly VariedRun[]
  /** Without what kept it from trading. */
  readonly freed: readonly FreedRun[]
  /** null where the bot bought nothing. */
  readonly random: RandomEntries | null
}

/** What the bot would have made if every transaction landed in the slot after its decision, and if no limit of its own
 *  and no lack of money had refused it anything. */
export interface FreedRun {
  readonly of: 'delay' | 'limits'
  readonly netSol: number
  readonly buys: number
}

export interface VariedRun {
  readonly factor: number
  readonly netSol: number
  readonly trades: number
  /** Net of what was bought; null where nothing was. */
  readonly percentOfBought: number | null
}

/** The same exits, size and number of entries, at prints that chance chose. Sales that the strategy decides itself are
 *  none of these exits. */
export interface RandomEntries {
  /** What the bot's own entries make with these exits alone: its result, where its strategy sells nothing itself. */
  readonly entriesSol: number
  readonly seeds: number
  readonly tradesPerSeed: number
  readonly p5Sol: number
  readonly medianSol: number
  readonly p95Sol: number
  /** Of the seeds, how many made less than that. */
  readonly beatenPercent: number
}

/** The same strategy, whose buys are `factor` times as large. */
export function scaledStrategy(strategy: Strategy, factor: number): Strategy {
  return changed(strategy, (bot) => ({
    buy: (token, options) => bot.buy(token, { ...options, sol: options.sol * factor }),
  }))
}

const ONLY_EXITS = { ok: false, code: 'LANE_BUSY', reason: 'only the exits sell' } as const

/** The same strategy without its own sales: only the exits sell. */
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
  /** The schema of whom it stands in for. */
  readonly params: Strategy['params']
  readonly sol: number
  readonly entries: number
  readonly rows: number
  /** Those that the positions of whom it stands in for had: chance takes one for each buy. */
  readonly exits: readonly ExitRules[]
}

/** Buys for `sol` at a print that chance chooses, `entries` times in `rows` rows or so. */
export function randomEntries({ params, sol, entries, rows, exits }: ChanceOptions): Strategy {
  const longest = Math.max(1, Math.round((2 * rows) / Math.max(1, entries)))
  return {
    name: 'random entries',
    about: 'Buys at prints that chance chooses.',
    params,
    keys: ['trades'],
    start: (_params, bot) => {
      const skip = (): number => 1 + Math.floor(bot.random() * longest)
      let left = skip()
      return {
        onTrade(_trade, token) {
          if (--left > 0 || token.price === undefined || token.position !== undefined) return
          left = skip()
          bot.buy(token, { sol, reason: 'chance', exits: exits[Math.floor(bot.random() * exits.length)] ?? {} })
        },
      }
    },
  }
}

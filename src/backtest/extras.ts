import type { Json } from '../core/json.ts'
import type { Bot, Strategy } from '../core/strategy.ts'

/** What further runs over the same tape say of a bot. SOL. */
export interface BotExtras {
  /** All fees and the latency times a factor. */
  readonly stress: readonly VariedRun[]
  /** All orders, limits and the money times a factor; 1 is the run itself. */
  readonly sizes: readonly VariedRun[]
  /** null where the bot bought nothing. */
  readonly random: RandomEntries | null
}

export interface VariedRun {
  readonly factor: number
  readonly netSol: number
  readonly trades: number
  /** Net of what was bought; null where nothing was. */
  readonly percentOfBought: number | null
}

/** The same exits, size and number of entries, at prints that chance chose. */
export interface RandomEntries {
  readonly seeds: number
  readonly tradesPerSeed: number
  readonly p5Sol: number
  readonly medianSol: number
  readonly p95Sol: number
  /** Of the seeds, how many made less than the bot. */
  readonly beatenPercent: number
}

/** The same strategy, whose buys are `factor` times as large. */
export function scaledStrategy(strategy: Strategy, factor: number): Strategy {
  return { ...strategy, start: (params, bot) => strategy.start(params, scaledBot(bot, factor)) }
}

function scaledBot(bot: Bot<unknown>, factor: number): Bot<unknown> {
  const buy: Bot<unknown>['buy'] = (token, options) => bot.buy(token, { ...options, sol: options.sol * factor })
  return new Proxy(bot, {
    get(target, key) {
      if (key === 'buy') return buy
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
    set: (target, key, value: Json) => Reflect.set(target, key, value),
  })
}

/** Buys for `sol` at a print that chance chooses, `entries` times in `rows` rows or so. `params` is the schema of whom it stands in for. */
export function randomEntries(params: Strategy['params'], sol: number, entries: number, rows: number): Strategy {
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
          bot.buy(token, { sol, reason: 'chance' })
        },
      }
    },
  }
}

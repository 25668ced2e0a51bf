import { z } from 'zod'
import type { ExitRules } from '../../src/engine/exits/exit-settings.ts'
import { type Bot, defineStrategy, type Strategy, type Token } from '../../src/engine/strategy.ts'
import type { TimerUse } from './scenario.ts'
import { ask } from './wishes.ts'

/**
 * Settings of the test's strategy, and its running bots. Through this object, the test controls the strategy and reads
 * the bots.
 */
export interface Leash {
  /** Returns whether the strategy must stop trading. From then on, only exits close the positions. */
  isCalm(): boolean
  /** Whether the strategy also requests conditional orders. */
  readonly waits: boolean
  /** The `bot` objects that the simulated process passed to the strategy. */
  readonly bots: Bot<undefined>[]
}

/**
 * Shares of the prints at which the strategy places a conditional order (`ASKS`) or does nothing (`RESTS`). The pauses
 * give conditional orders time to trigger.
 */
const ASKS = 0.15
const RESTS = 0.6

const EXITS: readonly ExitRules[] = [
  { maxHoldSeconds: 5 },
  { maxHoldSeconds: 15, stopLossPercent: 10 },
  { maxHoldSeconds: 30, trailingPercent: 5, takeProfitPercent: 5 },
]

/** Returns a strategy that makes random permitted requests. */
export function restless(leash: Leash): Strategy {
  const act = (bot: Bot<undefined>, token: Token<undefined>): void => {
    if (leash.isCalm()) return
    const mood = leash.waits ? bot.random() : 1
    if (mood < ASKS) ask(bot, token)
    if (mood < ASKS + RESTS) return
    const { position } = token
    const chance = bot.random()
    const reason = 'by chance'
    if (position === undefined || position.tokens === 0) {
      if (chance < 0.2) {
        const exits = EXITS[Math.floor(bot.random() * EXITS.length)] as ExitRules
        bot.buy(token, { sol: 0.01 + Number((bot.random() * 0.3).toFixed(4)), reason, exits })
      }
    } else if (chance < 0.03) bot.sell(token, { percent: 10 + Math.floor(bot.random() * 80), reason })
    else if (chance < 0.05) bot.sell(token, { tokens: position.tokens * bot.random(), reason })
    else if (chance < 0.08) bot.sell(token, { all: true, reason })
    else if (chance < 0.1) bot.buy(token, { sol: 0.02, reason, scaleIn: true, slippagePercent: 2 })
    else if (chance < 0.12) for (const { id } of bot.orders()) bot.cancel(id)
  }
  const strategy = defineStrategy<unknown>({
    name: 'restless',
    about: 'Makes random requests that a strategy may make.',
    params: z.unknown(),
    keys: ['trades'],
    warmup: 20,
    start: (_params, bot) => {
      leash.bots.push(bot)
      return { onTrade: (_trade, token) => act(bot, token) }
    },
  })
  return strategy as Strategy
}

const STORM_TIMERS = 60
/** A strategy that must throw does so when this number of timers has fired. */
const PATIENCE = 20

/** Returns a strategy that never trades. `use` determines its timers. */
export function ticking(use: TimerUse): Strategy {
  const strategy = defineStrategy<unknown>({
    name: 'ticking',
    about: 'Sets timers.',
    params: z.unknown(),
    keys: [],
    warmup: 20,
    start: (_params, bot) => {
      let fired = 0
      const count = use === 'storm' ? STORM_TIMERS : 3
      for (let index = 0; index < count; index++) bot.every(`beat ${index}`, use === 'storm' ? 0.1 : 1 + index)
      return {
        onTimer(name) {
          if (use === 'throws' && ++fired === PATIENCE) throw new Error('the scenario makes this timer throw')
          if (name === 'beat 1') bot.after('once', 0.5)
        },
      }
    },
  })
  return strategy as Strategy
}

import { z } from 'zod'
import type { Order } from '../../src/engine/order.ts'
import { type Bot, defineStrategy, type Handlers, type Strategy, type Token } from '../../src/engine/strategy.ts'
import { type BotOptions, botSettings, EngineRig, orders } from './engine-rig.ts'

/** An action that the strategy carries out at its next trade. */
export type Act = (bot: Bot<unknown>, token: Token<unknown>) => void

/** Returns a bot with a price and, on request, with a position that was bought for 0.1 SOL. */
export function readyBot(options: ConstructorParameters<typeof TalkingBot>[0] = {}, holds = false): TalkingBot {
  const talk = new TalkingBot(options)
  talk.rig.settle(1e-6)
  if (holds) {
    talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason: 'told to' }))
    talk.rig.fill(orders(talk.rig.outputs)[0] as Order, 1e-6)
  }
  return talk
}

/** A rig whose strategy runs callbacks of the test: in `start`, and then at the next trade or timer. */
export class TalkingBot {
  readonly rig: EngineRig
  /** The names of the timers that fired. */
  readonly fired: string[] = []
  /** The number of trades that the strategy received. */
  trades = 0
  next: Act | undefined
  atTimer: Act | undefined
  readonly #token: Token<unknown> = {} as never

  constructor(
    options: BotOptions & { money?: ConstructorParameters<typeof EngineRig>[2]; keys?: string[]; now?: number } = {},
    start: (bot: Bot<unknown>) => Handlers<unknown> = () => ({}),
    more: Partial<Strategy<never, unknown>> = {},
  ) {
    const strategy = defineStrategy<object, unknown>({
      name: 'told',
      about: 'calls a function of the test at each trade',
      params: z.object({}),
      keys: options.keys ?? ['trades'],
      start: (_params, bot) => ({
        onTrade: (_trade, token) => {
          this.trades++
          const { next } = this
          this.next = undefined
          next?.(bot, token)
        },
        onTimer: (name) => {
          this.fired.push(name)
          this.atTimer?.(bot, this.#token)
        },
        ...start(bot),
      }),
      ...(more as object),
    })
    this.rig = new EngineRig([strategy as never], [botSettings('told', options)], options.money, options.now)
  }

  /** Runs a callback at a trade, and returns its result. */
  ask<T>(act: (bot: Bot<unknown>, token: Token<unknown>) => T, price = 1e-6): T {
    let answer: T | undefined
    let isDone = false
    this.next = (bot, token) => {
      answer = act(bot, token)
      isDone = true
    }
    this.rig.trade(price)
    if (!isDone) throw new Error('the strategy did not receive the trade, or its callback threw')
    return answer as T
  }

  /** Runs a callback, which may throw, at the next trade. Returns the reason of the alarm; '' if there was none. */
  dare(act: Act): string {
    this.next = act
    const alarm = this.rig.trade(1e-6).find((output) => output.kind === 'alarm')
    return alarm?.reason ?? ''
  }
}

import { z } from 'zod'
import type { Order } from '../../src/engine/order.ts'
import { NO_MONEY, type Timer } from '../../src/engine/recovered-money.ts'
import { type Bot, defineStrategy, type Placed } from '../../src/engine/strategy.ts'
import { type BotOptions, botSettings, EngineRig, fillOf, MINT, MINT_2, orders } from './engine-rig.ts'
import { RecordedMoney } from './recorded-money.ts'

export const MINT_3 = '8Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump'
const reason = 'told to'
export const TOKENS = 100_000_000_000n // tokens bought for 0.1 SOL at 1e-6

interface Wish {
  price?: number
  scaleIn?: boolean
}

/** Bots of one wallet that send requests when the test calls a method. */
export class Crew {
  readonly rig: EngineRig
  readonly recorded = new RecordedMoney()
  readonly #bots = new Map<string, Bot<unknown>>()
  #next: [string, (bot: Bot<unknown>) => void] | undefined
  #seen = 0

  constructor(options: Omit<BotOptions, 'name'> = {}, money = NO_MONEY, names = ['a', 'b']) {
    const strategy = defineStrategy({
      name: 'told',
      about: '',
      params: z.object({}),
      keys: ['trades', 'newTokens'],
      start: (_params, bot) => {
        this.#bots.set(bot.name, bot)
        return {
          onTrade: () => {
            if (this.#next?.[0] === bot.name) this.#next[1](bot)
          },
        }
      },
    })
    const bots = names.map((name) => botSettings('told', { wallet: 'w', ...options, name }))
    this.rig = new EngineRig([strategy as never], bots, money)
    for (const mint of [MINT, MINT_2, MINT_3]) this.rig.settle(1e-6, mint)
  }

  /** Requests a buy at a print with this price, and returns the order or the refusal. */
  buy(name: string, mint: string, amount: number, { price = 1e-6, ...options }: Wish = {}): Placed {
    let placed: Placed | undefined
    this.#next = [name, (bot) => (placed = bot.buy(mint, { sol: amount, reason, ...options }))]
    this.rig.trade(price, { mint })
    this.#next = undefined
    return placed as Placed
  }

  /** Requests a buy, and fills its order. Returns the code if the buy is refused, otherwise ''. */
  bought(name: string, mint: string, amount: number, wish?: Wish): string {
    const placed = this.buy(name, mint, amount, wish)
    if (!placed.ok) return placed.code
    this.rig.fill(this.last(), 1e-6)
    return ''
  }

  /** Sells everything at a price, SOL per token. */
  sold(name: string, mint: string, price: number): void {
    this.#next = [name, (bot) => bot.sell(mint, { all: true, reason })]
    this.rig.trade(1e-6, { mint })
    this.#next = undefined
    const order = this.last()
    this.rig.report(order, 'filled', { fill: fillOf(order, price, this.rig.now, { tokens: TOKENS }), unproved: 0 })
  }

  /** Fires the last timer of this name, at its due time. */
  fire(name: string): void {
    const timers = this.rig.outputs.flatMap((output) => (output.kind === 'timer' ? [output.timer] : []))
    const timer = timers.findLast((one) => one.name === name) as Timer
    this.rig.now = Math.max(this.rig.now, timer.at)
    this.rig.input({ kind: 'timer', id: timer.id })
  }

  last(): Order {
    return orders(this.rig.outputs).at(-1) as Order
  }

  /** Restarts the bots in a new process, which continues from the journal. */
  restarted(options: Omit<BotOptions, 'name'>, names?: string[]): Crew {
    for (const output of this.rig.outputs.slice(this.#seen)) this.recorded.output(output)
    this.#seen = this.rig.outputs.length
    const next = new Crew(options, this.recorded.money(), names)
    next.rig.now = this.rig.now
    return next
  }
}

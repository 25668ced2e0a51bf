import { isOpen, type Order, type OrderState } from './order.ts'
import type { Lamports, Millis } from './units.ts'

export const HOUR: Millis = 3_600_000
/** Places of what is over are given back once there are so many, and more of them than of what is not. */
const PLACES_KEPT = 1_024

/** What a buy of the last hour asked for. It counts from the moment it is accepted while it is open and once it has filled: nobody knows of
 *  an unknown one that it did not execute. */
export interface Spend {
  readonly orderId: string
  readonly account: string
  readonly bot: string
  readonly time: Millis
  readonly lamports: Lamports
  counts: boolean
}

/** Sums of one bot. */
export interface BotSpending {
  hourLamports: number
}

/** SOL that buys asked for, of every bot. What was asked and in which state it is, is in the orders: that is where a restart reads it. */
export class Spending {
  /** Of the last hour as it was last asked for, oldest first, from `#first` on. */
  readonly #spends: Spend[] = []
  #first = 0
  readonly #byOrder = new Map<string, Spend>()
  readonly #bots = new Map<string, BotSpending>()

  restore(spends: readonly Spend[]): void {
    for (const spend of spends) this.#add({ ...spend })
  }

  ask({ id, account, bot, time }: Order, lamports: Lamports): void {
    this.#add({ orderId: id, account, bot, time, lamports, counts: true })
  }

  /** What was asked for and not bought does not count, unless it turns out to have been bought. */
  follow(orderId: string, state: OrderState): void {
    const spend = this.#byOrder.get(orderId)
    const counts = doesCount(state)
    if (spend === undefined || spend.counts === counts) return
    spend.counts = counts
    this.of(spend).hourLamports += counts ? spend.lamports : -spend.lamports
  }

  /** Lamports asked by buys of a bot in the last 60 minutes. */
  hour(bot: BotSpending, now: Millis): number {
    this.#forget(now)
    return bot.hourLamports
  }

  of({ account, bot }: Pick<Spend, 'account' | 'bot'>): BotSpending {
    const key = `${account}|${bot}`
    const known = this.#bots.get(key)
    if (known !== undefined) return known
    const sums = { hourLamports: 0 }
    this.#bots.set(key, sums)
    return sums
  }

  #add(spend: Spend): void {
    this.#spends.push(spend)
    this.#byOrder.set(spend.orderId, spend)
    if (spend.counts) this.of(spend).hourLamports += spend.lamports
  }

  #forget(now: Millis): void {
    for (let spend = this.#spends[this.#first]; spend !== undefined && spend.time <= now - HOUR; ) {
      if (spend.counts) this.of(spend).hourLamports -= spend.lamports
      this.#byOrder.delete(spend.orderId)
      spend = this.#spends[++this.#first]
    }
    if (this.#first < PLACES_KEPT || this.#first * 2 < this.#spends.length) return
    this.#spends.splice(0, this.#first)
    this.#first = 0
  }
}

/** Whether what an order in this state asked for has to be taken as spent. */
export function doesCount(state: OrderState): boolean {
  return isOpen(state) || state === 'filled'
}

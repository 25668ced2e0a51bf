import { dayOf, HOUR, type Lamports, lamports, type Millis } from '../../base/units.ts'
import { isOpen, type Order, type OrderState } from '../order.ts'

/** Buys older than an hour are removed from the list of a bot's buys when two conditions are met: there are at least
 *  this many such buys, and they are at least half of the list. */
const PLACES_KEPT = 1_024

/** SOL requested by one buy of the last hour. It counts from the acceptance of the order until an hour has passed, or
 *  until it is proved that the order did not execute. */
export interface Spend {
  readonly orderId: string
  readonly account: string
  readonly bot: string
  readonly time: Millis
  readonly lamports: Lamports
  counts: boolean
}

/** SOL requested by a bot's buys on one UTC day, without buys that did not execute. `day`: days since 1970-01-01. */
export interface DaySpend {
  readonly account: string
  readonly bot: string
  readonly day: number
  readonly lamports: Lamports
}

/** The SOL requested by the buys of one bot. */
export class BotSpending {
  /** The buys, oldest first. Those before `#first` were older than an hour at the last call of `hour`. */
  readonly #spends: Spend[] = []
  /** The buys in `#spends` from index `#first` on, by order id. */
  readonly #byOrder = new Map<string, Spend>()
  #first = 0
  #hour = 0
  #day = -1
  #ofDay = 0

  /** Returns the lamports requested by the buys of the last 60 minutes, without buys that did not execute. */
  hour(now: Millis): number {
    const spends = this.#spends
    for (let spend = spends[this.#first]; spend !== undefined && spend.time <= now - HOUR; ) {
      if (spend.counts) this.#hour -= spend.lamports
      this.#byOrder.delete(spend.orderId)
      spend = spends[++this.#first]
    }
    if (this.#first >= PLACES_KEPT && this.#first * 2 >= spends.length) {
      spends.splice(0, this.#first)
      this.#first = 0
    }
    return this.#hour
  }

  /** Returns the lamports requested by the buys since 00:00 UTC, without buys that did not execute. */
  today(now: Millis): number {
    return this.#day === dayOf(now) ? this.#ofDay : 0
  }

  /** Returns the buys of the last hour, without those that did not execute; oldest first. */
  *spends(now: Millis): Generator<Spend, void, undefined> {
    this.hour(now)
    for (let at = this.#first; at < this.#spends.length; at++) {
      const spend = this.#spends[at] as Spend
      if (spend.counts) yield spend
    }
  }

  /** Returns the buy of an order; undefined if it was older than an hour at the last call of `hour`. */
  find(orderId: string): Spend | undefined {
    return this.#byOrder.get(orderId)
  }

  add(spend: Spend): void {
    this.#spends.push(spend)
    this.#byOrder.set(spend.orderId, spend)
    if (spend.counts) this.#hour += spend.lamports
  }

  change(spend: Spend, counts: boolean): void {
    if (spend.counts === counts) return
    spend.counts = counts
    this.#hour += counts ? spend.lamports : -spend.lamports
  }

  /** Adds an amount to the sum of its UTC day. Ignores amounts of earlier days, because no limit uses them. */
  addToDay(time: Millis, amount: number): void {
    const day = dayOf(time)
    if (day > this.#day) {
      this.#day = day
      this.#ofDay = 0
    }
    if (day === this.#day) this.#ofDay += amount
  }

  restoreDay({ day, lamports: amount }: DaySpend): void {
    this.#day = day
    this.#ofDay = amount
  }
}

/** The SOL requested by the buys of each bot. A restart restores the sums from the recorded orders and their states. */
export class Spending {
  /** Spending by account, then by bot. There are two levels of maps, because a joined text key would have to be built
   *  and hashed for every order. */
  readonly #bots = new Map<string, Map<string, BotSpending>>()
  readonly #accounts = new Map<string, BotSpending[]>()

  restore(spends: readonly Spend[], days: readonly DaySpend[]): void {
    for (const spend of spends) this.#add({ ...spend })
    for (const day of days) this.of(day).restoreDay(day)
  }

  ask({ id, account, bot, time }: Order, amount: Lamports): void {
    const own = this.#add({ orderId: id, account, bot, time, lamports: amount, counts: true })
    own.addToDay(time, amount)
    own.hour(time) // removes expired entries even if no limit queries the hour
  }

  /** Applies a new state of an order. An order that did not execute stops counting towards the limits, and counts again
   *  if it proves to have executed. Callers pass `order` and its former state `before` if they know them: most changes
   *  of state have no effect here, and the look-up can then be skipped. */
  follow(orderId: string, state: OrderState, order: Order | undefined, before: OrderState | undefined): void {
    const counts = doesCount(state)
    if (before !== undefined && doesCount(before) === counts) return
    const spend = this.#find(orderId, order)
    const did = spend?.counts ?? (before === undefined ? counts : doesCount(before))
    if (did === counts || (spend === undefined && order?.size.kind !== 'sol')) return
    const { account, bot, time, lamports: amount } = spend ?? asSpend(order as Order, did)
    const own = this.of({ account, bot })
    if (spend !== undefined) own.change(spend, counts)
    own.addToDay(time, counts ? amount : -amount)
  }

  of({ account, bot }: Pick<Spend, 'account' | 'bot'>): BotSpending {
    const known = this.#bots.get(account)?.get(bot)
    if (known !== undefined) return known
    const own = new BotSpending()
    const bots = this.#bots.get(account)
    if (bots === undefined) this.#bots.set(account, new Map([[bot, own]]))
    else bots.set(bot, own)
    const others = this.#accounts.get(account)
    if (others === undefined) this.#accounts.set(account, [own])
    else others.push(own)
    return own
  }

  /** Returns the spending of each bot that has bought or may buy with the account. */
  ofAccount(account: string): readonly BotSpending[] {
    return this.#accounts.get(account) ?? []
  }

  #add(spend: Spend): BotSpending {
    const own = this.of(spend)
    own.add(spend)
    return own
  }

  #find(orderId: string, order: Order | undefined): Spend | undefined {
    if (order !== undefined) return order.size.kind === 'sol' ? this.of(order).find(orderId) : undefined
    for (const bots of this.#accounts.values())
      for (const bot of bots) {
        const spend = bot.find(orderId)
        if (spend !== undefined) return spend
      }
    return undefined
  }
}

/** Whether a buy in this state counts towards the limits on spending: it is open or has filled. */
export function doesCount(state: OrderState): boolean {
  return isOpen(state) || state === 'filled'
}

export function asSpend({ id, account, bot, time, size }: Order, counts: boolean): Spend {
  return { orderId: id, account, bot, time, lamports: size.kind === 'sol' ? size.lamports : lamports(0), counts }
}

/** Returns the time at which the hourly limit of these bots has room for `amount`; undefined if `amount` exceeds the
 *  limit. */
export function hourFreesAt(
  bots: readonly BotSpending[],
  now: Millis,
  amount: number,
  limit: number,
): Millis | undefined {
  let used = bots.reduce((sum, bot) => sum + bot.hour(now), 0)
  if (amount > limit) return undefined
  const single = bots.length === 1 ? bots[0]?.spends(now) : undefined
  const spends = single ?? bots.flatMap((bot) => [...bot.spends(now)]).sort((one, other) => one.time - other.time)
  for (const spend of spends) {
    used -= spend.lamports
    if (used + amount <= limit) return spend.time + HOUR
  }
  return now
}

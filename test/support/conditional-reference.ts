import type { ExitRules } from '../../src/engine/exits/exit-settings.ts'
import { NEVER, type SalesModel } from './sales-model.ts'

// A reference model of the conditional orders and exits of one token, written from docs/exits.md and not from the
// engine. It uses plain numbers, with times in ms.

export type ReferenceExits = Required<Omit<ExitRules, 'stopPrice' | 'takeProfitPrice' | 'whenStale' | 'windowPrints'>>
export type Wish = { kind: 'limitBuy' | 'limitSell' | 'stopSell'; atPrice: number; percent: number } & Terms
type Terms = { forSeconds: number | undefined; group: string }
export type Waiting = Wish & { tries: number; notBefore: number; endsAt: number; isOver: boolean }
type Held = {
  sales: SalesModel
  average: number
  high: number
  steps: number
  openedAt: number
  endsAt: number
  printedAt: number
}
type Timer = { at: number; fire: () => void }

export class ConditionalReference {
  readonly #exits: ReferenceExits
  readonly #waiting: Waiting[] = []
  #held: Held | undefined

  constructor(exits: ReferenceExits) {
    this.#exits = exits
  }

  /** The sales of the position; undefined without a position. */
  get sales(): SalesModel | undefined {
    return this.#held?.sales
  }

  wait(wish: Wish, now: number): void {
    if (wish.kind !== 'limitBuy' && this.#held === undefined) return
    const endsAt = wish.forSeconds === undefined ? NEVER : now + wish.forSeconds * 1_000
    this.#waiting.push({ ...wish, tries: 0, notBefore: 0, endsAt, isOver: false })
  }

  /** Returns the triggers that depend only on time. */
  timers(): Timer[] {
    const held = this.#held
    if (held === undefined) return []
    const { sales, endsAt, printedAt } = held
    const idleAt = sales.isExiting ? NEVER : printedAt + this.#exits.idleSeconds * 1_000
    const exits = [endsAt, idleAt].map((at) => ({ at, fire: () => sales.sellAll() }))
    return [...exits, { at: sales.retryAt, fire: () => sales.retry() }]
  }

  /** Called at a print, and at the start of a process. Restarts the count of the time without prints at `now`. */
  seen(now: number): void {
    if (this.#held !== undefined) this.#held.printedAt = now
  }

  /** Receives a robust price, requests the sales that are due, and returns the order that buys now, if any. */
  priced(price: number, now: number): Waiting | undefined {
    if (this.#held !== undefined) this.#exitAt(this.#held, price, now)
    let buyer: Waiting | undefined
    for (const one of this.#waiting) {
      const isThere = one.kind === 'limitSell' ? price >= one.atPrice : price <= one.atPrice
      const isTooLate = one.isOver || now >= one.endsAt || (one.group !== '' && buyer?.group === one.group)
      if (isTooLate || now < one.notBefore || !isThere) continue
      if (one.kind === 'limitBuy') {
        if (this.#held === undefined) buyer ??= one
      } else if (this.#held !== undefined) {
        this.#fulfil(one)
        this.#held.sales.sellOfHeld(one.percent)
      }
    }
    return buyer
  }

  bought(one: Waiting, sales: SalesModel, price: number, now: number): void {
    const endsAt = now + this.#exits.maxHoldSeconds * 1_000
    this.#held = { sales, average: price, high: price, steps: 0, openedAt: now, endsAt, printedAt: now }
    this.#fulfil(one)
  }

  notBought(one: Waiting, now: number): void {
    one.notBefore = now + 1_000 * 2 ** one.tries++
    one.isOver = one.tries >= 5
  }

  sold(): void {
    this.#held = undefined
    for (const one of this.#waiting) if (one.kind !== 'limitBuy') one.isOver = true
  }

  #exitAt(held: Held, price: number, now: number): void {
    const rules = this.#exits
    const rise = (percent: number): number => held.average * (1 + percent / 100)
    held.high = Math.max(held.high, price)
    if (held.sales.isExiting) return
    const trail = held.high >= rise(rules.trailingArmPercent) ? held.high * (1 - rules.trailingPercent / 100) : 0
    const even = held.high >= rise(rules.breakEvenAtPercent) ? held.average : 0
    const isStopped = price <= Math.max(rise(-rules.stopLossPercent), trail, even)
    const due = rules.takeProfitSteps.slice(held.steps).filter(({ atPercent }) => price >= rise(atPercent))
    held.steps += due.length
    const reached = Object.entries(rules.takeProfitByAge).filter(([age]) => now >= held.openedAt + Number(age) * 1_000)
    const target = Math.min(rules.takeProfitPercent, ...reached.map(([, percent]) => percent))
    if (isStopped || price >= rise(target)) held.sales.sellAll()
    else if (due.length > 0) held.sales.sellOfBought(due.reduce((sum, { sellPercent }) => sum + sellPercent, 0))
  }

  #fulfil(one: Waiting): void {
    one.isOver = true
    for (const other of this.#waiting) if (one.group !== '' && other.group === one.group) other.isOver = true
  }
}

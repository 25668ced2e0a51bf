import type { Block } from './block.ts'
import { Book } from './book.ts'
import type { FeedStatus, Output, UnitSettings } from './messages.ts'
import type { Mints } from './mints.ts'
import type { BotMoney } from './money.ts'
import { Prices } from './price.ts'
import type { Plan } from './settings.ts'
import type { Stage } from './stage.ts'
import { Timers } from './timers.ts'
import type { Millis, Seq } from './units.ts'
import { Wants } from './wants.ts'

/** What the parts of the engine share from one start to the next: the instant, the money, the prices, and the one list of outputs. */
export class Session implements Stage {
  readonly outputs: Output[]
  readonly mints: Mints
  readonly prices: Prices
  readonly book = new Book()
  readonly timers: Timers
  readonly wants: Wants
  now: Millis = 0
  seq: Seq = 0
  plan: Plan
  feed: FeedStatus = 'down'
  /** Strategies are being shown the past: what they ask for is discarded. */
  warming = false
  nextOrder = 1
  /** The row being handled; undefined while an input is. */
  block: Block | undefined
  row = 0
  /** The smallest arrival less service timestamp seen: what two clocks and the way differ by, so that more than it is age. */
  leastLagMs = Number.POSITIVE_INFINITY

  /** Which bot's handler runs now; -1 for none. */
  readonly active: Int32Array

  constructor(outputs: Output[], mints: Mints, plan: Plan, units: UnitSettings, active: Int32Array) {
    this.active = active
    this.outputs = outputs
    this.mints = mints
    this.plan = plan
    this.prices = new Prices(units)
    this.timers = new Timers(this)
    this.wants = new Wants(this)
  }

  /** During a warm-up nothing that is decided counts. */
  emit(output: Output): void {
    if (!this.warming) this.outputs.push(output)
  }

  /** A bot's money changed; a copy goes out, since the original goes on. */
  emitBot(money: BotMoney): void {
    this.emit({ kind: 'bot', money: { ...money, buys: [...money.buys] } })
  }

  /** How much older than usual the row being handled is, ms; 0 when none is. */
  eventAgeMs(): number {
    if (this.block === undefined) return 0
    const lag = this.now - (this.block.stamp[this.row] as number)
    return Number.isFinite(lag) ? lag - this.leastLagMs : 0
  }

  price(mint: string): number | undefined {
    const token = this.mints.find(mint)
    return token === undefined ? undefined : this.prices.at(token)
  }
}

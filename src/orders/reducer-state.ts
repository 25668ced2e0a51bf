import type { Millis } from '../base/units.ts'
import type { Order } from '../engine/order.ts'
import { EntryBlocks } from './entry-blocks.ts'
import type { Effect, FollowUp, NumberedReport, OrderEvent } from './events.ts'
import { Lanes } from './lanes.ts'
import { OpenOrders } from './open-orders.ts'
import type { JournalRecord } from './ports.ts'
import type { Route } from './working-order.ts'

/** The state of the order path. Only `step` changes it. */
export class Orders {
  readonly open = new OpenOrders()
  readonly lanes = new Lanes()
  readonly blocks = new EntryBlocks()
  readonly routeOf: (order: Pick<Order, 'account' | 'bot'>) => Route
  /** Number of the next report in this journal. */
  nextReport: number

  constructor(routeOf: Orders['routeOf'], nextReport: number) {
    this.routeOf = routeOf
    this.nextReport = nextReport
  }
}

/** A step in progress: the state that it changes, the time of the step, and its effects so far. */
export class Step {
  readonly orders: Orders
  readonly now: Millis
  readonly monotonicMs: number
  readonly effects: Effect[] = []
  /** The reports that this step has written. They are delivered after its commit. */
  readonly unreported: NumberedReport[] = []

  constructor(orders: Orders, now: Millis, monotonicMs: number) {
    this.orders = orders
    this.now = now
    this.monotonicMs = monotonicMs
  }

  add(effect: Effect): void {
    this.effects.push(effect)
  }

  write(record: JournalRecord): void {
    this.effects.push({ kind: 'write', record })
  }

  /** Adds an event. The event is handled after all effects that were added before it have been carried out, so its
   *  handler sees the state at that time. */
  follow(event: FollowUp | OrderEvent): void {
    this.effects.push({ kind: 'event', event })
  }
}

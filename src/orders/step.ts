import type { Millis } from '../base/units.ts'
import type { Effect, FollowUp, NumberedReport, OrderEvent } from './events.ts'
import type { Orders } from './orders.ts'
import type { JournalRecord } from './ports.ts'

/** One step under way: the state that it changes, its time, and its effects so far. */
export class Step {
  readonly orders: Orders
  readonly now: Millis
  readonly monotonicMs: number
  readonly effects: Effect[] = []
  /** Written by this step, to be reported after its commit. */
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

  /** An effect that comes after these and decides on the state at that time. */
  follow(event: FollowUp | OrderEvent): void {
    this.effects.push({ kind: 'event', event })
  }
}

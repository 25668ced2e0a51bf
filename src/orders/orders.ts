import type { Order } from '../engine/order.ts'
import { EntryBlocks } from './entry-blocks.ts'
import { Lanes } from './lanes.ts'
import { OpenOrders } from './open-orders.ts'
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

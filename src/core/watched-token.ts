import type { ConditionalOrder } from './conditional.ts'
import type { ExitPrice } from './exit-price.ts'
import type { Order } from './order.ts'
import type { PoolPrice } from './pool-price.ts'
import type { Position } from './position.ts'
import type { Millis } from './units.ts'

/** What hangs on the price of one token. Lists are replaced, never changed: an exit may come and go while they are looked through. */
export interface Watched {
  held: readonly Held[]
  waiting: readonly Waiting[]
  orders: readonly ConditionalOrder[]
}

/** What is known of prints since the position is watched: of no more, so that bots of one engine do not change what another one's exits do. */
export interface Held {
  readonly position: Position
  readonly exitPrice: ExitPrice
  /** As of the last print, or reading of its pool; NaN before the first. A number always, so that no print allocates one. */
  price: number
  /** The last sized print, or the end of a gap. */
  printedAt: Millis
  /** The last sized print that gave a price, or the end of a gap. */
  pricedAt: Millis
  /** The last sized print that gave a price. */
  heardAt: Millis
  /** What was read of its pool since. */
  pool: PoolPrice | undefined
}

interface Waiting {
  readonly order: Order
  readonly ceiling: number
}

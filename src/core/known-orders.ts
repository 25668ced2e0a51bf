import { ByMint, type Owner } from './by-mint.ts'
import type { OpenOrder } from './money.ts'
import { type Order, orderNumber } from './order.ts'

/** Open orders: by id and by lane, and what they may still take out of each account. */
export class LaneOrders {
  readonly #byId = new Map<string, OpenOrder>()
  /** Of both sides. */
  readonly #byMint = new ByMint<OpenOrder[]>()
  readonly #reserved = new Map<string, number>()

  get(orderId: string): OpenOrder | undefined {
    return this.#byId.get(orderId)
  }

  has(orderId: string): boolean {
    return this.#byId.has(orderId)
  }

  values(): Iterable<OpenOrder> {
    return this.#byId.values()
  }

  /** What one account has, oldest first. One that a fork opened again would lie last here, and in its place after a restart. */
  of(account: string): OpenOrder[] {
    return [...this.#byMint.of(account).values()].flat().sort(byNumber)
  }

  add(open: OpenOrder): void {
    const { order } = open
    if (this.#byId.has(order.id)) return
    this.#byId.set(order.id, open)
    const others = this.#byMint.get(order)
    if (others === undefined) this.#byMint.set(order, [open])
    else others.push(open)
    this.#reserve(order, order.reserveLamports)
  }

  remove(open: OpenOrder): void {
    const { order } = open
    if (!this.#byId.delete(order.id)) return
    const all = this.#byMint.get(order) as OpenOrder[]
    if (all.length === 1) this.#byMint.delete(order)
    else all.splice(all.indexOf(open), 1)
    this.#reserve(order, -order.reserveLamports)
  }

  /** Oldest first. */
  inLane(lane: Pick<Order, 'account' | 'mint' | 'side'>): OpenOrder[] {
    const all = this.#byMint.get(lane)
    if (all === undefined) return []
    const open = all.filter(({ order }) => order.side === lane.side)
    return open.length < 2 ? open : open.sort(byNumber)
  }

  /** The oldest in a lane. */
  first(lane: Pick<Order, 'account' | 'mint' | 'side'>): OpenOrder | undefined {
    const all = this.#byMint.get(lane)
    if (all === undefined) return undefined
    let first: OpenOrder | undefined
    for (const open of all)
      if (open.order.side === lane.side && (first === undefined || byNumber(open, first) < 0)) first = open
    return first
  }

  /** The oldest buy of a mint, else its oldest sale. */
  any({ account, mint }: Owner): OpenOrder | undefined {
    const all = this.#byMint.get({ account, mint })
    if (all === undefined) return undefined
    return this.first({ account, mint, side: 'buy' }) ?? this.first({ account, mint, side: 'sell' })
  }

  /** What an account's may still take out of it, lamports. */
  reserved(account: string): number {
    return this.#reserved.get(account) ?? 0
  }

  #reserve({ account }: Order, lamports: number): void {
    this.#reserved.set(account, this.reserved(account) + lamports)
  }
}

function byNumber(one: OpenOrder, other: OpenOrder): number {
  return orderNumber(one.order) - orderNumber(other.order)
}

import { isOpen, type Order, orderNumber } from '../order.ts'
import type { OpenOrder } from '../recovered-money.ts'
import { ByMint, type Owner } from './by-mint.ts'

/** Of each account: what the others do must not change what one remembers. */
const ENDED_KEPT = 1_000

/** What is known of one account's. */
interface AccountOrders {
  /** What open ones may still take out of it. */
  reservedLamports: number
  /** The last that ended, oldest first. */
  readonly ended: OpenOrder[]
}

/** Orders by id: the open ones, and the last that ended, because a late fill may come, and a fork may open one again.
 *  The open ones by lane, too, with what they may still take out of each account. */
export class KnownOrders {
  readonly #byId = new Map<string, OpenOrder>()
  /** Open ones of both sides. */
  readonly #byMint = new ByMint<OpenOrder[]>()
  readonly #accounts = new Map<string, AccountOrders>()

  /** An order that is open, or that ended not long ago. */
  get(orderId: string): OpenOrder | undefined {
    return this.#byId.get(orderId)
  }

  values(): Iterable<OpenOrder> {
    return this.#byId.values()
  }

  /** What one account has open, oldest first. One that a fork opened again would lie last here, and in its place after
   *  a restart. */
  of(account: string): OpenOrder[] {
    return [...this.#byMint.of(account).values()].flat().sort(byNumber)
  }

  /** A new one, or one of before a restart. */
  add(known: OpenOrder): void {
    this.#byId.set(known.order.id, known)
    if (isOpen(known.state)) this.#open(known)
    else this.#accountOf(known).ended.push(known)
  }

  /** A fork has opened it again. */
  reopen(known: OpenOrder): void {
    const { ended } = this.#accountOf(known)
    ended.splice(ended.indexOf(known), 1)
    this.#open(known)
  }

  end(known: OpenOrder): void {
    const { order } = known
    const all = this.#byMint.get(order) as OpenOrder[]
    if (all.length === 1) this.#byMint.delete(order)
    else all.splice(all.indexOf(known), 1)
    const account = this.#accountOf(known)
    account.reservedLamports -= order.reserveLamports
    account.ended.push(known)
    while (account.ended.length > ENDED_KEPT) this.#byId.delete((account.ended.shift() as OpenOrder).order.id)
  }

  /** Open ones, oldest first. */
  inLane(lane: Pick<Order, 'account' | 'mint' | 'side'>): OpenOrder[] {
    const all = this.#byMint.get(lane)
    if (all === undefined) return []
    const open = all.filter(({ order }) => order.side === lane.side)
    return open.length < 2 ? open : open.sort(byNumber)
  }

  /** The oldest open one in a lane. */
  first(lane: Pick<Order, 'account' | 'mint' | 'side'>): OpenOrder | undefined {
    const all = this.#byMint.get(lane)
    if (all === undefined) return undefined
    let first: OpenOrder | undefined
    for (const open of all)
      if (open.order.side === lane.side && (first === undefined || byNumber(open, first) < 0)) first = open
    return first
  }

  /** The oldest open buy of a mint, else its oldest open sale. */
  any({ account, mint }: Owner): OpenOrder | undefined {
    const all = this.#byMint.get({ account, mint })
    if (all === undefined) return undefined
    return this.first({ account, mint, side: 'buy' }) ?? this.first({ account, mint, side: 'sell' })
  }

  /** What an account's open ones may still take out of it, lamports. */
  reserved(account: string): number {
    return this.#accounts.get(account)?.reservedLamports ?? 0
  }

  #open(known: OpenOrder): void {
    const { order } = known
    const others = this.#byMint.get(order)
    if (others === undefined) this.#byMint.set(order, [known])
    else others.push(known)
    this.#accountOf(known).reservedLamports += order.reserveLamports
  }

  #accountOf({ order: { account } }: OpenOrder): AccountOrders {
    let own = this.#accounts.get(account)
    if (own === undefined) {
      own = { reservedLamports: 0, ended: [] }
      this.#accounts.set(account, own)
    }
    return own
  }
}

function byNumber(one: OpenOrder, other: OpenOrder): number {
  return orderNumber(one.order) - orderNumber(other.order)
}

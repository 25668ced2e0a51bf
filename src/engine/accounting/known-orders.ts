import { isOpen, type Order, orderNumber } from '../order.ts'
import type { OpenOrder } from '../recovered-money.ts'
import { ByMint, type Owner } from './by-mint.ts'

/** Number of ended orders kept for each account. Each account has its own limit, so that accounts do not influence each
 *  other. */
const ENDED_KEPT = 1_000

/** Orders of one account. */
interface AccountOrders {
  /** Worst-case cost of the open orders, lamports. */
  reservedLamports: number
  /** Orders that ended last, oldest first. */
  readonly ended: OpenOrder[]
}

/** Orders by id: all open orders, and the orders that ended last, because a late fill or a fork may reopen them. Open
 *  orders are also listed by mint, and their worst-case costs are summed by account. */
export class KnownOrders {
  readonly #byId = new Map<string, OpenOrder>()
  /** Open orders of both sides of a mint. */
  readonly #byMint = new ByMint<OpenOrder[]>()
  readonly #accounts = new Map<string, AccountOrders>()

  /** Returns an order if it is open or ended recently, else undefined. */
  get(orderId: string): OpenOrder | undefined {
    return this.#byId.get(orderId)
  }

  values(): Iterable<OpenOrder> {
    return this.#byId.values()
  }

  /** Returns the open orders of one account by mint. */
  openByMint(account: string): ReadonlyMap<string, readonly OpenOrder[]> {
    return this.#byMint.of(account)
  }

  /** Returns the open orders of one account, sorted by their numbers, oldest first. An order that a fork reopened is
   *  therefore in its original place. */
  of(account: string): OpenOrder[] {
    return [...this.#byMint.of(account).values()].flat().sort(byNumber)
  }

  /** Adds a new or restored order. */
  add(known: OpenOrder): void {
    this.#byId.set(known.order.id, known)
    if (isOpen(known.state)) this.#open(known)
    else this.#accountOf(known).ended.push(known)
  }

  /** Makes an ended order open again, after a fork or a late fill. */
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

  /** Returns the open orders of a lane, oldest first. */
  inLane(lane: Pick<Order, 'account' | 'mint' | 'side'>): OpenOrder[] {
    const all = this.#byMint.get(lane)
    if (all === undefined) return []
    const open = all.filter(({ order }) => order.side === lane.side)
    return open.length < 2 ? open : open.sort(byNumber)
  }

  /** Returns the oldest open order of a lane; undefined if it has none. */
  first(lane: Pick<Order, 'account' | 'mint' | 'side'>): OpenOrder | undefined {
    const all = this.#byMint.get(lane)
    if (all === undefined) return undefined
    let first: OpenOrder | undefined
    for (const open of all)
      if (open.order.side === lane.side && (first === undefined || byNumber(open, first) < 0)) first = open
    return first
  }

  /** Returns the oldest open buy of a mint or, if there is none, its oldest open sale. */
  any({ account, mint }: Owner): OpenOrder | undefined {
    const all = this.#byMint.get({ account, mint })
    if (all === undefined) return undefined
    return this.first({ account, mint, side: 'buy' }) ?? this.first({ account, mint, side: 'sell' })
  }

  /** Returns the worst-case cost of the open orders of an account, lamports. */
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

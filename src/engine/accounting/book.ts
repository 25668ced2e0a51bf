import { assert } from '../../base/errors.ts'
import { type Lamports, lamports, type Millis } from '../../base/units.ts'
import type { ExitRules } from '../exits/exit-rules.ts'
import {
  type Fill,
  isFullExit,
  isOpen,
  laneOf,
  ORDER_MOVES,
  type Order,
  type OrderState,
  sharesLane,
} from '../order.ts'
import type { AccountMoney, OpenOrder, RecoveredMoney } from '../recovered-money.ts'
import { ByAccount } from './by-account.ts'
import { ByMint, ListsByMint, type Owner } from './by-mint.ts'
import { KnownOrders } from './known-orders.ts'
import {
  addTokens,
  newPosition,
  type Position,
  Positions,
  removeTokens,
  reopened,
  undoBuy,
  undoSale,
} from './position.ts'

/** Of each account: what the others do must not change what one remembers. */
const FILLS_KEPT = 500

/** A fill that was booked or taken back, and what it changed. */
export interface Booking {
  readonly fill: Fill
  readonly position: Position
  /** Nothing was known of the position before, so nothing of its exits. */
  readonly isNew: boolean
  readonly realizedLamports: Lamports
}

/** The money of all accounts: what is held, what is open, what is reserved. Changed by accepted orders and by reports
 *  only. */
export class Book {
  readonly accounts = new Map<string, AccountMoney>()
  /** Open ones hold their lane and their reservation. */
  readonly orders = new KnownOrders()
  readonly positions = new Positions()
  /** Fills taken, oldest first, by signature. */
  readonly fills = new ByAccount<Fill>()
  /** Those of them that are not final. */
  readonly #provisional = new ListsByMint<Fill>(({ signature }) => signature)
  /** Full exits of which an attempt may still execute, or be taken back by a fork, whatever the order is by now. */
  readonly #unproved = new ListsByMint<Order>(({ id }) => id)
  /** Positions that such a fill closed: a fork may give them back. */
  readonly #closed = new ByMint<Position>()
  /** Whether any position was ever oversold: that takes a fork, or somebody else who sells. */
  #hasOversold = false

  restore(money: RecoveredMoney): void {
    for (const { results, ...account } of money.accounts)
      this.accounts.set(account.account, { ...account, ...(results && { results: { ...results } }) })
    for (const open of money.orders) {
      this.orders.add({ ...open })
      if (!isOpen(open.state) && isFullExit(open.order)) this.#unproved.set(open.order)
    }
    this.#hasOversold = money.positions.some(({ oversold }) => oversold !== undefined)
    for (const position of money.positions)
      if (position.state === 'closed') this.#closed.set(position, { ...position })
      else this.positions.set({ ...position })
    for (const fill of money.fills) this.#keep(fill)
    // A position is not written anew when nothing of it can be taken back any more.
    for (const position of money.positions) this.#forgive(position)
  }

  /** The open order that holds a lane. There may be a second one in it, after a fork or where a full exit went in; this
   *  is the older. */
  laneHolder(lane: Pick<Order, 'account' | 'mint' | 'side'>): OpenOrder | undefined {
    return this.orders.first(lane)
  }

  /** The open order of a mint, the buy first. */
  openOrderOf(owner: Pick<Order, 'account' | 'mint'>): OpenOrder | undefined {
    return this.orders.any(owner)
  }

  /** Oldest first. */
  inLane(lane: Pick<Order, 'account' | 'mint' | 'side'>): OpenOrder[] {
    return this.orders.inLane(lane)
  }

  /** The full exit that a position has out; beside it there may be a partial sale. */
  fullExitOf({ account, mint }: Pick<Order, 'account' | 'mint'>): OpenOrder | undefined {
    return this.inLane({ account, mint, side: 'sell' }).find(({ order }) => isFullExit(order))
  }

  /** A full exit that could sell what is bought now. */
  unprovedExit(owner: Pick<Order, 'account' | 'mint'>): Order | undefined {
    return this.#unproved.of(owner)[0]
  }

  /** A sale that a fork may still take back and bring again. Of two sales in doubt at once either may have been taken
   *  for the other, so that it may be a full exit's, whatever order it stands under. */
  provisionalSale(owner: Pick<Order, 'account' | 'mint'>): Fill | undefined {
    return this.#provisional.of(owner).find(({ side }) => side === 'sell')
  }

  /** How many attempts of a full exit are not proved by now. */
  prove(orderId: string, order: Order | undefined, unproved: number): void {
    const about = order ?? this.#unproved.find(orderId)
    if (about === undefined) return
    if (unproved === 0) this.#unproved.delete(about)
    else this.#unproved.set(about)
  }

  /** What open orders may still take out of an account. */
  reserved(account: string): number {
    return this.orders.reserved(account)
  }

  accept(order: Order): void {
    for (const { order: held } of this.inLane(order))
      if (!sharesLane(order, held)) assert(false, `a second open order in lane ${laneOf(order)}`)
    this.orders.add({ order, state: 'accepted' })
  }

  /** Moves one that is known. */
  move(known: OpenOrder, to: OrderState): void {
    const from = known.state
    if (from !== to && !ORDER_MOVES[from].includes(to))
      assert(false, `order ${known.order.id} cannot go from ${from} to ${to}`)
    known.state = to
    if (isOpen(to) === isOpen(from)) return
    if (isOpen(to)) this.orders.reopen(known)
    else this.orders.end(known)
  }

  /** A position where there is none. What the closed one before it sold too much of counts for this one. */
  open(owner: Pick<Position, 'account' | 'bot' | 'mint'>, openedAt: Millis, exits: ExitRules): Position {
    const { oversold = 0n, soldEarly } = this.#closed.get(owner) ?? {}
    const position = newPosition(owner, openedAt, exits)
    if (oversold > 0n) position.oversold = oversold
    if (soldEarly !== undefined) position.soldEarly = soldEarly
    return this.#hold(position)
  }

  /** Books a fill once; undefined when it was booked before. */
  book(fill: Fill): Booking | undefined {
    const before = this.fills.get(fill.account, fill.signature)
    // What was final stays it, whatever comes late.
    if (before?.final !== true) this.#keep(fill)
    if (before !== undefined) {
      this.#forgive(fill)
      return undefined
    }
    this.#forgetFills(fill.account)
    this.#moveWallet(fill, 1)
    const known = this.positions.get(fill)
    const position = known ?? this.open(fill, fill.time, {})
    position.feeLamports = lamports(position.feeLamports + fill.feeLamports + fill.rentLamports)
    this.#recallSoldEarly(position, fill)
    const realizedLamports = fill.side === 'buy' ? addTokens(position, fill) : removeTokens(position, fill)
    this.#hasOversold ||= position.oversold !== undefined
    this.#forgive(fill)
    return { fill, position, isNew: known === undefined, realizedLamports }
  }

  /** A fill of this signature is booked with other amounts: a fork put it into another block, and nobody watched who
   *  would have said so. */
  hasOther({ account, signature, tokens, walletLamports }: Fill): boolean {
    const before = this.fills.get(account, signature)
    if (before === undefined || before.final) return false
    return before.tokens !== tokens || before.walletLamports !== walletLamports
  }

  /** Takes back a fill that a fork removed; undefined when it is not booked. `comesAgain`: it is booked anew at
   *  once. */
  unbook(signature: string, comesAgain = false): Booking | undefined {
    const fill = this.fills.find(signature)
    if (fill === undefined) return undefined
    const booking = this.#undo(fill)
    if (!comesAgain) this.#forgive(fill)
    return booking
  }

  /** Where a position stands, by what is held and which orders are open; one that nothing is left of is closed. */
  settle(position: Position): void {
    const { account, mint } = position
    const side = position.tokens > 0n ? 'sell' : 'buy'
    const isOpenThere = this.laneHolder({ account, mint, side }) !== undefined
    if (side === 'sell') position.state = isOpenThere ? 'closing' : 'open'
    else if (isOpenThere) position.state = 'opening'
    else this.#close(position)
    this.#forgive(position)
  }

  #close(position: Position): void {
    position.state = 'closed'
    this.positions.delete(position)
    this.#closed.set(position, position)
    this.#closed.trim(position.account, FILLS_KEPT)
  }

  #undo(fill: Fill): Booking {
    this.fills.delete(fill.account, fill.signature)
    this.#provisional.delete(fill)
    this.#moveWallet(fill, -1)
    const known = this.positions.get(fill) ?? this.#closed.get(fill)
    const position = this.#hold(known === undefined ? newPosition(fill, fill.time, {}) : reopened(known))
    this.#closed.delete(fill)
    position.feeLamports = lamports(position.feeLamports - fill.feeLamports - fill.rentLamports)
    const realizedLamports = fill.side === 'buy' ? undoBuy(position, fill) : undoSale(position, fill)
    this.#hasOversold ||= position.oversold !== undefined
    return { fill, position, isNew: known === undefined, realizedLamports }
  }

  /** A buy that is booked after the sale which sold it: its tokens are gone. */
  #recallSoldEarly(position: Position, { side, slot, tokens }: Fill): void {
    const early = position.soldEarly
    if (early === undefined || side !== 'buy' || slot > early.slot) return
    const sold = early.tokens < tokens ? early.tokens : tokens
    position.oversold = (position.oversold ?? 0n) + sold
    if (sold === early.tokens) delete position.soldEarly
    else position.soldEarly = { ...early, tokens: early.tokens - sold }
  }

  /** Nothing of the mint can be taken back any more, and no buy of it is out that may have executed first: what was
   *  sold beyond the books had come from elsewhere, or from a buy before the sale that is not known yet. No later buy
   *  was sold with it. */
  #forgive(owner: Pick<Fill, 'account' | 'mint'>): void {
    if (!this.#hasOversold) return
    const held = this.positions.get(owner)
    const closed = this.#closed.get(owner)
    if (held?.oversold === undefined && closed?.oversold === undefined) return
    const { account, mint } = owner
    if (this.laneHolder({ account, mint, side: 'buy' }) !== undefined) return
    if (this.#provisional.of(owner).length > 0) return
    const position = held ?? closed
    if (position?.oversold !== undefined && position.oversold > 0n)
      position.soldEarly = { tokens: position.oversold, slot: this.#lastSaleOf(owner) }
    delete held?.oversold
    delete closed?.oversold
  }

  #lastSaleOf({ account, mint }: Owner): number {
    const sales = [...this.fills.of(account).values()].filter((fill) => fill.mint === mint && fill.side === 'sell')
    return sales.reduce((last, { slot }) => Math.max(last, slot), 0)
  }

  #keep(fill: Fill): void {
    const { account, signature } = fill
    this.fills.set(account, signature, fill)
    if (fill.final) this.#provisional.delete(fill)
    else this.#provisional.set(fill)
  }

  /** Final ones only: one that is reported again must be known. */
  #forgetFills(account: string): void {
    this.fills.dropOldest(account, FILLS_KEPT, isFinal)
  }

  /** A reading of the wallet already contains fills up to its slot. */
  #moveWallet(fill: Fill, sign: 1 | -1): void {
    const account = this.accounts.get(fill.account)
    if (account === undefined || account.lamports === null || fill.slot <= account.slot) return
    account.lamports = lamports(account.lamports + sign * fill.walletLamports)
  }

  /** Takes a reading of the wallet and adds the fills that are later than it; undefined for an account of others and
   *  for an old reading. */
  readWallet(id: string, balance: Lamports, slot: number): AccountMoney | undefined {
    const account = this.accounts.get(id)
    if (account === undefined || slot < account.slot) return undefined
    Object.assign(account, { lamports: balance, slot })
    for (const fill of this.fills.of(id).values()) this.#moveWallet(fill, 1)
    return account
  }

  #hold(position: Position): Position {
    this.positions.set(position)
    return position
  }
}

function isFinal({ final }: Fill): boolean {
  return final
}

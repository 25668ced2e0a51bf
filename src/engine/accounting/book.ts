import { assert } from '../../base/errors.ts'
import { type Lamports, lamports, type Millis } from '../../base/units.ts'
import type { ExitRules } from '../exits/exit-settings.ts'
import { stepTokensDue } from '../exits/take-profit-steps.ts'
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
import { addTokens, removeTokens, undoBuy, undoSale } from './cost-and-profit.ts'
import { KnownOrders } from './known-orders.ts'
import { newPosition, type Position, Positions, reopened } from './position.ts'
import { tripOf, withFill } from './trip-sums.ts'

/** Number of fills, and number of closed positions, that are kept for each account. The limit is per account, so that
 *  accounts do not influence each other. */
const FILLS_KEPT = 500

/** A fill that was booked or reversed, with its effect. */
export interface Booking {
  readonly fill: Fill
  readonly position: Position
  /** Whether this fill created the position, so that its exits are not set yet. */
  readonly isNew: boolean
  readonly realizedLamports: Lamports
}

/** The books of all accounts: positions, open orders, reservations and fills. They change only by accepted orders,
 *  reports of executions and readings of the wallets. */
export class Book {
  readonly accounts = new Map<string, AccountMoney>()
  /** Open orders, and those that ended last. An open order keeps its worst-case cost reserved, and blocks other orders
   *  of the same account, mint and side. */
  readonly orders = new KnownOrders()
  readonly positions = new Positions()
  /** Booked fills by signature, oldest first. */
  readonly fills = new ByAccount<Fill>()
  /** Booked fills that are not final yet. */
  readonly #provisional = new ListsByMint<Fill>(({ signature }) => signature)
  /** Full exits with an undecided attempt, in any state of the order. The transaction of such an attempt may still
   *  land, or a fork may still reverse it. */
  readonly #unproved = new ListsByMint<Order>(({ id }) => id)
  /** Positions that were closed last. A fork that removes a sale may reopen them. */
  readonly #closed = new ByMint<Position>()
  /** Whether each position keeps the sums over its round trip (all fills from the first buy to the last sale); see
   *  `RecordedExitPrice`. */
  keepsTrips = false
  /** Whether any position was ever oversold, which means that it sold more tokens than the books contained. Only a
   *  fork, or a sale without an order of ours, can cause this. */
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
    // The call of `#forgetOversold` changes positions, so it must come before the positions are emitted. A later call
    // would make the engine emit the same position twice.
    for (const position of money.positions) this.#forgetOversold(position)
  }

  /** Whether an order may be cancelled. The order must not have been sent. A sale cannot be cancelled while an exit of
   *  the position is due, because the exit would immediately order the same sale again. */
  mayCancel({ order, state }: OpenOrder): boolean {
    if (state !== 'accepted') return false
    const isDue = (position: Position): boolean => position.exiting !== '' || stepTokensDue(position) > 0n
    return order.side === 'buy' || !this.positions.ofMint(order.mint).some(isDue)
  }

  /** Returns the oldest open order of a lane (account, mint and side). A lane may have two open orders after a fork, or
   *  if one of the two is a full exit. */
  laneHolder(lane: Pick<Order, 'account' | 'mint' | 'side'>): OpenOrder | undefined {
    return this.orders.first(lane)
  }

  /** Returns the oldest open order of a mint: a buy if there is one, else a sale. */
  openOrderOf(owner: Pick<Order, 'account' | 'mint'>): OpenOrder | undefined {
    return this.orders.any(owner)
  }

  /** Returns the open orders of a lane, oldest first. */
  inLane(lane: Pick<Order, 'account' | 'mint' | 'side'>): OpenOrder[] {
    return this.orders.inLane(lane)
  }

  /** Returns the open order that sells a whole position. A partial sale may be open at the same time. */
  fullExitOf({ account, mint }: Pick<Order, 'account' | 'mint'>): OpenOrder | undefined {
    return this.inLane({ account, mint, side: 'sell' }).find(({ order }) => isFullExit(order))
  }

  /** Returns a full exit with an attempt that may still execute or be reversed. Such an exit could also sell the tokens
   *  of a new buy. */
  unprovedExit(owner: Pick<Order, 'account' | 'mint'>): Order | undefined {
    return this.#unproved.of(owner)[0]
  }

  /** Returns a sale of the mint that is not final. While two sales are undecided, the execution of one may be booked
   *  for the other. The returned sale may therefore be the execution of a full exit that still looks undecided. */
  provisionalSale(owner: Pick<Order, 'account' | 'mint'>): Fill | undefined {
    return this.#provisional.of(owner).find(({ side }) => side === 'sell')
  }

  /** Records the number of undecided attempts of a full exit. Such an attempt may still execute, or a fork may still
   *  reverse it. */
  prove(orderId: string, order: Order | undefined, unproved: number): void {
    const exit = order ?? this.#unproved.find(orderId)
    if (exit === undefined) return
    if (unproved === 0) this.#unproved.delete(exit)
    else this.#unproved.set(exit)
  }

  /** Returns the worst-case cost of the open orders of an account, lamports. */
  reserved(account: string): number {
    return this.orders.reserved(account)
  }

  accept(order: Order): void {
    for (const { order: held } of this.inLane(order))
      if (!sharesLane(order, held)) assert(false, `a second open order in lane ${laneOf(order)}`)
    this.orders.add({ order, state: 'accepted' })
  }

  /** Changes the state of a known order. Throws if `ORDER_MOVES` does not allow the change. */
  move(known: OpenOrder, to: OrderState): void {
    const from = known.state
    if (from !== to && !ORDER_MOVES[from].includes(to))
      assert(false, `order ${known.order.id} cannot go from ${from} to ${to}`)
    known.state = to
    if (isOpen(to) === isOpen(from)) return
    if (isOpen(to)) this.orders.reopen(known)
    else this.orders.end(known)
  }

  /** Opens a position. The new position inherits the oversold amount of the position in this mint that was closed
   *  last. */
  open(owner: Pick<Position, 'account' | 'bot' | 'mint'>, openedAt: Millis, exits: ExitRules): Position {
    const { oversold = 0n, soldEarly } = this.#closed.get(owner) ?? {}
    const position = newPosition(owner, openedAt, exits)
    if (oversold > 0n) position.oversold = oversold
    if (soldEarly !== undefined) position.soldEarly = soldEarly
    return this.#hold(position)
  }

  /** Books a fill. Returns undefined if the fill is already booked. `reason`: the reason of the fill's order. */
  book(fill: Fill, reason?: string): Booking | undefined {
    const before = this.fills.get(fill.account, fill.signature)
    // A provisional report that arrives late does not replace a final fill.
    if (before?.final !== true) this.#keep(fill)
    if (before !== undefined) {
      this.#forgetOversold(fill)
      return undefined
    }
    this.#forgetFills(fill.account)
    this.#moveWallet(fill, 1)
    const known = this.positions.get(fill)
    const position = known ?? this.open(fill, fill.time, {})
    if (this.keepsTrips) position.trip = withFill(tripOf(position), fill, 1, reason)
    position.feeLamports = lamports(position.feeLamports + fill.feeLamports + fill.rentLamports)
    this.#recallSoldEarly(position, fill)
    const realizedLamports = fill.side === 'buy' ? addTokens(position, fill) : removeTokens(position, fill)
    this.#hasOversold ||= position.oversold !== undefined
    this.#forgetOversold(fill)
    return { fill, position, isNew: known === undefined, realizedLamports }
  }

  /** Whether a provisional fill with this signature but other amounts is booked. If so, a fork has moved the
   *  transaction into another block, and Sluice did not observe the reversal. */
  hasOther({ account, signature, tokens, walletLamports }: Fill): boolean {
    const before = this.fills.get(account, signature)
    if (before === undefined || before.final) return false
    return before.tokens !== tokens || before.walletLamports !== walletLamports
  }

  /** Reverses a fill that a fork removed. Returns undefined if the fill is not booked. `comesAgain`: whether the caller
   *  books the fill again immediately. */
  unbook(signature: string, comesAgain = false): Booking | undefined {
    const fill = this.fills.find(signature)
    if (fill === undefined) return undefined
    const booking = this.#undo(fill)
    if (!comesAgain) this.#forgetOversold(fill)
    return booking
  }

  /** Sets the state of a position from its tokens and open orders. A position with neither tokens nor an open buy is
   *  closed. */
  settle(position: Position): void {
    const { account, mint } = position
    const side = position.tokens > 0n ? 'sell' : 'buy'
    const isOpenThere = this.laneHolder({ account, mint, side }) !== undefined
    if (side === 'sell') position.state = isOpenThere ? 'closing' : 'open'
    else if (isOpenThere) position.state = 'opening'
    else this.#close(position)
    this.#forgetOversold(position)
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
    if (this.keepsTrips) position.trip = withFill(tripOf(position), fill, -1)
    position.feeLamports = lamports(position.feeLamports - fill.feeLamports - fill.rentLamports)
    const realizedLamports = fill.side === 'buy' ? undoBuy(position, fill) : undoSale(position, fill)
    this.#hasOversold ||= position.oversold !== undefined
    return { fill, position, isNew: known === undefined, realizedLamports }
  }

  /** Handles a buy that executed before a sale but is booked after it. If the sale has already sold tokens of the buy,
   *  these tokens count as oversold. */
  #recallSoldEarly(position: Position, { side, slot, tokens }: Fill): void {
    const early = position.soldEarly
    if (early === undefined || side !== 'buy' || slot > early.slot) return
    const sold = early.tokens < tokens ? early.tokens : tokens
    position.oversold = (position.oversold ?? 0n) + sold
    if (sold === early.tokens) delete position.soldEarly
    else position.soldEarly = { ...early, tokens: early.tokens - sold }
  }

  /** Forgets the oversold amount of a mint once all its fills are final and no buy is open. Otherwise the amount would
   *  reduce a later buy, although the oversold tokens came from outside, or from an early buy that is not known yet. */
  #forgetOversold(owner: Pick<Fill, 'account' | 'mint'>): void {
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

  /** Drops the oldest final fill if the account has too many. Provisional fills are kept, because they may be reported
   *  again. */
  #forgetFills(account: string): void {
    this.fills.dropOldest(account, FILLS_KEPT, isFinal)
  }

  /** Adds a fill to the balance of its wallet (`sign` 1) or removes the fill from it (-1). Does nothing if the balance
   *  was read at the Solana slot of the fill or later, because such a balance already includes the fill. */
  #moveWallet(fill: Fill, sign: 1 | -1): void {
    const account = this.accounts.get(fill.account)
    if (account === undefined || account.lamports === null || fill.slot <= account.slot) return
    account.lamports = lamports(account.lamports + sign * fill.walletLamports)
  }

  /** Stores a balance that was read at the Solana slot `slot`, and adds the fills of later slots. Returns undefined if
   *  the account is unknown, or if a later reading is already stored. */
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

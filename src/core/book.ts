import assert from './assert.ts'
import type { AccountMoney, Money, OpenOrder } from './money.ts'
import { type Fill, isOpen, laneOf, ORDER_MOVES, type Order, type OrderState } from './order.ts'
import type { Position } from './position.ts'
import { lamports, wholeTokens, ZERO } from './units.ts'

const FILLS_KEPT = 500

/** The money of all accounts: what is held, what is open, what is reserved. Changed by accepted orders and by reports only. */
export class Book {
  readonly accounts = new Map<string, AccountMoney>()
  readonly orders = new Map<string, OpenOrder>()
  /** Positions that are not closed, by `keyOf`. */
  readonly positions = new Map<string, Position>()
  /** Fills taken, oldest first. */
  readonly fills = new Map<string, Fill>()
  readonly #lanes = new Map<string, string>()

  restore(money: Money): void {
    for (const account of money.accounts) this.accounts.set(account.account, { ...account })
    for (const open of money.orders) this.#open({ ...open })
    for (const position of money.positions) this.positions.set(keyOf(position), { ...position })
    for (const fill of money.fills) this.fills.set(fill.signature, fill)
  }

  /** The open order that holds a lane. */
  laneHolder(lane: string): OpenOrder | undefined {
    const id = this.#lanes.get(lane)
    return id === undefined ? undefined : this.orders.get(id)
  }

  /** What open orders may still take out of an account. */
  reserved(account: string): number {
    let sum = 0
    for (const { order } of this.orders.values()) if (order.account === account) sum += order.reserveLamports
    return sum
  }

  accept(order: Order): void {
    this.#open({ order, state: 'accepted' })
  }

  /** Moves an open order; an order that is not open any more may only be filled late or reopened by a reversal, and has no state here. */
  move(orderId: string, to: OrderState): OpenOrder | undefined {
    const open = this.orders.get(orderId)
    if (open === undefined) return undefined
    assert(
      open.state === to || ORDER_MOVES[open.state].includes(to),
      `order ${orderId} cannot go from ${open.state} to ${to}`,
    )
    open.state = to
    if (!isOpen(to)) this.#close(open.order)
    return open
  }

  /** Books a fill once; what it changed, or undefined when it was booked before. */
  book(fill: Fill): { position: Position; realizedLamports: number } | undefined {
    const known = this.fills.get(fill.signature)
    this.fills.set(fill.signature, fill)
    if (known !== undefined) return undefined
    if (this.fills.size > FILLS_KEPT) this.fills.delete(this.fills.keys().next().value as string)
    this.#moveWallet(fill, 1)
    const position = this.#positionOf(fill)
    position.feeLamports = lamports(position.feeLamports + fill.feeLamports + fill.rentLamports)
    const realizedLamports = fill.side === 'buy' ? addTokens(position, fill) : removeTokens(position, fill)
    if (position.tokens === 0n) this.positions.delete(keyOf(position))
    return { position, realizedLamports }
  }

  /** Takes back a fill that a fork removed. Cost comes back at the average, so a sale's realised profit is undone exactly. */
  unbook(signature: string): { fill: Fill; position: Position } | undefined {
    const fill = this.fills.get(signature)
    if (fill === undefined) return undefined
    this.fills.delete(signature)
    this.#moveWallet(fill, -1)
    const position = this.#positionOf(fill)
    position.feeLamports = lamports(position.feeLamports - fill.feeLamports - fill.rentLamports)
    if (fill.side === 'buy') {
      position.tokens -= fill.tokens
      position.costLamports = lamports(position.costLamports - fill.tradeLamports)
      if (position.tokens <= 0n) Object.assign(position, { tokens: 0n, costLamports: ZERO, state: 'opening' })
    } else {
      const cost = Math.round(position.averagePrice * wholeTokens(fill.tokens, fill.decimals) * 1e9)
      position.tokens += fill.tokens
      position.costLamports = lamports(position.costLamports + cost)
      position.realizedLamports = lamports(position.realizedLamports - fill.tradeLamports + cost)
      position.state = 'open'
    }
    return { fill, position }
  }

  #open(open: OpenOrder): void {
    const lane = laneOf(open.order)
    assert(!this.#lanes.has(lane), `lane ${lane} is held by ${this.#lanes.get(lane)}`)
    this.orders.set(open.order.id, open)
    this.#lanes.set(lane, open.order.id)
  }

  #close(order: Order): void {
    this.orders.delete(order.id)
    const lane = laneOf(order)
    if (this.#lanes.get(lane) === order.id) this.#lanes.delete(lane)
  }

  /** A reading of the wallet already contains fills up to its slot. */
  #moveWallet(fill: Fill, sign: 1 | -1): void {
    const account = this.accounts.get(fill.account)
    if (account === undefined || account.lamports === null || fill.slot <= account.slot) return
    account.lamports = lamports(account.lamports + sign * fill.walletLamports)
  }

  #positionOf(fill: Fill): Position {
    const known = this.positions.get(keyOf(fill))
    if (known !== undefined) return known
    const position = newPosition(fill.account, fill.bot, fill.mint, fill.time, {})
    this.positions.set(keyOf(position), position)
    return position
  }
}

export function keyOf(owner: { account: string; mint: string }): string {
  return `${owner.account}|${owner.mint}`
}

export function newPosition(
  account: string,
  bot: string,
  mint: string,
  openedAt: number,
  exits: Position['exits'],
): Position {
  return {
    account,
    bot,
    mint,
    state: 'opening',
    tokens: 0n,
    decimals: 6,
    costLamports: ZERO,
    averagePrice: 0,
    openedAt,
    exits,
    highPrice: 0,
    realizedLamports: ZERO,
    feeLamports: ZERO,
    exitTries: 0,
    exiting: '',
  }
}

function addTokens(position: Position, fill: Fill): number {
  position.tokens += fill.tokens
  position.decimals = fill.decimals
  position.costLamports = lamports(position.costLamports + fill.tradeLamports)
  position.averagePrice = position.costLamports / 1e9 / wholeTokens(position.tokens, position.decimals)
  if (position.state === 'opening') {
    position.state = 'open'
    position.openedAt = fill.time
    position.highPrice = position.averagePrice
  }
  return 0
}

function removeTokens(position: Position, fill: Fill): number {
  // More than was held is an execution all the same: its proceeds count, the cost cannot go below nothing.
  const share = position.tokens === 0n ? 1 : Math.min(1, Number(fill.tokens) / Number(position.tokens))
  const cost = Math.round(position.costLamports * share)
  position.tokens = fill.tokens >= position.tokens ? 0n : position.tokens - fill.tokens
  position.costLamports = lamports(position.tokens === 0n ? 0 : position.costLamports - cost)
  const realized = fill.tradeLamports - cost
  position.realizedLamports = lamports(position.realizedLamports + realized)
  position.state = position.tokens === 0n ? 'closed' : 'open'
  return realized
}

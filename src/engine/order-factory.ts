import { assert } from '../base/errors.ts'
import { type Lamports, lamports, type Millis } from '../base/units.ts'
import { DENIED_MINTS } from '../solana/programs.ts'
import type { Position } from './accounting/position.ts'
import type { EngineState } from './engine-state.ts'
import type { ExitWatch } from './exits/exit-watch.ts'
import { checkFilters, hasFilters } from './limits/entry-filters.ts'
import { type LimitCheck, reserveOf } from './limits/limit-check.ts'
import type { LimitScope } from './limits/limit-scope.ts'
import { checkRanges, sellCost, type Veto } from './limits/order-bounds.ts'
import { mintRefusal } from './limits/token-checks.ts'
import { isFullExit, MOST_OPEN_EXITS, type Order, type Size } from './order.ts'
import type { BotMoney } from './recovered-money.ts'
import { readBuy, readSell, type SellRequest } from './requests.ts'
import type { BotSettings, ExitOrderSettings } from './settings.ts'
import type { BuyOptions, Placed, SellOptions } from './strategy.ts'

/** Who asks: a bot's settings and money. */
export interface Client {
  readonly settings: BotSettings
  readonly money: BotMoney
  readonly scope: LimitScope
  /** What it trades with, and whoever else does. */
  readonly wallet: LimitScope
  /** When it was first shown a token. */
  seenAt(mint: string): Millis
}

/** What a bot would sell of which position. */
export interface Sale {
  readonly position: Position
  readonly request: SellRequest
}

/** What one order differs in from the next. */
type OrderParts = Omit<Order, 'id' | 'seq' | 'time' | 'price'>

/** Turns requests into orders: everything that can be refused is refused here, at once, with its reason. */
export class OrderFactory {
  readonly #state: EngineState
  readonly #watch: ExitWatch
  readonly #limits: LimitCheck

  constructor(state: EngineState, watch: ExitWatch, limits: LimitCheck) {
    this.#state = state
    this.#watch = watch
    this.#limits = limits
  }

  buy(client: Client, mint: string, options: BuyOptions): Placed {
    const { settings } = client
    const request = readBuy(options, settings.orders, settings.exits)
    if ('code' in request) return { ok: false, ...request }
    const { amount, orders } = request
    const creator = this.#state.creatorOf(settings.account.id, mint)
    const veto =
      this.#vetoState(client, mint, request.scaleIn) ??
      checkRanges(amount, orders, this.#state.plan) ??
      this.#vetoToken(client, mint, amount, creator) ??
      this.#limits.veto(client, mint, request, creator)
    if (veto !== undefined) return { ok: false, ...veto }

    const { now } = this.#state
    const order = this.#order({
      account: settings.account.id,
      bot: settings.name,
      mint,
      side: 'buy',
      class: 'entry',
      size: { kind: 'sol', lamports: amount },
      slippagePercents: request.slippagePercents,
      priorityFeeLamports: orders.priorityFeeLamports,
      priorityFeeLadder: [],
      repeatMs: null,
      reserveLamports: reserveOf(request),
      notAfter: now + request.ttlMs,
      reason: request.reason,
    })
    this.#openPosition(order, request.exits, creator)
    this.#state.spending.ask(order, amount)
    this.#send(order)
    this.#watch.await(order, settings.orders.maxChasePercent)
    return { ok: true, id: order.id }
  }

  sell(client: Client, mint: string, options: SellOptions): Placed {
    const sale = this.readSale(client, mint, options)
    if ('code' in sale) return { ok: false, ...sale }
    const { position, request } = sale
    const { book } = this.#state
    const isFull = request.size.kind === 'all'
    const busy = isFull ? book.fullExitOf(position) : book.laneHolder({ account: position.account, mint, side: 'sell' })
    if (busy !== undefined) return { ok: false, code: 'LANE_BUSY', reason: `${busy.order.id} is still selling it` }
    return { ok: true, id: this.sellPosition(position, client.settings, request.size, request.reason) }
  }

  /** What a bot would sell of which position. */
  readSale({ settings }: Client, mint: string, options: SellOptions): Sale | Veto {
    const position = this.#state.book.positions.get({ account: settings.account.id, mint })
    if (position === undefined || position.bot !== settings.name || position.tokens === 0n)
      return { code: 'NO_POSITION', reason: `${settings.name} holds nothing of ${mint}` }
    const request = readSell(options, position)
    return 'code' in request ? request : { position, request }
  }

  /** Sells without asking the limits: nothing stands in the way of an exit but its own lane, which takes it. `step` of
   *  the ladders comes first. */
  sellPosition(position: Position, settings: BotSettings, size: Size, reason: string, step = 0): string {
    if (position.tokens <= 0n) assert(false, `nothing of ${position.mint} is held`)
    const { account, bot, mint } = position
    const { slippageLadder, priorityFeeLadder } = settings.exitOrders
    const { priorityFeeLamports } = settings.orders
    const fees = from(priorityFeeLadder, step)
    const repeatMs = size.kind === 'all' ? this.#repeatsAfter(settings.exitOrders) : null
    const dearest = sellCost(fees.at(-1) ?? priorityFeeLamports)
    // Where the fee that was named is refused it goes again with the service's own, at any of its attempts.
    const worst = Math.max(repeatMs === null ? dearest : dearest * MOST_OPEN_EXITS, sellCost(null))
    this.#callOffPart(position, size)
    const order = this.#order({
      account,
      bot,
      mint,
      side: 'sell',
      class: 'exit',
      size,
      slippagePercents: from(slippageLadder, step),
      priorityFeeLamports,
      priorityFeeLadder: fees,
      repeatMs,
      reserveLamports: lamports(worst),
      notAfter: null,
      reason,
    })
    position.state = 'closing'
    this.#state.emitPosition(position)
    this.#send(order)
    return order.id
  }

  /** How long a full exit waits for evidence before it goes again. That rests on the wallet holding nothing of the mint
   *  but the position: no other bot's (MINT_OWNED), and no tokens from elsewhere. Where more than 1 % beside it is
   *  known, this has to be null. */
  #repeatsAfter({ retryMs }: ExitOrderSettings): number | null {
    return retryMs
  }

  /** A partial sale that is not out yet only stands in the way of a full exit. */
  #callOffPart({ account, mint }: Position, size: Size): void {
    const sale = this.#state.book.laneHolder({ account, mint, side: 'sell' })
    if (size.kind !== 'all' || sale?.state !== 'accepted' || isFullExit(sale.order)) return
    this.#state.emit({ kind: 'cancel', orderId: sale.order.id, code: 'CANCELLED' })
  }

  #order(parts: OrderParts): Order {
    const state = this.#state
    const read = parts.side === 'sell' ? this.#watch.poolPriceOf(parts) : undefined
    const price = read ?? state.price(parts.mint) ?? null
    const eventAgeMs = Math.round(state.eventAgeMs())
    // Field by field: spreading costs as much as all else here.
    return {
      id: `o${state.nextOrder++}`,
      seq: state.seq,
      time: state.now,
      account: parts.account,
      bot: parts.bot,
      mint: parts.mint,
      side: parts.side,
      class: parts.class,
      size: parts.size,
      slippagePercents: parts.slippagePercents,
      priorityFeeLamports: parts.priorityFeeLamports,
      priorityFeeLadder: parts.priorityFeeLadder,
      repeatMs: parts.repeatMs,
      reserveLamports: parts.reserveLamports,
      notAfter: parts.notAfter,
      reason: parts.reason,
      price,
      eventAgeMs,
    }
  }

  #send(order: Order): void {
    if (order.class === 'entry') this.#state.gates.entered(order)
    this.#state.book.accept(order)
    this.#state.wants.flush()
    this.#state.emit({ kind: 'order', order })
  }

  #openPosition(order: Order, exits: Position['exits'], creator: string): void {
    const { book, now } = this.#state
    if (book.positions.get(order) !== undefined) return
    const position = book.open(order, now, exits)
    if (creator !== '') position.creator = creator
    this.#watch.watch(position)
    this.#state.emitPosition(position)
  }

  /** What the bot's filters have against it. */
  #vetoToken(client: Client, mint: string, amount: Lamports, creator: string): Veto | undefined {
    if (!hasFilters(client.settings.filters)) return undefined
    const { lists, launches, mints, now } = this.#state
    return checkFilters(client.settings.filters, lists, {
      ...{ mint, amount, now, creator, launch: launches.of(mints.find(mint)), seenAt: client.seenAt(mint) },
      price: this.#state.price(mint) as number,
    })
  }

  /** What stands in the way whatever the amount. */
  #vetoState(client: Client, mint: string, scaleIn: boolean): Veto | undefined {
    const { book, feed, prices, stopping } = this.#state
    const { account, name, orders } = client.settings
    const veto = (code: Veto['code'], reason: string): Veto => ({ code, reason })
    if (client.money.status === 'exits-only')
      return veto('EXITS_ONLY', 'the strategy threw an error or had to be stopped')
    if (stopping) return veto('HALTED', 'the process ends')
    if (prices.contradicted) return veto('UNIT_CONTRADICTED', 'our own fills contradict the feed')
    if (book.accounts.get(account.id)?.halted === true) return veto('HALTED', 'entries are halted')
    if (feed === 'refused') return veto('KEY_REFUSED', 'the service refuses the key')
    if (feed !== 'live') return veto('FEED_DOWN', `the feed is ${feed}`)
    if (DENIED_MINTS.has(mint)) return veto('MINT_DENIED', `${mint} is money, not a token to trade`)
    if (this.#state.price(mint) === undefined) return veto('PRICE_UNKNOWN', 'no robust price yet')
    const age = this.#state.eventAgeMs()
    if (age > orders.maxEventAgeMs) return veto('STALE_EVENT', `the event is ${age} ms old`)
    const inCustody = custodyVeto(this.#state, client.settings, mint)
    if (inCustody !== undefined) return inCustody
    const owner = { account: account.id, mint }
    const lane = book.openOrderOf(owner)
    if (lane !== undefined) return veto('LANE_BUSY', `${lane.order.id} is still open`)
    const exit = book.unprovedExit(owner)
    if (exit !== undefined) return veto('EXIT_UNPROVED', `${exit.id} may still sell it`)
    const sale = book.provisionalSale(owner)
    if (sale !== undefined) return veto('EXIT_UNPROVED', `the sale ${sale.orderId} is not final`)
    const position = book.positions.get(owner)
    const alone = this.#state.gates.alone(account.id)
    if (position === undefined) return alone
    if (position.bot !== name) return veto('MINT_OWNED', `${position.bot} holds it`)
    if (position.exiting !== '') return veto('LANE_BUSY', 'it is being sold')
    return scaleIn ? alone : veto('POSITION_OPEN', 'the bot already holds it')
  }
}

/** A ladder from one of its steps on, at least its last. */
function from<T>(ladder: readonly T[], step: number): readonly T[] {
  return ladder.slice(Math.min(step, Math.max(0, ladder.length - 1)))
}

/** Why this bot may buy nothing of this mint with its account's wallet. */
function custodyVeto(
  { book, gates, mintFacts }: EngineState,
  { account, tokenChecks }: Pick<BotSettings, 'account' | 'tokenChecks'>,
  mint: string,
): Veto | undefined {
  const { foreign = [], quarantined = [], breached = false } = book.accounts.get(account.id) ?? {}
  const facts = account.mode === 'live' ? mintFacts.get(mint) : undefined
  const closed = gates.veto(account.id)
  if (closed !== undefined) return closed
  if (foreign.length > 0) return { code: 'FOREIGN_TX', reason: `no order here made ${foreign.join(', ')}` }
  if (breached) return { code: 'UNEXPECTED_FILL', reason: 'the wallet executed what no order was waiting for' }
  if (quarantined.includes(mint)) return { code: 'QUARANTINED', reason: 'the wallet holds less of it than was booked' }
  return facts && mintRefusal(facts, tokenChecks)
}

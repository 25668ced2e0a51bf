import { assert } from '../base/errors.ts'
import { lamports } from '../base/units.ts'
import type { Position } from './accounting/position.ts'
import { type Cause, readBuy, readSell, type SellRequest } from './buy-and-sell-options.ts'
import type { EngineState } from './engine-state.ts'
import type { Entrant, EntryVetoes } from './entry-vetoes.ts'
import type { ExitWatch } from './exits/exit-watch.ts'
import { reserveOf } from './limits/balance-check.ts'
import { sellCost, type Veto } from './limits/order-bounds.ts'
import { isFullExit, MOST_OPEN_EXITS, type Order, type Size, withTag } from './order.ts'
import type { BotMoney } from './recovered-money.ts'
import type { BotSettings, ExitOrderSettings } from './settings.ts'
import type { BuyOptions, Placed, SellOptions } from './strategy.ts'

/** A bot that requests orders. */
export interface Client extends Entrant {
  readonly money: BotMoney
}

/** A request to sell, with the position that it sells. */
export interface Sale {
  readonly position: Position
  readonly request: SellRequest
}

/** The fields of an order that the caller chooses. The factory adds the other fields. */
type OrderParts = Omit<Order, 'id' | 'seq' | 'time' | 'price'>

/** Turns requests into orders. `EntryVetoes` decides which buys are refused. */
export class OrderFactory {
  readonly #state: EngineState
  readonly #watch: ExitWatch
  readonly #vetoes: EntryVetoes

  constructor(state: EngineState, watch: ExitWatch, vetoes: EntryVetoes) {
    this.#state = state
    this.#watch = watch
    this.#vetoes = vetoes
  }

  buy(client: Client, mint: string, options: BuyOptions): Placed {
    const { settings } = client
    const request = readBuy(options, settings.orders, settings.exits)
    if ('code' in request) return { ok: false, ...request }
    const { amount, orders } = request
    const creator = this.#state.creatorOf(settings.account.id, mint)
    const veto = this.#vetoes.veto(client, mint, request, creator)
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
      ...(request.tag !== undefined && { tag: request.tag }),
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
    if (busy !== undefined)
      return { ok: false, code: 'LANE_BUSY', reason: `order ${busy.order.id} is still selling this mint` }
    return { ok: true, id: this.sellPosition(position, client.settings, request.size, request) }
  }

  /** Reads a request to sell, and finds the position that it sells. */
  readSale({ settings }: Client, mint: string, options: SellOptions): Sale | Veto {
    const position = this.#state.book.positions.get({ account: settings.account.id, mint })
    if (position === undefined || position.bot !== settings.name || position.tokens === 0n)
      return { code: 'NO_POSITION', reason: `${settings.name} holds no tokens of ${mint}` }
    const request = readSell(options, position)
    return 'code' in request ? request : { position, request }
  }

  /** Sells without checking limits. Only an open sale of the mint can block an exit. `step`: the number of failed
   *  tries. It selects the slippage and the priority fee of the first attempt. Returns the id of the order. */
  sellPosition(position: Position, settings: BotSettings, size: Size, { reason, tag }: Cause, step = 0): string {
    if (position.tokens <= 0n) assert(false, `no tokens of ${position.mint} to sell`)
    const { account, bot, mint } = position
    const { slippageLadder, priorityFeeLadder } = settings.exitOrders
    const { priorityFeeLamports } = settings.orders
    const fees = from(priorityFeeLadder, step)
    const repeatMs = size.kind === 'all' ? this.#repeatsAfter(settings.exitOrders) : null
    const dearest = sellCost(fees.at(-1) ?? priorityFeeLamports)
    // The service may refuse the priority fee of any attempt. The order is then retried with the fee that the service
    // chooses, so the reservation must cover that fee too.
    const worst = Math.max(repeatMs === null ? dearest : dearest * MOST_OPEN_EXITS, sellCost(null))
    this.#cancelPartialSale(position, size)
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
      ...(tag !== undefined && { tag }),
    })
    position.state = 'closing'
    this.#state.emitPosition(position)
    this.#send(order)
    return order.id
  }

  /** Returns how long a full exit waits for evidence before it is repeated, ms; null if it must not be repeated. A
   *  repeat is safe only if the wallet holds no other tokens of the mint, because the repeat would sell them. No other
   *  bot of the wallet can hold the mint, because its buys are refused (MINT_OWNED). The engine does not know whether
   *  the wallet has tokens of the mint from elsewhere. If a later version of the engine knows this, and such tokens are
   *  more than 1 % of the position, this method must return null. */
  #repeatsAfter({ retryMs }: ExitOrderSettings): number | null {
    return retryMs
  }

  /** Cancels a partial sale that was not sent yet, because it would only delay the full exit. */
  #cancelPartialSale({ account, mint }: Position, size: Size): void {
    const sale = this.#state.book.laneHolder({ account, mint, side: 'sell' })
    if (size.kind !== 'all' || sale?.state !== 'accepted' || isFullExit(sale.order)) return
    this.#state.emit({ kind: 'cancel', orderId: sale.order.id, code: 'CANCELLED' })
  }

  #order(parts: OrderParts): Order {
    const state = this.#state
    const read = parts.side === 'sell' ? this.#watch.poolPriceOf(parts) : undefined
    const price = read ?? state.price(parts.mint) ?? null
    const eventAgeMs = Math.round(state.eventAgeMs())
    // The fields are copied one by one, because spreading `parts` would take as long as the rest of this method.
    const order: Order = {
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
    return withTag(order, parts.tag)
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
    withTag(position, order.tag)
    this.#watch.watch(position)
    this.#state.emitPosition(position)
  }
}

/** Returns the values of a ladder from index `step` on. If the ladder ends before `step`, returns its last value. */
function from<T>(ladder: readonly T[], step: number): readonly T[] {
  return ladder.slice(Math.min(step, Math.max(0, ladder.length - 1)))
}

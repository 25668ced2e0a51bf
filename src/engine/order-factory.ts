import { assert } from '../base/errors.ts'
import { type Lamports, lamports, type Millis } from '../base/units.ts'
import { DENIED_MINTS } from '../solana/programs.ts'
import type { Position } from './accounting/position.ts'
import { type Cause, readBuy, readSell, type SellRequest } from './buy-and-sell-options.ts'
import type { EngineState } from './engine-state.ts'
import type { ExitWatch } from './exits/exit-watch.ts'
import { checkFilters, hasFilters } from './limits/entry-filters.ts'
import { type LimitCheck, reserveOf } from './limits/limit-check.ts'
import type { LimitScope } from './limits/limit-scope.ts'
import { checkRanges, sellCost, type Veto } from './limits/order-bounds.ts'
import { mintRefusal } from './limits/token-checks.ts'
import { isFullExit, MOST_OPEN_EXITS, type Order, type Size, withTag } from './order.ts'
import type { BotMoney } from './recovered-money.ts'
import type { BotSettings, ExitOrderSettings } from './settings.ts'
import type { BuyOptions, Placed, SellOptions } from './strategy.ts'

/** A bot that requests orders, with its settings, its money and its limits. */
export interface Client {
  readonly settings: BotSettings
  readonly money: BotMoney
  readonly scope: LimitScope
  /** Limits of the wallet that the bot trades with, which other bots may share. */
  readonly wallet: LimitScope
  /** Returns the time at which the bot first saw a token. */
  seenAt(mint: string): Millis
}

/** A request to sell, with the position that it sells. */
export interface Sale {
  readonly position: Position
  readonly request: SellRequest
}

/** The fields of an order that the caller chooses. The factory adds the other fields. */
type OrderParts = Omit<Order, 'id' | 'seq' | 'time' | 'price'>

/** Turns requests into orders, or refuses them with a reason. */
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

  /** Refuses a buy if the token does not pass the filters of the bot. */
  #vetoToken(client: Client, mint: string, amount: Lamports, creator: string): Veto | undefined {
    if (!hasFilters(client.settings.filters)) return undefined
    const { lists, launches, mints, now } = this.#state
    return checkFilters(client.settings.filters, lists, {
      ...{ mint, amount, now, creator, launch: launches.of(mints.find(mint)), seenAt: client.seenAt(mint) },
      price: this.#state.price(mint) as number,
    })
  }

  /** Refuses a buy for all reasons that do not depend on its amount. */
  #vetoState(client: Client, mint: string, scaleIn: boolean): Veto | undefined {
    const { book, feed, prices, stopping } = this.#state
    const { account, name, orders } = client.settings
    const veto = (code: Veto['code'], reason: string): Veto => ({ code, reason })
    if (client.money.status === 'exits-only')
      return veto('EXITS_ONLY', 'the strategy threw an error or was stopped, so its bot only closes positions')
    if (stopping) return veto('HALTED', 'the process is stopping, so it accepts no buys')
    if (prices.contradicted)
      return veto(
        'UNIT_CONTRADICTED',
        'our own fills contradict the unit of the feed: stop, and run `sluice doctor FILE --probe-live 0.01 --mint MINT`',
      )
    if (book.accounts.get(account.id)?.halted === true)
      return veto('HALTED', 'entries are halted; `sluice resume` allows them again')
    if (feed === 'refused')
      return veto('KEY_REFUSED', 'the service refuses the API key; entries stop until the key is replaced')
    if (feed !== 'live') return veto('FEED_DOWN', `the feed is ${feed}, so entries stop until it is live again`)
    if (DENIED_MINTS.has(mint)) return veto('MINT_DENIED', `${mint} is a currency, not a token to trade`)
    if (this.#state.price(mint) === undefined)
      return veto(
        'PRICE_UNKNOWN',
        'the token has too few prints for a robust price yet, or the unit of the feed is not proved',
      )
    const age = this.#state.eventAgeMs()
    if (age > orders.maxEventAgeMs)
      return veto('STALE_EVENT', `the event is ${age} ms old, more than orders.maxEventAgeSeconds allows`)
    const ofWallet = walletVeto(this.#state, client.settings, mint)
    if (ofWallet !== undefined) return ofWallet
    const owner = { account: account.id, mint }
    const lane = book.openOrderOf(owner)
    if (lane !== undefined) return veto('LANE_BUSY', `order ${lane.order.id} for this mint is still open`)
    const exit = book.unprovedExit(owner)
    if (exit !== undefined) return veto('EXIT_UNPROVED', `order ${exit.id} may still sell this mint`)
    const sale = book.provisionalSale(owner)
    if (sale !== undefined)
      return veto('EXIT_UNPROVED', `the sale of this mint by order ${sale.orderId} is not final yet`)
    const position = book.positions.get(owner)
    const alone = this.#state.gates.alone(account.id)
    if (position === undefined) return book.positions.ofBot(name, mint).length > 0 ? IN_FORMER_WALLET : alone
    if (position.bot !== name) return veto('MINT_OWNED', `the bot ${position.bot} of the same wallet holds this mint`)
    if (position.exiting !== '') return veto('LANE_BUSY', 'the position is being sold')
    return scaleIn
      ? alone
      : veto('POSITION_OPEN', 'the bot already holds this mint; set scaleIn to add to the position')
  }
}

/** Refusal of a buy if the bot still holds the mint in its former wallet. The timers of exits are stored by bot and
 *  mint, so two positions of one mint would share them. */
const IN_FORMER_WALLET: Veto = { code: 'MINT_OWNED', reason: 'the bot still holds this mint in its former wallet' }

/** Returns the values of a ladder from index `step` on. If the ladder ends before `step`, returns its last value. */
function from<T>(ladder: readonly T[], step: number): readonly T[] {
  return ladder.slice(Math.min(step, Math.max(0, ladder.length - 1)))
}

/** Refuses a buy because of the state of the account's wallet or because of the facts about the mint. */
function walletVeto(
  { book, gates, mintFacts }: EngineState,
  { account, tokenChecks }: Pick<BotSettings, 'account' | 'tokenChecks'>,
  mint: string,
): Veto | undefined {
  const { foreign = [], quarantined = [], breached = false } = book.accounts.get(account.id) ?? {}
  const facts = account.mode === 'live' ? mintFacts.get(mint) : undefined
  const closed = gates.veto(account.id)
  if (closed !== undefined) return closed
  if (foreign.length > 0)
    return {
      code: 'FOREIGN_TX',
      reason: `these transactions belong to no order (accept each with \`sluice resume --accept\`): ${foreign.join(', ')}`,
    }
  if (breached)
    return {
      code: 'UNEXPECTED_FILL',
      reason:
        'the wallet executed a trade for which no order was waiting; look for a second process, then run `sluice resume`',
    }
  if (quarantined.includes(mint))
    return {
      code: 'QUARANTINED',
      reason: 'the wallet holds less of this mint than the books show; `sluice resume` allows entries again',
    }
  return facts && mintRefusal(facts, tokenChecks)
}

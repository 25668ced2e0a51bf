import { isPublicKey } from './base58.ts'
import { keyOf, newPosition } from './book.ts'
import { DENIED_MINTS } from './denied-mints.ts'
import type { ExitWatch } from './exit-watch.ts'
import type { BotMoney } from './money.ts'
import { laneOf, type Order, type Size } from './order.ts'
import type { Position } from './position.ts'
import { checkLimits, checkRanges, sellCost, type Veto, worstCost } from './risk.ts'
import type { Session } from './session.ts'
import type { BotSettings, ExitOrderSettings } from './settings.ts'
import type { BuyOptions, Placed, SellOptions } from './strategy.ts'
import { baseUnits, formatSol, type Lamports, lamports, solToLamports } from './units.ts'
import { liquidationSol } from './views.ts'

const DAY_MS = 86_400_000

/** Who asks: a bot's settings and money. */
export interface Client {
  readonly settings: BotSettings
  readonly money: BotMoney
}

/** Turns requests into orders: everything that can be refused is refused here, at once, with its reason. */
export class Desk {
  readonly #session: Session
  readonly #exits: ExitWatch

  constructor(session: Session, exits: ExitWatch) {
    this.#session = session
    this.#exits = exits
  }

  buy(client: Client, mint: string, options: BuyOptions): Placed {
    const amount = Number.isFinite(options.sol) ? solToLamports(Math.min(Math.max(options.sol, 0), 1e6)) : lamports(0)
    const { settings } = client
    const orders = {
      slippagePercent: options.slippagePercent ?? settings.orders.slippagePercent,
      priorityFeeLamports:
        options.priorityFeeSol === undefined
          ? settings.orders.priorityFeeLamports
          : solToLamports(options.priorityFeeSol),
    }
    const reserve = worstCost(amount, orders.slippagePercent, orders.priorityFeeLamports)
    const veto =
      this.#vetoState(client, mint, options.scaleIn === true) ??
      checkRanges(amount, orders, this.#session.plan) ??
      this.#vetoMoney(client, mint, amount, reserve)
    if (veto !== undefined) return { ok: false, ...veto }

    const now = this.#session.now
    const ttlMs = options.ttlSeconds === undefined ? settings.orders.ttlMs : Math.round(options.ttlSeconds * 1000)
    const order = this.#order(
      client.settings,
      mint,
      'buy',
      'entry',
      { kind: 'sol', lamports: amount },
      [orders.slippagePercent],
      orders.priorityFeeLamports,
      reserve,
      now + ttlMs,
      options.reason,
    )
    this.#openPosition(client, mint, options)
    client.money.buys.push({ time: now, lamports: amount })
    this.#session.emitBot(client.money)
    this.#exits.await(order, settings.orders.maxChasePercent)
    this.#send(order)
    return { ok: true, id: order.id }
  }

  sell(client: Client, mint: string, options: SellOptions): Placed {
    const position = this.#session.book.positions.get(keyOf({ account: client.settings.account.id, mint }))
    if (position === undefined || position.bot !== client.settings.name || position.tokens === 0n) {
      return { ok: false, code: 'NO_POSITION', reason: `${client.settings.name} holds nothing of ${mint}` }
    }
    return this.sellPosition(
      position,
      client.settings,
      sizeOf(options, position),
      client.settings.exitOrders.slippageLadder,
      options.reason,
    )
  }

  /** Sells without asking the limits: nothing stands in the way of an exit but its own lane. */
  sellPosition(
    position: Position,
    settings: BotSettings,
    size: Size,
    ladder: ExitOrderSettings['slippageLadder'],
    reason: string,
  ): Placed {
    const busy = this.#session.book.laneHolder(laneOf({ account: position.account, mint: position.mint, side: 'sell' }))
    if (busy !== undefined) return { ok: false, code: 'LANE_BUSY', reason: `${busy.order.id} is still selling it` }
    const fee = settings.orders.priorityFeeLamports
    const order = this.#order(settings, position.mint, 'sell', 'exit', size, ladder, fee, sellCost(fee), null, reason)
    position.state = 'closing'
    this.#session.emit({ kind: 'position', position: { ...position } })
    this.#send(order)
    return { ok: true, id: order.id }
  }

  /** The result of the UTC day so far: realised, and what open positions would bring now less what they would have brought when it began. */
  dayLamports(client: Client): number {
    this.#rollDay(client)
    return client.money.dayRealizedLamports + this.#unrealized(client) - client.money.dayStartUnrealizedLamports
  }

  #send(order: Order): void {
    this.#session.book.accept(order)
    this.#session.wants.flush()
    this.#session.emit({ kind: 'order', order })
  }

  #order(
    settings: BotSettings,
    mint: string,
    side: Order['side'],
    orderClass: Order['class'],
    size: Size,
    slippagePercents: readonly number[],
    priorityFeeLamports: Lamports | null,
    reserveLamports: Lamports,
    notAfter: number | null,
    reason: string,
  ): Order {
    const { seq, now } = this.#session
    const id = `o${this.#session.nextOrder++}`
    const price = this.#session.price(mint) ?? null
    return {
      id,
      seq,
      time: now,
      account: settings.account.id,
      bot: settings.name,
      mint,
      side,
      class: orderClass,
      size,
      slippagePercents,
      priorityFeeLamports,
      reserveLamports,
      notAfter,
      price,
      reason,
    }
  }

  #openPosition(client: Client, mint: string, options: BuyOptions): void {
    const { book } = this.#session
    const { account, name, exits } = client.settings
    const key = keyOf({ account: account.id, mint })
    if (book.positions.has(key)) return
    const position = newPosition(account.id, name, mint, this.#session.now, { ...exits, ...options.exits })
    book.positions.set(key, position)
    this.#exits.watch(position)
    this.#session.emit({ kind: 'position', position: { ...position } })
  }

  /** What stands in the way whatever the amount. */
  #vetoState(client: Client, mint: string, scaleIn: boolean): Veto | undefined {
    const { book, feed, prices } = this.#session
    const { account, name, orders } = client.settings
    const veto = (code: Veto['code'], reason: string): Veto => ({ code, reason })
    if (client.money.status === 'exits-only') return veto('EXITS_ONLY', 'the strategy threw an error')
    if (book.accounts.get(account.id)?.halted === true) return veto('HALTED', 'entries are halted')
    if (feed === 'refused') return veto('KEY_REFUSED', 'the service refuses the key')
    if (feed !== 'live') return veto('FEED_DOWN', `the feed is ${feed}`)
    if (DENIED_MINTS.has(mint)) return veto('MINT_DENIED', `${mint} is money, not a token to trade`)
    if (!isPublicKey(mint)) return veto('MINT_INVALID', 'not a base58 key of 32 bytes')
    if (prices.contradicted) return veto('UNIT_CONTRADICTED', 'our own fills contradict the feed')
    if (this.#session.price(mint) === undefined) return veto('PRICE_UNKNOWN', 'no robust price yet')
    const age = this.#session.eventAgeMs()
    if (age > orders.maxEventAgeMs) return veto('STALE_EVENT', `the event is ${age} ms old`)
    const lane = book.laneHolder(laneOf({ account: account.id, mint, side: 'buy' }))
    if (lane !== undefined) return veto('LANE_BUSY', `${lane.order.id} is still open`)
    const position = book.positions.get(keyOf({ account: account.id, mint }))
    if (position === undefined) return undefined
    if (position.bot !== name) return veto('MINT_OWNED', `${position.bot} holds it`)
    if (position.state === 'closing' || position.exiting !== '') return veto('LANE_BUSY', 'it is being sold')
    return scaleIn ? undefined : veto('POSITION_OPEN', 'the bot already holds it')
  }

  #vetoMoney(client: Client, mint: string, amount: Lamports, reserve: Lamports): Veto | undefined {
    const { book, now } = this.#session
    const { account, limits } = client.settings
    const own = [...book.positions.values()].filter((position) => position.bot === client.settings.name)
    const position = book.positions.get(keyOf({ account: account.id, mint }))
    const exposure = {
      openPositions: own.length,
      newPosition: position === undefined,
      mintLamports: position?.costLamports ?? 0,
      dayLamports: limits.maxDailyLossLamports === null ? 0 : this.dayLamports(client),
    }
    const veto = checkLimits(amount, now, limits, client.money, exposure)
    if (veto !== undefined) return veto
    const balance = book.accounts.get(account.id)?.lamports ?? null
    if (balance === null) return { code: 'BALANCE_UNKNOWN', reason: 'the wallet has not been read yet' }
    const free = balance - book.reserved(account.id)
    if (free >= reserve) return undefined
    return { code: 'BALANCE_LOW', reason: `${formatSol(free)} SOL are free, the order may cost ${formatSol(reserve)}` }
  }

  #rollDay(client: Client): void {
    const day = Math.floor(this.#session.now / DAY_MS)
    if (client.money.day === day) return
    Object.assign(client.money, {
      day,
      dayRealizedLamports: lamports(0),
      dayStartUnrealizedLamports: lamports(this.#unrealized(client)),
    })
  }

  /** Without a price a position counts as worth nothing: a token that no longer prints is not an asset. */
  #unrealized(client: Client): number {
    let sum = 0
    for (const position of this.#session.book.positions.values()) {
      if (position.bot !== client.settings.name) continue
      sum += solToLamports(liquidationSol(position, this.#session.price(position.mint)) ?? 0) - position.costLamports
    }
    return sum
  }
}

function sizeOf(options: SellOptions, position: Position): Size {
  if ('all' in options) return { kind: 'all' }
  if ('percent' in options) {
    const percent = Math.floor(options.percent * 100) / 100
    return percent >= 100 ? { kind: 'all' } : { kind: 'percent', percent }
  }
  const tokens = baseUnits(options.tokens, position.decimals)
  return tokens >= position.tokens ? { kind: 'all' } : { kind: 'tokens', tokens, decimals: position.decimals }
}

import type { ErrorCode } from '../base/errors.ts'
import type { Millis } from '../base/units.ts'
import { type BotMoney, MoneyFold } from '../engine/accounting/money.ts'
import type { ExitRules } from '../engine/exits/exit-settings.ts'
import type { Fill, Order, OrderClass, OrderState } from '../engine/order.ts'
import type { TradeSide } from '../market/block.ts'
import type { Attempt } from '../orders/attempt.ts'

/** An order and its outcome. */
export interface OrderRecord {
  readonly id: string
  readonly mint: string
  readonly side: TradeSide
  readonly class: OrderClass
  /** Time of the decision. */
  readonly time: Millis
  /** Robust price at the decision, SOL per token; null if unknown. */
  readonly price: number | null
  /** Amount that a buy should spend, lamports; null for a sale. */
  readonly lamports: number | null
  readonly reason: string
  /** Time of the first attempt; null if there was none yet. */
  sentAt: Millis | null
  filledAt: Millis | null
  state: OrderState
  code: ErrorCode | ''
}

/** A fill, for a chart. */
export interface FillMark {
  readonly mint: string
  readonly side: TradeSide
  readonly time: Millis
  /** SOL per token, including the fees of the trade. */
  readonly price: number
  readonly lamports: number
  readonly reason: string
}

/** Records for the report of one bot. The memory that they need grows with the orders of the bot, not with the tape. */
export class BotLog {
  readonly orders = new Map<string, OrderRecord>()
  readonly fills: FillMark[] = []
  /** Times at which the bot sent requests to the service, ascending. */
  readonly requestTimes: Millis[] = []
  /** Exit rules of the last position in each mint. */
  readonly exits = new Map<string, ExitRules>()
  readonly #fold = new MoneyFold()
  readonly #bot: string
  #account = ''

  constructor(bot: string) {
    this.#bot = bot
  }

  get money(): BotMoney {
    return this.#fold.bot({ account: this.#account, bot: this.#bot })
  }

  order({ id, account, mint, side, class: kind, time, price, size, reason }: Order): void {
    this.#account = account
    const lamports = size.kind === 'sol' ? size.lamports : null
    const unset = { sentAt: null, filledAt: null, state: 'accepted', code: '' } as const
    this.orders.set(id, { id, mint, side, class: kind, time, price, lamports, reason, ...unset })
  }

  /** Records the time at which an attempt was sent. Call it at each change of an attempt's state; an attempt is sent
   *  when it becomes `armed`. */
  attempt({ orderId, state, armedAt }: Attempt): void {
    if (state !== 'armed') return
    this.requestTimes.push(armedAt)
    const order = this.orders.get(orderId)
    if (order !== undefined) order.sentAt ??= armedAt
  }

  moved(orderId: string, state: OrderState, code: ErrorCode | ''): void {
    const order = this.orders.get(orderId)
    if (order !== undefined) Object.assign(order, { state, code })
  }

  filled(fill: Fill): void {
    const order = this.orders.get(fill.orderId)
    const reason = order?.reason ?? ''
    if (order !== undefined) order.filledAt ??= fill.time
    this.#account = fill.account
    this.#fold.apply({ kind: 'fill', fill, reason })
    const { mint, side, time, tradeLamports, tokens, decimals } = fill
    const price = tradeLamports / 1e9 / (Number(tokens) / 10 ** decimals)
    this.fills.push({ mint, side, time, price, lamports: tradeLamports, reason })
  }

  failed(orderId: string, time: Millis, feeLamports: number): void {
    // The log does not contain orders from before a restart, so the fee of such an order belongs to no trip.
    const { mint = '', side = 'buy' } = this.orders.get(orderId) ?? {}
    const [account, bot] = [this.#account, this.#bot]
    this.#fold.apply({ kind: 'failed', account, bot, mint, orderId, side, time, feeLamports })
  }
}

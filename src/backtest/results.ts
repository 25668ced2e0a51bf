import type { Millis, Seq } from '../base/units.ts'
import type { Input, Output } from '../engine/messages.ts'
import { type ExecutionReport, type Fill, isOpen, type Order, orderNumber } from '../engine/order.ts'
import type { RecoveredMoney } from '../engine/recovered-money.ts'
import type { Journal, JournalRecord } from '../orders/ports.ts'
import { BotLog } from './bot-log.ts'
import { BotResult, count } from './bot-result.ts'

/** Kinds of outputs that only a restart reads. They are large, because they contain a bot's buys of the last hour. */
const FOR_RECOVERY: ReadonlySet<string> = new Set<Output['kind']>(['bot', 'keys', 'tokenState'])

export interface ResultsOptions {
  /** Whether to keep the records for a report. */
  readonly logged: boolean
  readonly journal?: Journal | undefined
  /** Called at each fill, with the name of its bot. */
  readonly filled?: (bot: string) => void
}

/** Journal of a backtest. Sums up the results, and passes everything except the tape to the journal in a file, if there
 *  is one. No caller waits for a commit. */
export class BacktestResults implements Journal {
  readonly bots: readonly BotResult[]
  /** Index of each bot, by name. */
  readonly #numbers: ReadonlyMap<string, number>
  /** Index of the bot of the last lookup. It is tried first, because consecutive outputs often belong to one order. */
  #last = 0
  readonly #journal: Journal | undefined
  readonly #filled: ((bot: string) => void) | undefined
  readonly #orders = new OrderMarks()
  /** Fills that are not final yet. Each is reported again when it becomes final. */
  readonly #provisional = new Map<string, Fill>()
  /** Number of orders, refusals, cancellations, alarms and notes. */
  decisions = 0
  readonly #alarms: string[] = []
  /** The last output of kind `bot` for each bot. */
  readonly #lastOf = new Map<string, { seq: Seq; time: Millis; index: number; output: Output }>()

  constructor(bots: readonly string[], { logged, journal, filled }: ResultsOptions) {
    this.#journal = journal
    this.#filled = filled
    this.bots = bots.map((name) => new BotResult(name, logged ? new BotLog(name) : undefined))
    this.#numbers = new Map(bots.map((name, number) => [name, number]))
  }

  /** Restores the open positions, the orders and the provisional fills of a recorded start. Results from before the
   *  start are not counted. */
  restore({ positions, orders, fills }: Pick<RecoveredMoney, 'positions' | 'orders' | 'fills'>): void {
    for (const position of positions) if (position.state !== 'closed') this.#of(position.bot).position(position)
    for (const { order } of orders) this.#orders.add(order.id, this.#numberOf(order.bot), order.price)
    for (const fill of fills) if (!fill.final) this.#provisional.set(fill.signature, fill)
  }

  get alarms(): string[] {
    const unread = this.bots.flatMap(({ name, polls }) =>
      polls === 0
        ? []
        : `${name}: the pools of quiet tokens would have been read ${polls} times (whenStale: poll); a tape contains no pools, so the tokens were held until the next print`,
    )
    return [...this.#alarms, ...unread]
  }

  rows(): void {}

  write(record: JournalRecord): void {
    this.#journal?.write(record)
    if (record.kind === 'attempt') this.#of(record.attempt.bot).log?.attempt(record.attempt)
  }

  commit(then: () => void): void {
    this.#journal?.commit(() => {})
    then()
  }

  input(seq: Seq, time: Millis, input: Input): void {
    this.#journal?.input(seq, time, input)
    if (input.kind === 'report') this.#report(input.report, time)
  }

  output(seq: Seq, time: Millis, index: number, output: Output): void {
    if (this.#journal !== undefined) {
      if (output.kind === 'bot') this.#lastOf.set(output.money.bot, { seq, time, index, output })
      else if (!FOR_RECOVERY.has(output.kind)) this.#journal.output(seq, time, index, output)
    }
    switch (output.kind) {
      case 'order':
        this.decisions++
        this.#order(output.order)
        break
      case 'orderState':
        this.#moved(output)
        break
      case 'refused':
        this.decisions++
        count(this.#of(output.bot).refused, output.code)
        break
      case 'cancel':
      case 'note':
        this.decisions++
        break
      case 'alarm':
        this.decisions++
        this.#alarms.push(`${output.bot === '' ? '' : `${output.bot}: `}${output.code}, ${output.reason}`)
        break
      case 'poll':
        this.#of(output.bot).polls++
        break
      case 'position':
        this.#of(output.position.bot).position(output.position)
        break
      default: // No other output is part of a result.
    }
  }

  /** Writes the last state of each bot to the journal, because the result of the last day is computed from it. */
  end(): void {
    for (const { seq, time, index, output } of this.#lastOf.values()) this.#journal?.output(seq, time, index, output)
  }

  #order(order: Order): void {
    const { id, bot: name, price } = order
    const bot = this.#of(name)
    bot.orders++
    bot.log?.order(order)
    this.#orders.add(id, this.#numberOf(name), price)
  }

  #report({ orderId, fill, reversed, feeLamports }: ExecutionReport, time: Millis): void {
    if (feeLamports !== undefined) this.#ownerOf(orderId)?.failed(orderId, time, feeLamports)
    if (reversed !== undefined) this.#reverse(reversed)
    if (fill === undefined) return
    const isKnown = fill.final ? this.#provisional.delete(fill.signature) : this.#provisional.has(fill.signature)
    if (isKnown) return
    if (!fill.final) this.#provisional.set(fill.signature, fill)
    this.#of(fill.bot).filled(fill, this.#orders.priceOf(orderId))
    this.#filled?.(fill.bot)
  }

  /** Subtracts a fill that a fork reversed. */
  #reverse(signature: string): void {
    const fill = this.#provisional.get(signature)
    if (fill === undefined) return
    this.#provisional.delete(signature)
    this.#of(fill.bot).reversed(fill)
  }

  #moved({ orderId, state, code }: Extract<Output, { kind: 'orderState' }>): void {
    const bot = this.#ownerOf(orderId)
    bot?.log?.moved(orderId, state, code)
    if (isOpen(state) || !this.#orders.end(orderId) || state === 'filled') return
    bot?.end(state, code)
  }

  #ownerOf(orderId: string): BotResult | undefined {
    const number = this.#orders.botOf(orderId)
    return number === undefined ? undefined : this.bots[number]
  }

  #of(bot: string): BotResult {
    return this.bots[this.#numberOf(bot)] as BotResult
  }

  #numberOf(bot: string): number {
    if (this.bots[this.#last]?.name === bot) return this.#last
    const number = this.#numbers.get(bot)
    if (number === undefined) throw new Error(`unknown bot in this backtest: ${bot}`)
    this.#last = number
    return number
  }
}

const GROWTH = 2
const FIRST = 1024
const OPEN = 1

/** Bot, price at the decision, and state of each order, in ten bytes per order. Outcomes may arrive minutes later, so
 *  many orders are kept, and a map of objects would be slower to search and to collect as garbage. */
class OrderMarks {
  #prices = new Float64Array(FIRST)
  #bots = new Uint16Array(FIRST)
  #flags = new Uint8Array(FIRST)

  /** Adds an order. `bot`: index of the bot. `price`: null if unknown. */
  add(id: string, bot: number, price: number | null): void {
    const at = orderNumber({ id })
    if (at >= this.#prices.length) this.#grow(at)
    this.#prices[at] = price ?? Number.NaN
    this.#bots[at] = bot + 1
    this.#flags[at] = OPEN
  }

  /** Index of the order's bot; undefined for an unknown order. */
  botOf(id: string): number | undefined {
    const bot = this.#bots[orderNumber({ id })] ?? 0
    return bot === 0 ? undefined : bot - 1
  }

  priceOf(id: string): number | null {
    const price = this.#prices[orderNumber({ id })] ?? Number.NaN
    return Number.isNaN(price) ? null : price
  }

  /** Ends an order. Returns true at the first call for this order. */
  end(id: string): boolean {
    const at = orderNumber({ id })
    if (this.#flags[at] !== OPEN) return false
    this.#flags[at] = 0
    return true
  }

  #grow(at: number): void {
    const size = Math.max(at + 1, this.#prices.length * GROWTH)
    this.#prices = grown(this.#prices, new Float64Array(size))
    this.#bots = grown(this.#bots, new Uint16Array(size))
    this.#flags = grown(this.#flags, new Uint8Array(size))
  }
}

function grown<T extends Float64Array | Uint16Array | Uint8Array>(from: T, into: T): T {
  into.set(from)
  return into
}

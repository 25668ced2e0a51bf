import { decodeJson, encodeJson } from '../../src/base/json.ts'
import { dayOf, lamports } from '../../src/base/units.ts'
import type { Mark, Position } from '../../src/engine/accounting/position.ts'
import { widenMarks } from '../../src/engine/accounting/trip-sums.ts'
import { type ConditionalOrder, conditionalNumber, isOver } from '../../src/engine/exits/conditional-order.ts'
import { asSpend, doesCount } from '../../src/engine/limits/spending.ts'
import type { Input, Output } from '../../src/engine/messages.ts'
import { type Fill, isFullExit, isOpen, type Order } from '../../src/engine/order.ts'
import { NO_MONEY, type RecoveredMoney, type TokenState } from '../../src/engine/recovered-money.ts'

/** Computes from recorded inputs and outputs the accounts, positions, orders and timers that a journal must restore. */
export class RecordedMoney {
  readonly orders = new Map<string, RecoveredMoney['orders'][number]>()
  /** The last record of each position, by account and mint, including closed positions. */
  readonly positions = new Map<string, Position>()
  readonly timers = new Map<number, RecoveredMoney['timers'][number]>()
  readonly fills = new Map<string, Fill>()
  readonly conditionals = new Map<string, ConditionalOrder>()
  readonly #accounts = new Map<string, RecoveredMoney['accounts'][number]>()
  readonly #bots = new Map<string, RecoveredMoney['bots'][number]>()
  readonly #tokenStates = new Map<string, TokenState>()
  readonly #marks = new Map<string, Mark>()
  /** For each full exit, by order id: the number of its attempts that may still execute. */
  readonly #unproved = new Map<string, number>()
  #nextOrder = 1
  #nextTimer = 1
  #nextConditional = 1

  input(input: Input, time: number): void {
    if (input.kind === 'timer') {
      const timer = this.timers.get(input.id)
      if (timer !== undefined) this.timers.set(input.id, { ...timer, fired: time })
    }
    if (input.kind !== 'report') return
    const { orderId, fill, reversed, unproved } = input.report
    if (unproved !== undefined) this.#unproved.set(orderId, unproved)
    if (fill !== undefined) {
      const known = this.fills.get(fill.signature)
      if (known?.final !== true) this.fills.set(fill.signature, fill)
    }
    if (reversed !== undefined) this.fills.delete(reversed)
  }

  output(output: Output): void {
    const record: Output = decodeJson(encodeJson(output))
    switch (record.kind) {
      case 'order':
        this.orders.set(record.order.id, { order: record.order, state: 'accepted' })
        this.#nextOrder = Number(record.order.id.slice(1)) + 1
        break
      case 'orderState': {
        const known = this.orders.get(record.orderId)
        if (known !== undefined) known.state = record.state
        break
      }
      case 'conditional':
        this.conditionals.set(record.order.id, record.order)
        this.#nextConditional = Math.max(this.#nextConditional, conditionalNumber(record.order) + 1)
        break
      case 'position':
        this.#position(record.position)
        break
      case 'timer':
        this.timers.set(record.timer.id, record.timer)
        this.#nextTimer = Math.max(this.#nextTimer, record.timer.id + 1)
        break
      case 'timerCleared':
        this.timers.delete(record.id)
        break
      case 'bot':
        this.#bots.set(record.money.bot, record.money)
        break
      case 'tokenState': {
        const { account, bot, mint, value } = record.state
        if (value === null) this.#tokenStates.delete(`${account} ${bot} ${mint}`)
        else this.#tokenStates.set(`${account} ${bot} ${mint}`, record.state)
        break
      }
      case 'account':
        this.#accounts.set(record.money.account, record.money)
        break
      default:
    }
  }

  /**
   * Returns whether an order that has ended may still get a fill. A full exit cannot get one if the outcome of each of
   * its attempts is proved.
   */
  mayExecute(order: Order): boolean {
    return !isFullExit(order) || (this.#unproved.get(order.id) ?? 0) > 0
  }

  mark(mark: Mark): void {
    this.#marks.set(`${mark.account}|${mark.mint}`, mark)
  }

  money(): RecoveredMoney {
    const sold = new Set(
      [...this.fills.values()].filter(({ final }) => !final).map(({ account, mint }) => `${account}|${mint}`),
    )
    return {
      ...NO_MONEY,
      nextOrder: this.#nextOrder,
      nextTimer: this.#nextTimer,
      nextConditional: this.#nextConditional,
      conditionals: [...this.conditionals.values()].filter(({ state }) => !isOver(state)),
      accounts: [...this.#accounts.values()],
      bots: [...this.#bots.values()],
      orders: [...this.orders.values()].filter(({ order, state }) => isOpen(state) || this.mayExecute(order)),
      positions: [...this.positions]
        .filter(([key, { state, oversold, soldEarly }]) => {
          return state !== 'closed' || sold.has(key) || oversold !== undefined || soldEarly !== undefined
        })
        .map(([key, position]) => marked(position, this.#marks.get(key))),
      timers: [...this.timers.values()].sort((one, other) => one.id - other.id),
      fills: [...this.fills.values()],
      ...this.#spends(),
      tokenStates: [...this.#tokenStates.values()],
    }
  }

  #spends(): Pick<RecoveredMoney, 'spends' | 'daySpends'> {
    const buys = [...this.orders.values()].filter(({ order }) => order.side === 'buy')
    const spends = buys.map(({ order, state }) => asSpend(order, doesCount(state)))
    const day = Math.max(...spends.map(({ time }) => dayOf(time)))
    const counted = spends.filter(({ time, counts }) => counts && dayOf(time) === day)
    const sumOf = (bot: string): number =>
      counted.reduce((sum, spend) => sum + (spend.bot === bot ? spend.lamports : 0), 0)
    const bots = new Map(counted.map(({ account, bot }) => [bot, account]))
    return {
      spends,
      daySpends: [...bots].map(([bot, account]) => ({ account, bot, day, lamports: lamports(sumOf(bot)) })),
    }
  }

  /** A closed position and the next position in the same mint are stored separately. */
  #position(position: Position): void {
    const key = `${position.account}|${position.mint}`
    if (this.positions.get(key)?.state === 'closed') this.positions.delete(key)
    this.positions.set(key, position)
    if (position.state === 'closed') this.#marks.delete(key)
  }
}

function marked(position: Position, mark: Mark | undefined): Position {
  const now = { ...position, highPrice: Math.max(position.highPrice, mark?.highPrice ?? 0) }
  for (const one of [mark?.best, mark?.worst]) if (one !== undefined) widenMarks(now, one)
  return now
}

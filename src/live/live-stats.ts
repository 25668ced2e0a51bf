import { formatSol, type Millis } from '../base/units.ts'
import type { Position } from '../engine/accounting/position.ts'
import { alarmText } from '../engine/bots/thrown-value.ts'
import type { Output } from '../engine/messages.ts'
import type { Fill } from '../engine/order.ts'
import { isOpen } from '../engine/order.ts'
import type { RecoveredMoney } from '../engine/recovered-money.ts'
import type { PastResults } from '../journal/reader/reader.ts'
import type { Journal } from '../orders/ports.ts'
import { BotResults, NO_PAST, type WorthOf } from './bot-results.ts'
import { EntryStops } from './entry-stops.ts'
import { UndecidedOrders } from './undecided.ts'

const FILLS_SHOWN = 100

/** The last action of a bot, described in words. */
export interface Act {
  readonly time: Millis
  readonly text: string
}

/** Counts writes to the journal since the start of this process, for status displays. It does not read the journal. */
export class LiveStats {
  rows = 0
  decisions = 0
  orders = 0
  /** Number of executions; each counts once, however often it is reported. */
  filled = 0
  /** Name of the bot of each open order, by order id. */
  readonly openOrders = new Map<string, string>()
  readonly acts = new Map<string, Act>()
  readonly stops = new EntryStops()
  readonly undecided = new UndecidedOrders()
  /** Ids of the live accounts, as in the engine. */
  readonly liveAccounts = new Set<string>()
  /** The most recent fills by signature, oldest first. */
  readonly fills = new Map<string, Fill>()
  readonly results = new BotResults()
  /** Balance of each account in lamports; null before the first reading. */
  readonly balances = new Map<string, number | null>()

  /** Called with every output that is written to the journal. */
  listen: (time: Millis, output: Output) => void = () => {}
  /** Mints of the open live orders, by order id. */
  readonly #out = new Map<string, string>()
  #muted = false
  readonly #redact: (text: string) => string

  /** `redact`: removes secrets from the message of an error that a strategy threw. */
  constructor(redact = (text: string): string => text) {
    this.#redact = redact
  }

  /** Restores the open positions and orders that the previous process left, and the results up to this start. */
  restore(
    money: Pick<RecoveredMoney, 'positions' | 'orders' | 'accounts' | 'bots'>,
    past: PastResults = NO_PAST,
    worthOf: WorthOf = () => undefined,
  ): void {
    this.results.restore(money, past, worthOf)
    for (const { account, lamports } of money.accounts) this.balances.set(account, lamports)
    for (const { order, state } of money.orders) if (isOpen(state)) this.openOrders.set(order.id, order.bot)
    this.stops.restore(money)
  }

  /** Drops all later writes, because the journal is about to be closed. The next start reads the outcome of these
   *  orders from the chain. */
  mute(): void {
    this.#muted = true
  }

  /** Positions that are not closed. */
  get positions(): Map<string, Position> {
    return this.results.open
  }

  /** Whether a live order is open. The feed may show the trade of such an order before the service answers. */
  get awaitsFill(): boolean {
    return this.#out.size > 0
  }

  holds(mint: string): boolean {
    for (const position of this.positions.values()) if (position.mint === mint) return true
    return false
  }

  /** Base units of a mint that live bots hold; undefined if none holds it. */
  holdingOf(mint: string): bigint | undefined {
    for (const position of this.positions.values())
      if (position.mint === mint && this.liveAccounts.has(position.account)) return position.tokens
    return undefined
  }

  /** Base units that live bots hold of each mint. */
  get booked(): Map<string, bigint> {
    const booked = new Map<string, bigint>()
    for (const { account, mint, tokens } of this.positions.values())
      if (this.liveAccounts.has(account)) booked.set(mint, (booked.get(mint) ?? 0n) + tokens)
    return booked
  }

  /** Returns a journal that counts each write before forwarding it. */
  watch(journal: Journal): Journal {
    return {
      rows: (block, from, to, firstSeq) => {
        if (this.#muted) return
        this.rows += to - from
        journal.rows(block, from, to, firstSeq)
      },
      input: (seq, time, input) => {
        if (this.#muted) return
        this.stops.hear(time, input)
        this.results.hear(input)
        journal.input(seq, time, input)
      },
      output: (seq, time, index, output) => {
        if (this.#muted) return
        this.#count(time, output)
        journal.output(seq, time, index, output)
      },
      write: (record) => {
        if (this.#muted) return
        if (record.kind === 'fill') this.#fill(record.fill)
        this.undecided.take(record)
        journal.write(record)
      },
      commit: (then) => {
        if (!this.#muted) journal.commit(then)
      },
    }
  }

  #count(time: Millis, decided: Output): void {
    const output = decided.kind === 'alarm' ? { ...decided, reason: this.#redact(decided.reason) } : decided
    this.decisions++
    this.listen(time, output)
    this.stops.take(time, output)
    this.results.take(output)
    if (output.kind === 'account') this.balances.set(output.money.account, output.money.lamports)
    else if (output.kind === 'order') {
      const { bot, side, size, mint, reason } = output.order
      this.orders++
      this.openOrders.set(output.order.id, bot)
      if (this.liveAccounts.has(output.order.account)) this.#out.set(output.order.id, mint)
      const amount = size.kind === 'sol' ? `${formatSol(size.lamports)} SOL of ` : ''
      this.acts.set(bot, { time, text: `${side} ${amount}${mint.slice(0, 6)}: ${reason}` })
    } else if (output.kind === 'orderState') this.#orderState(output)
    else if (output.kind === 'refused') {
      this.acts.set(output.bot, { time, text: `refused ${output.mint.slice(0, 6)}: ${output.code}, ${output.reason}` })
    } else if (output.kind === 'alarm')
      this.acts.set(output.bot, { time, text: `${output.code}: ${alarmText(output)}` })
  }

  /** Removes an order that has ended. An order that a fork reopens by reversing its fill is not counted as open
   *  again. */
  #orderState({ orderId, state }: Extract<Output, { kind: 'orderState' }>): void {
    if (isOpen(state)) return
    this.#out.delete(orderId)
    this.openOrders.delete(orderId)
  }

  #fill(fill: Fill): void {
    if (!this.fills.delete(fill.signature)) this.filled++
    this.fills.set(fill.signature, fill)
    if (this.fills.size > FILLS_SHOWN) this.fills.delete(this.fills.keys().next().value as string)
  }
}

const KEPT = 1024

/** Decision time of the engine, microseconds per row, over the last thousand runs of rows. */
export class DecisionTime {
  readonly #samples = new Float64Array(KEPT)
  #count = 0

  add(microseconds: number): void {
    this.#samples[this.#count++ % KEPT] = microseconds
  }

  p50(): number {
    return this.#quantile(0.5)
  }

  p99(): number {
    return this.#quantile(0.99)
  }

  #quantile(share: number): number {
    const kept = Math.min(this.#count, KEPT)
    if (kept === 0) return 0
    const sorted = this.#samples.slice(0, kept).sort()
    return sorted[Math.min(kept - 1, Math.floor(kept * share))] as number
  }
}

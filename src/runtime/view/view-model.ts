import { Fifo } from '../../base/fifo.ts'
import { formatSol, type Millis, type Seq } from '../../base/units.ts'
import { keyOf } from '../../engine/accounting/by-mint.ts'
import type { Position } from '../../engine/accounting/position.ts'
import { alarmText } from '../../engine/bots/thrown-value.ts'
import { type ConditionalOrder, isOver } from '../../engine/exits/conditional-order.ts'
import type { Input, Output } from '../../engine/messages.ts'
import { type Fill, isOpen } from '../../engine/order.ts'
import type { RecoveredMoney } from '../../engine/recovered-money.ts'
import type { RecordedBuy } from '../../journal/reader/position-buys.ts'
import type { PastResults } from '../../journal/reader/reader.ts'
import type { DiskUsage, SpaceReport } from '../../journal/writer/space.ts'
import type { Block } from '../../market/block.ts'
import { EventAge } from '../../market/event-age.ts'
import type { Attempt } from '../../orders/attempt.ts'
import type { Watch } from '../../orders/audit-records.ts'
import type { Journal, JournalRecord } from '../../orders/ports.ts'
import { BotResults, NO_PAST, type WorthOf } from './bot-results.ts'
import { EntryStops } from './entry-stops.ts'
import { logLineOf } from './log-lines.ts'
import { OpenOrders } from './open-orders.ts'
import { PositionEntries } from './position-entries.ts'
import { RunTotals } from './run-totals.ts'
import { UndecidedOrders } from './undecided.ts'
import type { LogLine } from './view.ts'

const NOBODY = (): void => {}

/** Kinds of outputs that the model only counts. Some of these outputs are also lines of the log. */
export const ONLY_COUNTED: ReadonlySet<Output['kind']> = new Set([
  ...(['keys', 'timer', 'timerCleared', 'tokenState', 'poll', 'cancel', 'log', 'message', 'note'] as const),
])

/** Number of fills that are kept, so that a repeated report of a fill is not counted again. */
const FILLS_KEPT = 500

/** The last action of a bot, described in words. */
export interface Act {
  readonly time: Millis
  readonly text: string
}

export interface ModelOptions {
  /** Removes secrets from the message of an error that a strategy threw. */
  readonly redact?: (text: string) => string
  readonly now?: () => Millis
}

/** What earlier processes recorded in the journal, without the balances. */
export interface PastOfModel {
  readonly results?: PastResults
  readonly attempts?: readonly Attempt[]
  readonly watches?: readonly Watch[]
  /** Buys of the open positions. */
  readonly buys?: readonly RecordedBuy[]
  /** Returns the value of a position at the last prices that were recorded before this start. */
  readonly worthOf?: WorthOf
}

/** The state of the bots, as the terminal, `sluice status`, the alerts and the desk show it. It is computed from
 *  everything that is written to the journal; it reads nothing from the journal and adds nothing to it. Market rows are
 *  only counted. */
export class ViewModel {
  segment = 0
  /** Number of the last market row or input. */
  seq: Seq = 0
  rows = 0
  decisions = 0
  orders = 0
  /** Number of executions since this start; each counts once, even if it is reported several times. */
  filled = 0
  gaps = 0
  gapMs = 0
  readonly openOrders = new OpenOrders()
  readonly entries = new PositionEntries()
  readonly acts = new Map<string, Act>()
  readonly stops = new EntryStops()
  readonly undecided = new UndecidedOrders()
  /** Ids of the live accounts, as in the engine. */
  readonly liveAccounts = new Set<string>()
  /** The most recent fills by signature, oldest first; including fills of earlier processes. */
  readonly fills = new Map<string, Fill>()
  readonly results = new BotResults()
  readonly totals = new RunTotals()
  /** Balance of each account in lamports; null before it was read for the first time. */
  readonly balances = new Map<string, number | null>()
  /** Number of refused requests of each bot, by code. */
  readonly refusals = new Map<string, Map<string, number>>()
  /** Conditional orders that have not ended, by id. */
  readonly conditionals = new Map<string, ConditionalOrder>()
  /** Size of the journal's files and free space on their disk, as last measured. */
  disk: DiskUsage = { bytes: 0, freeBytes: 0 }

  readonly #listeners: ((time: Millis, output: Output) => void)[] = []
  readonly #logListeners: ((line: LogLine) => void)[] = []
  #heard = NOBODY
  readonly #spaceListeners: ((report: SpaceReport) => void)[] = []
  #space: SpaceReport | undefined
  /** Callers that wait for the outputs of an input. */
  readonly #asked = new Map<Input, (outputs: readonly Output[]) => void>()
  /** Outputs so far of the input that the engine handles now; undefined if no caller waits for them. */
  #collected: Output[] | undefined
  /** Mints of the open live orders, by order id. */
  readonly #out = new Map<string, string>()
  readonly #age = new EventAge()
  #lagMs: number | null = null
  /** Times of the commits that are not durable yet, oldest first. */
  readonly #commits = new Fifo<Millis>()
  /** The number of these commits, in memory that other threads can read. */
  readonly committing = new Int32Array(new SharedArrayBuffer(4))
  #muted = false
  readonly #redact: (text: string) => string
  readonly #now: () => Millis
  #sales: Map<string, number[]> | undefined

  constructor({ redact = (text) => text, now = Date.now }: ModelOptions = {}) {
    this.#redact = redact
    this.#now = now
  }

  /** Calls `run` with every output that is written to the journal. */
  onOutput(run: (time: Millis, output: Output) => void): void {
    this.#listeners.push(run)
  }

  /** Calls `run` with every later line of the log. Returns a function that stops this. */
  onLog(run: (line: LogLine) => void): () => void {
    this.#logListeners.push(run)
    return () => void this.#logListeners.splice(this.#logListeners.indexOf(run), 1)
  }

  /** Calls `run` after each write to the journal, until the returned function is called. */
  onMessage(run: () => void): () => void {
    this.#heard = run
    return () => {
      this.#heard = NOBODY
    }
  }

  /** Resolves with the outputs of an input once the engine has handled the input. Must be called before the input is
   *  posted. */
  answerTo(input: Input): Promise<readonly Output[]> {
    const { promise, resolve } = Promise.withResolvers<readonly Output[]>()
    this.#asked.set(input, resolve)
    return promise
  }

  /** Calls `run` with the last report about disk space, if there is one, and with every later one. */
  onSpace(run: (report: SpaceReport) => void): void {
    this.#spaceListeners.push(run)
    if (this.#space !== undefined) run(this.#space)
  }

  takeSpace(report: SpaceReport): void {
    this.#space = report
    for (const run of this.#spaceListeners) run(report)
  }

  /** Restores the open positions and orders of the previous process, and the results up to this start. */
  restore(
    money: Pick<RecoveredMoney, 'positions' | 'orders' | 'accounts' | 'bots' | 'conditionals' | 'fills'>,
    past: PastOfModel = {},
  ): void {
    const { results = NO_PAST, attempts = [], watches = [], buys = [], worthOf = () => undefined } = past
    this.results.restore(money, results, worthOf)
    for (const { account, lamports } of money.accounts) this.balances.set(account, lamports)
    for (const fill of money.fills.slice(-FILLS_KEPT)) this.fills.set(fill.signature, fill)
    this.openOrders.restore({ orders: money.orders, attempts })
    this.undecided.restore({ attempts, watches })
    this.entries.restore(buys)
    for (const order of money.conditionals) this.#conditional(order)
    this.stops.restore(money)
  }

  /** Ignores all later writes, because the journal is about to be closed. The next start finds the outcome of open
   *  orders on the chain. */
  mute(): void {
    this.#muted = true
  }

  /** Positions that are not closed. */
  get positions(): Map<string, Position> {
    return this.results.open
  }

  /** Prices of the conditional orders that sell a position, by account and mint (`keyOf`). */
  get sales(): ReadonlyMap<string, readonly number[]> {
    if (this.#sales !== undefined) return this.#sales
    const sales = new Map<string, number[]>()
    for (const { when, action, ...owner } of this.conditionals.values()) {
      if (action.side === 'buy' || when.kind === 'every') continue
      const prices = sales.get(keyOf(owner)) ?? []
      sales.set(keyOf(owner), prices)
      prices.push(when.price)
    }
    this.#sales = sales
    return sales
  }

  /** How much older than usual the last row was when it arrived, ms; null before the usual delay is known. */
  get feedLagMs(): number | null {
    return this.#lagMs
  }

  /** Age of the oldest commit that is not durable yet, ms. */
  get waitingMs(): number {
    const oldest = this.#commits.peek()
    return oldest === undefined ? 0 : Math.max(0, this.#now() - oldest)
  }

  /** Whether a live order is open. The feed may show the trade of such an order before the service answers. */
  get awaitsFill(): boolean {
    return this.#out.size > 0
  }

  holds(mint: string): boolean {
    for (const position of this.positions.values()) if (position.mint === mint) return true
    return false
  }

  /** Base units of a mint that the bots of an account hold; undefined if none holds it. */
  holdingOf(account: string, mint: string): bigint | undefined {
    for (const position of this.positions.values())
      if (position.mint === mint && position.account === account) return position.tokens
    return undefined
  }

  /** Base units that the bots of an account hold of each mint. */
  bookedIn(account: string): Map<string, bigint> {
    const booked = new Map<string, bigint>()
    for (const position of this.positions.values())
      if (position.account === account) booked.set(position.mint, position.tokens)
    return booked
  }

  /** Returns a journal that shows each write to the model before forwarding it. */
  watch(journal: Journal): Journal {
    return {
      rows: (block, from, to, firstSeq) => {
        if (this.#muted) return
        this.hearRows(block, from, to, firstSeq)
        journal.rows(block, from, to, firstSeq)
      },
      input: (seq, time, input) => {
        if (this.#muted) return
        this.hearInput(seq, time, input)
        journal.input(seq, time, input)
      },
      output: (seq, time, index, output) => {
        if (this.#muted) return
        this.hearOutput(seq, time, index, output)
        journal.output(seq, time, index, output)
      },
      write: (record) => {
        if (this.#muted) return
        this.hearWrite(record)
        journal.write(record)
      },
      commit: (then) => {
        if (this.#muted) return
        this.#commits.push(this.#now())
        Atomics.add(this.committing, 0, 1)
        journal.commit(() => {
          this.#commits.shift()
          then()
          Atomics.sub(this.committing, 0, 1)
        })
      },
    }
  }

  hearRows({ time, stamp }: Pick<Block, 'time' | 'stamp'>, from: number, to: number, firstSeq: Seq): void {
    this.rows += to - from
    this.seq = firstSeq + to - from - 1
    const lagMs = (time[to - 1] as number) - (stamp[to - 1] as number)
    if (lagMs < this.#age.usualMs) this.#age.learn(lagMs)
    if (this.#age.usualMs !== Number.POSITIVE_INFINITY) this.#lagMs = this.#age.of(lagMs)
    this.#heard()
  }

  hearInput(seq: Seq, time: Millis, input: Input): void {
    this.seq = seq
    if (input.kind === 'start') this.segment = input.segment
    else if (input.kind === 'gap') {
      this.gaps++
      this.gapMs += Math.max(0, input.to - input.from)
    }
    this.stops.hear(time, input)
    this.results.hear(seq, input, this.openOrders)
    this.totals.hear(input, this.openOrders)
    this.#collected = undefined
    if (this.#asked.size > 0) this.#collect(input)
    this.#heard()
  }

  /** Starts to collect the outputs of an input if a caller waits for them. The engine emits all outputs of the input
   *  before the next microtask. */
  #collect(input: Input): void {
    const answer = this.#asked.get(input)
    if (answer === undefined) return
    this.#asked.delete(input)
    const outputs: Output[] = []
    this.#collected = outputs
    queueMicrotask(() => {
      this.#collected = undefined
      answer(outputs)
    })
  }

  hearOutput(seq: Seq, time: Millis, index: number, decided: Output): void {
    const output = decided.kind === 'alarm' ? { ...decided, reason: this.#redact(decided.reason) } : decided
    this.decisions++
    this.#collected?.push(output)
    for (const listen of this.#listeners) listen(time, output)
    this.stops.take(time, output)
    this.results.take(seq, output)
    this.totals.take(time, output, this.openOrders)
    this.openOrders.take(output)
    this.entries.take(output)
    this.#count(time, output)
    this.#heard()
    if (this.#logListeners.length === 0) return
    const line = logLineOf(seq, time, index, output)
    if (line !== undefined) for (const listen of this.#logListeners) listen(line)
  }

  hearWrite(record: JournalRecord): void {
    if (record.kind === 'fill') this.#fill(record.fill)
    this.undecided.take(record)
    this.openOrders.write(record)
    this.#heard()
  }

  #count(time: Millis, output: Output): void {
    if (output.kind === 'account') this.balances.set(output.money.account, output.money.lamports)
    else if (output.kind === 'order') {
      const { bot, side, size, mint, reason } = output.order
      this.orders++
      if (this.liveAccounts.has(output.order.account)) this.#out.set(output.order.id, mint)
      const amount = size.kind === 'sol' ? `${formatSol(size.lamports)} SOL of ` : ''
      this.acts.set(bot, { time, text: `${side} ${amount}${mint.slice(0, 6)}: ${reason}` })
    } else if (output.kind === 'orderState') {
      if (!isOpen(output.state)) this.#out.delete(output.orderId)
    } else if (output.kind === 'refused') {
      const { bot, mint, code, reason } = output
      this.acts.set(bot, { time, text: `refused ${mint.slice(0, 6)}: ${code}, ${reason}` })
      const counts = this.refusals.get(bot) ?? new Map<string, number>()
      this.refusals.set(bot, counts.set(code, (counts.get(code) ?? 0) + 1))
    } else if (output.kind === 'alarm')
      this.acts.set(output.bot, { time, text: `${output.code}: ${alarmText(output)}` })
    else if (output.kind === 'conditional') this.#conditional(output.order)
  }

  #conditional(order: ConditionalOrder): void {
    this.#sales = undefined
    if (isOver(order.state)) this.conditionals.delete(order.id)
    else this.conditionals.set(order.id, order)
  }

  #fill(fill: Fill): void {
    if (!this.fills.delete(fill.signature)) {
      this.filled++
      this.totals.fill(fill)
    }
    this.fills.set(fill.signature, fill)
    if (this.fills.size > FILLS_KEPT) this.fills.delete(this.fills.keys().next().value as string)
  }
}

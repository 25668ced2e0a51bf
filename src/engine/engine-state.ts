import type { Millis, Seq } from '../base/units.ts'
import type { Block, TokenId } from '../market/block.ts'
import { EventAge } from '../market/event-age.ts'
import { Launches } from '../market/launches.ts'
import type { Mints } from '../market/mints.ts'
import { Prices } from '../market/price.ts'
import type { MintFacts } from '../solana/mint.ts'
import { Book } from './accounting/book.ts'
import type { Position } from './accounting/position.ts'
import type { ThrownAtOf } from './bots/thrown-value.ts'
import { EntryGates } from './entry-gates.ts'
import { defaultWindow, type ExitWindow } from './exits/exit-settings.ts'
import { Spending } from './limits/recent-buys.ts'
import type { FeedStatus, Input, Output, StartInput } from './messages.ts'
import type { Stage } from './ports.ts'
import type { AccountMoney, BotMoney } from './recovered-money.ts'
import type { Plan } from './settings.ts'
import { Timers } from './timers.ts'

/** State that the parts of the engine share, from one start input to the next: the current moment, the money, the
 *  prices, and the list of outputs. */
export class EngineState implements Stage {
  readonly outputs: Output[]
  readonly mints: Mints
  readonly prices: Prices
  readonly book = new Book()
  readonly spending = new Spending()
  readonly launches = new Launches()
  readonly timers: Timers
  readonly wants: Wants
  now: Millis = 0
  seq: Seq = 0
  plan: Plan
  feed: FeedStatus = 'down'
  /** The strategies are warming up: their requests are discarded. */
  warming = false
  /** A warm-up has ended, and no row or input has followed yet. */
  warmed = false
  /** The process is stopping: entries are refused. */
  stopping = false
  readonly gates = new EntryGates()
  /** Facts of the mints that were read last, by mint. */
  readonly mintFacts = new Map<string, MintFacts>()
  nextOrder: number
  /** Window of the exit price of positions that set none. */
  readonly exitWindow: ExitWindow
  /** The current row is in this block; undefined while an input is handled. */
  block: Block | undefined
  row = 0
  readonly #eventAge = new EventAge()
  /** First row of the current call whose age was not learned from yet. */
  agesFrom = 0
  readonly activity: Activity
  /** Index of the bot whose request overflowed the stack and left the books half changed; -1: none. */
  tornBy = -1

  /** Filter lists, by the path of their file. */
  readonly lists: Map<string, ReadonlySet<string>>

  readonly thrownAt: ThrownAtOf | undefined

  constructor(
    outputs: Output[],
    mints: Mints,
    { plan, units, lists, money, exitPrice }: StartInput,
    activity: Activity,
    thrownAt: ThrownAtOf | undefined,
  ) {
    this.activity = activity
    this.thrownAt = thrownAt
    this.outputs = outputs
    this.mints = mints
    this.plan = plan
    this.lists = new Map(Object.entries(lists ?? {}).map(([name, entries]) => [name, new Set(entries)]))
    this.prices = new Prices(units)
    this.exitWindow = defaultWindow(exitPrice)
    this.timers = new Timers(this)
    this.wants = new Wants(this)
    this.nextOrder = money.nextOrder
    this.book.restore(money)
    this.spending.restore(money.spends, money.daySpends)
  }

  /** Throws. `activity` names the bot, so that the supervisor of the process sees which strategy caused the
   *  overflow. */
  end(): never {
    this.activity.enter(this.tornBy)
    throw new Error('invariant broken: a stack overflowed while an order was made')
  }

  /** Adds a decision to the outputs; discards it during the warm-up. */
  emit(output: Output): void {
    if (!this.warming) this.outputs.push(output)
  }

  // Outputs are copies: the original changes later, and the journal may read the output after that.

  emitBot(money: BotMoney): void {
    this.emit({ kind: 'bot', money: { ...money } })
  }

  emitAccount(money: AccountMoney): void {
    const { results } = money
    this.emit({ kind: 'account', money: { ...money, ...(results && { results: { ...results } }) } })
  }

  emitPosition(position: Position): void {
    this.emit({ kind: 'position', position: { ...position } })
  }

  /** Applies external state. */
  take(input: Extract<Input, { kind: 'feed' | 'gate' | 'plan' | 'wallet' | 'list' }>): void {
    if (input.kind === 'feed') this.feed = input.status
    else if (input.kind === 'gate') this.gates.take(input)
    else if (input.kind === 'plan') this.plan = input.plan
    else if (input.kind === 'list') this.lists.set(input.name, new Set(input.entries))
    else {
      const account = this.book.readWallet(input.account, input.lamports, input.slot)
      if (account !== undefined) this.emitAccount(account)
    }
  }

  /** Forgets prices and launches of past days, except prices that are needed. */
  nextDay(isNeeded: (token: TokenId) => boolean): void {
    this.prices.nextDay(isNeeded)
    this.launches.forget()
  }

  /** Halts the entries of every account, restarts included, or allows them again. */
  halt(halted: boolean): void {
    for (const account of this.book.accounts.values()) {
      account.halted = halted
      this.emitAccount(account)
    }
  }

  /** Records announcements from now on: a limit or a filter needs creators or ages of tokens. */
  watchLaunches(): void {
    this.launches.isWatched = true
    this.wants.add('newTokens')
  }

  /** Learns the usual age from rows up to `to`. Called when an age is needed and at the end of `rows`; once for each
   *  row would take twice as long. */
  learnAges(block: Block, to: number): void {
    this.#eventAge.fold(block, this.agesFrom, to)
    this.agesFrom = to
  }

  /** Timestamp that the feed gave to the current row; upper bound: `now` less the usual delay. NaN if unknown, or
   *  without a current row. */
  stampedAt(): Millis {
    const { block, row, now } = this
    if (block === undefined) return Number.NaN
    this.learnAges(block, row + 1)
    const { usualMs } = this.#eventAge
    return usualMs === Number.POSITIVE_INFINITY ? Number.NaN : Math.min(block.stamp[row] as number, now - usualMs)
  }

  /** How much older than usual the current row is, ms; 0 without one. */
  eventAgeMs(): number {
    const { block, row } = this
    if (block === undefined) return 0
    this.learnAges(block, row + 1)
    return this.#eventAge.of(this.now - (block.stamp[row] as number))
  }

  /** Creator of a token, recorded when its position opened or when it was announced; '' if the announcement was not
   *  seen. */
  creatorOf(account: string, mint: string): string {
    const held = this.book.positions.get({ account, mint })
    return held?.creator ?? this.launches.of(this.mints.find(mint))?.creator ?? ''
  }

  price(mint: string): number | undefined {
    const token = this.mints.find(mint)
    return token === undefined ? undefined : this.prices.at(token)
  }
}

/** Tracks which bot's handler is running. */
export class Activity {
  /** Index into the bots of the start input; -1: none. */
  running = -1
  readonly #cells: Int32Array | undefined

  /** `cells`: shared memory for a watchdog in another thread. [0] is the running bot, [1] counts handlers. */
  constructor(cells?: Int32Array) {
    this.#cells = cells?.fill(-1, 0, 1)
  }

  /** Marks the begin of a bot's handler and returns the value for `leave`. A handler within another one is not
   *  counted. */
  enter(bot: number): number {
    const before = this.running
    this.running = bot
    const cells = this.#cells
    if (cells !== undefined) {
      cells[0] = bot
      if (before < 0) cells[1] = (cells[1] as number) + 1
    }
    return before
  }

  leave(before: number): void {
    this.running = before
    if (this.#cells !== undefined) this.#cells[0] = before
  }
}

/** Reference counts of subscription keys. Bots want the keys that they declare and watch; the engine wants every mint
 *  with a position or an open order, and a strategy cannot remove those. */
export class Wants {
  readonly #stage: Stage
  readonly #counts = new Map<string, number>()
  /** The set emitted last, and the keys added since. */
  #emitted: readonly string[] = []
  #added: string[] = []
  #dropped = false

  constructor(stage: Stage) {
    this.#stage = stage
  }

  add(key: string): void {
    const count = this.#counts.get(key) ?? 0
    this.#counts.set(key, count + 1)
    if (count === 0) this.#added.push(key)
  }

  drop(key: string): void {
    const count = this.#counts.get(key) ?? 0
    if (count > 1) this.#counts.set(key, count - 1)
    else if (this.#counts.delete(key)) this.#dropped = true
  }

  /** Emits the whole set if it changed. Called at the end of a row or input, and before an order leaves. */
  flush(): void {
    if ((!this.#dropped && this.#added.length === 0) || this.#stage.warming) return
    // Concatenating is several times as fast as iterating the map.
    this.#emitted = this.#dropped ? [...this.#counts.keys()] : this.#emitted.concat(this.#added)
    this.#dropped = false
    this.#added = []
    this.#stage.emit({ kind: 'keys', want: this.#emitted })
  }
}

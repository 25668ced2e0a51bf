import type { Millis, Seq } from '../base/units.ts'
import type { Block, TokenId } from '../market/block.ts'
import { EventAge } from '../market/event-age.ts'
import { Launches } from '../market/launches.ts'
import type { Mints } from '../market/mints.ts'
import { Prices } from '../market/price.ts'
import type { MintFacts } from '../solana/mint.ts'
import { Book } from './accounting/book.ts'
import type { Position } from './accounting/position.ts'
import { QuietTokens } from './bots/quiet-tokens.ts'
import type { ThrownAtOf } from './bots/thrown-value.ts'
import { defaultWindow, type ExitWindow } from './exits/exit-settings.ts'
import { Spending } from './limits/spending.ts'
import type { FeedStatus, Input, Output, StartInput } from './messages.ts'
import { EntryGates } from './outside-gates.ts'
import type { Stage } from './ports.ts'
import type { AccountMoney, BotMoney } from './recovered-money.ts'
import type { Plan } from './settings.ts'
import { Timers } from './timers.ts'

/** State that the parts of the engine share, from one start input to the next: the current time, the money, the prices,
 *  and the list of outputs. */
export class EngineState implements Stage {
  readonly outputs: Output[]
  readonly mints: Mints
  readonly prices: Prices
  readonly book = new Book()
  readonly spending = new Spending()
  readonly launches = new Launches()
  readonly quiet = new QuietTokens()
  readonly timers: Timers
  readonly wants: Wants
  now: Millis = 0
  seq: Seq = 0
  plan: Plan
  feed: FeedStatus = 'down'
  /** Whether the strategies are warming up. Their requests are discarded then. */
  warming = false
  /** Whether strategies have received a part of the warm-up, and no row or input after the warm-up has arrived yet. */
  warmed = false
  /** Whether the process is stopping. Entries are refused then. */
  stopping = false
  readonly gates = new EntryGates()
  /** Facts about mints, by mint. The most recently read ones are kept. */
  readonly mintFacts = new Map<string, MintFacts>()
  nextOrder: number
  /** Window of the exit price for positions that do not set one. */
  readonly exitWindow: ExitWindow
  /** Whether positions are valued at the lower of the robust price and the exit price, and record their best and their
   *  worst profit; see `RecordedExitPrice`. */
  readonly hasMarks: boolean
  /** The block of the current row; undefined while an input is handled. */
  block: Block | undefined
  row = 0
  readonly #eventAge = new EventAge()
  /** Index of the first row that `learnAges` has not processed yet, within the rows of the current call of `rows`. */
  agesFrom = 0
  readonly activity: Activity
  /** Index of the bot whose request overflowed the call stack, so that the books are inconsistent; -1 if there is
   *  none. */
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
    this.hasMarks = exitPrice?.marks === true
    this.book.keepsTrips = this.hasMarks
    this.timers = new Timers(this)
    this.wants = new Wants(this)
    this.nextOrder = money.nextOrder
    this.book.restore(money)
    this.spending.restore(money.spends, money.daySpends)
  }

  /** Ends the engine by an error, because a stack overflow has left the books inconsistent. `activity` still names the
   *  bot, so that the supervisor of the process can report which strategy caused the overflow. */
  end(): never {
    this.activity.enter(this.tornBy)
    throw new Error('invariant broken: a stack overflowed while an order was made')
  }

  /** Adds a decision to the outputs, or discards it during the warm-up. */
  emit(output: Output): void {
    if (!this.warming) this.outputs.push(output)
  }

  // Each output is a copy, because the journal may read it after the original has changed.

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

  /** Applies an input that reports something from outside of the engine: the feed, a condition that stops entries, the
   *  plan, a wallet or a filter list. */
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

  /** Forgets prices and launches of past days, except prices for which `isNeeded` is true. */
  nextDay(isNeeded: (token: TokenId) => boolean): void {
    this.prices.nextDay(isNeeded)
    this.launches.forget()
  }

  /** Halts entries or allows them again; a halt survives a restart. `only`: the account to which this applies;
   *  undefined for all accounts. */
  halt(halted: boolean, only?: string): void {
    for (const account of this.book.accounts.values()) {
      if (only !== undefined && account.account !== only) continue
      account.halted = halted
      this.emitAccount(account)
    }
  }

  /** Starts to record the announcements of tokens, because a limit or a filter needs the creator or the age of a
   *  token. */
  watchLaunches(): void {
    this.launches.isWatched = true
    this.wants.add('newTokens')
  }

  /** Learns the usual lag of rows (time of arrival minus the service's timestamp) from the rows before `to`. Called
   *  when an age is needed and at the end of `rows`, because a call for each row would take twice as long. */
  learnAges(block: Block, to: number): void {
    this.#eventAge.fold(block, this.agesFrom, to)
    this.agesFrom = to
  }

  /** Returns the service's timestamp of the current row, but at most `now` minus the usual time from timestamp to
   *  arrival. NaN if the usual time is unknown, or without a current row. */
  stampedAt(): Millis {
    const { block, row, now } = this
    if (block === undefined) return Number.NaN
    this.learnAges(block, row + 1)
    const { usualMs } = this.#eventAge
    return usualMs === Number.POSITIVE_INFINITY ? Number.NaN : Math.min(block.stamp[row] as number, now - usualMs)
  }

  /** Returns the age of the current row, ms: its lag (time of arrival minus the service's timestamp) minus the usual
   *  lag of rows. 0 without a current row. */
  eventAgeMs(): number {
    const { block, row } = this
    if (block === undefined) return 0
    this.learnAges(block, row + 1)
    return this.#eventAge.of(this.now - (block.stamp[row] as number))
  }

  /** Returns the creator of a token, recorded when its position opened or when it was announced; '' if the announcement
   *  was not seen. */
  creatorOf(account: string, mint: string): string {
    const held = this.book.positions.get({ account, mint })
    return held?.creator ?? this.launches.of(this.mints.find(mint))?.creator ?? ''
  }

  price(mint: string): number | undefined {
    const token = this.mints.find(mint)
    return token === undefined ? undefined : this.prices.at(token)
  }
}

/** Records which bot's handler is running. */
export class Activity {
  /** Index of the bot whose handler is running, in the list of bots of the `start` input; -1 if no handler is
   *  running. */
  running = -1
  /** Number of handlers that have run. */
  runs = 0
  readonly #cells: Int32Array | undefined

  /** `cells`: shared memory that a watchdog in another thread reads. [0] is the index of the running bot, [1] the
   *  number of handlers that have run. */
  constructor(cells?: Int32Array) {
    this.#cells = cells?.fill(-1, 0, 1)
  }

  /** Records that a handler of a bot begins. Returns the value to pass to `leave`. A handler that runs within another
   *  one is not counted in `cells[1]`. */
  enter(bot: number): number {
    const before = this.running
    this.running = bot
    this.runs++
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

/** Counts for each subscription key how many bots and how many parts of the engine want it. Each bot wants the keys
 *  that it declares and watches. The engine wants every mint with a position or an open order, and a strategy cannot
 *  remove these mints. */
export class Wants {
  readonly #stage: Stage
  readonly #counts = new Map<string, number>()
  /** The list of keys that was emitted last. `#added` are the keys added since. */
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

  /** Emits all subscription keys that the bots need, if they changed. Called at the end of a row or input, and before
   *  an order leaves the engine. */
  flush(): void {
    if ((!this.#dropped && this.#added.length === 0) || this.#stage.warming) return
    // Concatenating arrays is several times as fast as iterating the map.
    this.#emitted = this.#dropped ? [...this.#counts.keys()] : this.#emitted.concat(this.#added)
    this.#dropped = false
    this.#added = []
    this.#stage.emit({ kind: 'keys', want: this.#emitted })
  }
}

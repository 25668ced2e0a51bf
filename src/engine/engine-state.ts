import type { Millis, Seq } from '../base/units.ts'
import type { Block, TokenId } from '../market/block.ts'
import { EventAge } from '../market/event-age.ts'
import { Launches } from '../market/launches.ts'
import type { Mints } from '../market/mints.ts'
import { Prices } from '../market/price.ts'
import type { MintFacts } from '../solana/mint.ts'
import { Book } from './accounting/book.ts'
import type { Position } from './accounting/position.ts'
import type { ThrownAtOf } from './bots/thrown.ts'
import { Gates } from './gates.ts'
import { Spending } from './limits/spending.ts'
import type { FeedStatus, Input, Output, StartInput } from './messages.ts'
import type { Stage } from './ports.ts'
import type { AccountMoney, BotMoney } from './recovered-money.ts'
import type { Plan } from './settings.ts'
import { Timers } from './timers.ts'

/** What the parts of the engine share from one start to the next: the instant, the money, the prices, and the one list
 *  of outputs. */
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
  /** Strategies are being shown the past: what they ask for is discarded. */
  warming = false
  /** They were, and nothing has come since. */
  warmed = false
  /** The process ends: nothing is bought any more. */
  stopping = false
  readonly gates = new Gates()
  /** Mints that were read, the last ones. */
  readonly mintFacts = new Map<string, MintFacts>()
  nextOrder: number
  /** The row being handled; undefined while an input is. */
  block: Block | undefined
  row = 0
  readonly #eventAge = new EventAge()
  /** The first row of the run being handled that the usual age of events has not been learned from. */
  agesFrom = 0
  readonly activity: Activity
  /** Who has left half a change behind; -1 for nobody. */
  tornBy = -1

  /** By the path of their file. */
  readonly lists: Map<string, ReadonlySet<string>>

  readonly thrownAt: ThrownAtOf | undefined

  constructor(
    outputs: Output[],
    mints: Mints,
    { plan, units, lists, money }: StartInput,
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
    this.timers = new Timers(this)
    this.wants = new Wants(this)
    this.nextOrder = money.nextOrder
    this.book.restore(money)
    this.spending.restore(money.spends, money.daySpends)
  }

  /** Half a change is in the books. Whose doing it is stays to be seen from outside. */
  end(): never {
    this.activity.enter(this.tornBy)
    throw new Error('invariant broken: a stack overflowed while an order was made')
  }

  /** During a warm-up nothing that is decided counts. */
  emit(output: Output): void {
    if (!this.warming) this.outputs.push(output)
  }

  // What goes out is a copy: the original goes on, and the journal may look at it later.

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

  /** What is so outside from now on. */
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

  /** What is old is forgotten, but for prices that somebody needs. */
  nextDay(isNeeded: (token: TokenId) => boolean): void {
    this.prices.nextDay(isNeeded)
    this.launches.forget()
  }

  /** Entries of every account stop, restarts included, or go on. */
  halt(halted: boolean): void {
    for (const account of this.book.accounts.values()) {
      account.halted = halted
      this.emitAccount(account)
    }
  }

  /** A limit or a filter asks who announced which token. */
  watchLaunches(): void {
    this.launches.isWatched = true
    this.wants.add('newTokens')
  }

  /** Of the rows up to `to`: when somebody asks for an age and at the end of a run, since one by one they would cost
   *  twice as much. */
  learnAges(block: Block, to: number): void {
    this.#eventAge.fold(block, this.agesFrom, to)
    this.agesFrom = to
  }

  /** When the row being handled was stamped by the feed, but no later than such a row is now; NaN where that is not
   *  known, or there is none. */
  stampedAt(): Millis {
    const { block, row, now } = this
    if (block === undefined) return Number.NaN
    this.learnAges(block, row + 1)
    const { usualMs } = this.#eventAge
    return usualMs === Number.POSITIVE_INFINITY ? Number.NaN : Math.min(block.stamp[row] as number, now - usualMs)
  }

  /** How much older than usual the row being handled is, ms; 0 when none is. */
  eventAgeMs(): number {
    const { block, row } = this
    if (block === undefined) return 0
    this.learnAges(block, row + 1)
    return this.#eventAge.of(this.now - (block.stamp[row] as number))
  }

  /** Who made a token, as it was said when its position opened or when it was announced; '' where nobody saw it. */
  creatorOf(account: string, mint: string): string {
    const held = this.book.positions.get({ account, mint })
    return held?.creator ?? this.launches.of(this.mints.find(mint))?.creator ?? ''
  }

  price(mint: string): number | undefined {
    const token = this.mints.find(mint)
    return token === undefined ? undefined : this.prices.at(token)
  }
}

/** Whose handler runs now. */
export class Activity {
  /** An index into the bots of the start; -1 for none. */
  running = -1
  readonly #cells: Int32Array | undefined

  /** `cells`: where a watchdog in another thread sees who it is, and a count that goes up with every handler. */
  constructor(cells?: Int32Array) {
    this.#cells = cells?.fill(-1, 0, 1)
  }

  /** A handler of this bot begins; who ran up to now, for `leave`. One within another is part of it, and not
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

/** The subscription keys that somebody wants, counted: bots want what they declare and watch, the engine wants every
 *  mint with a position or an open order, and a strategy cannot take that away. */
export class Wants {
  readonly #stage: Stage
  readonly #counts = new Map<string, number>()
  /** Said last, and what is wanted since beside it. */
  #said: readonly string[] = []
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

  /** Says the whole set when it changed: at the end of a row or input, and before an order leaves. */
  flush(): void {
    if ((!this.#dropped && this.#added.length === 0) || this.#stage.warming) return
    // The same, and some at its end, is copied several times as fast as the map is gone through.
    this.#said = this.#dropped ? [...this.#counts.keys()] : this.#said.concat(this.#added)
    this.#dropped = false
    this.#added = []
    this.#stage.emit({ kind: 'keys', want: this.#said })
  }
}

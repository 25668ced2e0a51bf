import type { Activity } from './activity.ts'
import type { Block, TokenId } from './block.ts'
import { Book } from './book.ts'
import { EventAge } from './event-age.ts'
import { Gates } from './gates.ts'
import { Launches } from './launches.ts'
import type { FeedStatus, Input, Output, StartInput } from './messages.ts'
import type { MintFacts } from './mint-check.ts'
import type { Mints } from './mints.ts'
import type { AccountMoney, BotMoney } from './money.ts'
import type { Position } from './position.ts'
import { Prices } from './price.ts'
import type { Plan } from './settings.ts'
import { Spending } from './spending.ts'
import type { Stage } from './stage.ts'
import type { ThrownAtOf } from './thrown.ts'
import { Timers } from './timers.ts'
import type { Millis, Seq } from './units.ts'
import { Wants } from './wants.ts'

/** What the parts of the engine share from one start to the next: the instant, the money, the prices, and the one list of outputs. */
export class Session implements Stage {
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
  nextOrder = 1
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
    { plan, units, lists }: StartInput,
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

  /** Of the rows up to `to`: when somebody asks for an age and at the end of a run, since one by one they would cost twice as much. */
  learnAges(block: Block, to: number): void {
    this.#eventAge.fold(block, this.agesFrom, to)
    this.agesFrom = to
  }

  /** When the row being handled was stamped by the feed, but no later than such a row is now; NaN where that is not known, or there is none. */
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

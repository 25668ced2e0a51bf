import { Allowance } from './allowance.ts'
import { isPublicKey } from './base58.ts'
import type { Client, Desk } from './desk.ts'
import type { ErrorCode, Refusal } from './errors.ts'
import { readExits } from './exit-request.ts'
import type { ExitRules } from './exits.ts'
import { type Json, plainJson, sizeOf } from './json.ts'
import { stepTokensDue } from './position.ts'
import { quoteBuy, quoteSell } from './quotes.ts'
import { type Random, seededRandom } from './random.ts'
import { readText } from './requests.ts'
import type { Results } from './results.ts'
import type { Session } from './session.ts'
import type {
  Answer,
  Bot,
  BuyOptions,
  FillView,
  OrderView,
  Placed,
  PositionView,
  Quote,
  SellOptions,
  Token,
} from './strategy.ts'
import { lamportsToSol, type Millis } from './units.ts'
import { fillView, HeldView, orderView, type TokenView } from './views.ts'

const FILLS_SHOWN = 100
/** Characters of a state that count as one request. */
const STATE_A_REQUEST = 1000
/** A refusal with the same code as the last of its token is not said again within this time. */
export const SAME_REFUSAL_MS = 1000
const LONGEST_MINT = 64
const WARMING = { ok: false, code: 'WARMING', reason: 'the bot is being shown the past' } as const
const LONGEST_TIMER_SECONDS = 1e9

/** Its place in the engine. */
export interface Seat {
  readonly index: number
  /** Gives its position in a mint other exits; false when there is none. */
  setExits(mint: string, exits: ExitRules): boolean
  /** Shows it the rows of one token, or no longer. */
  watch(token: number, on: boolean): void
}

/** The trader behind the handle. */
export interface Host extends Client {
  /** Keys of its own, which decide what reaches it. */
  readonly keys: Set<string>
  /** Its strategy's `start` is running. */
  readonly starting: boolean
  viewOf(token: number): TokenView
  refresh(mint: string): TokenView
}

/** What a strategy gets as `bot`: everything it may ask for, answered at once. What could be a market's doing is refused with its reason;
 *  what can only be a mistake in the strategy throws, and so ends its entries. */
export class BotHandle implements Bot<unknown> {
  readonly #session: Session
  readonly #desk: Desk
  readonly #results: Results
  readonly #host: Host
  readonly #seat: Seat
  readonly #random: Random
  readonly #allowance = new Allowance()

  constructor(session: Session, desk: Desk, results: Results, host: Host, seat: Seat) {
    this.#session = session
    this.#desk = desk
    this.#results = results
    this.#host = host
    this.#seat = seat
    this.#random = seededRandom(host.settings.seed)
  }

  get name(): string {
    return this.#host.settings.name
  }

  get state(): Json {
    return this.#host.money.state
  }

  set state(state: Json) {
    this.#assertHandling()
    const saved = plainJson(state, 'bot.state')
    if (this.#session.warming) return
    this.#allowance.take(this.#session.now, sizeOf(saved) / STATE_A_REQUEST)
    this.#host.money.state = saved
    this.#session.emitBot(this.#host.money)
  }

  now(): Millis {
    return this.#session.now
  }

  random(): number {
    this.#assertHandling()
    return this.#random.next()
  }

  token(mint: string): TokenView | undefined {
    const token = this.#session.mints.find(mint)
    return token === undefined ? undefined : this.#host.viewOf(token)
  }

  position(mint: string): PositionView | undefined {
    return this.token(mint)?.held
  }

  positions(): PositionView[] {
    const all = this.#session.book.positions.of(this.#host.settings.account.id)
    const own = [...all.values()].filter((position) => position.bot === this.name)
    return own.map((position) => new HeldView(this.#session, position))
  }

  orders(): OrderView[] {
    const all = this.#session.book.orders.of(this.#host.settings.account.id)
    const own = all.filter(({ order }) => order.bot === this.name)
    return own.map(({ order, state }) => orderView(order, state, '', order.reason))
  }

  fills(): FillView[] {
    const all = this.#session.book.fills.of(this.#host.settings.account.id)
    const own = [...all.values()].filter((fill) => fill.bot === this.name)
    return own.slice(-FILLS_SHOWN).map(fillView)
  }

  wallet(): { sol: number | undefined; reservedSol: number } {
    const { book } = this.#session
    const balance = book.accounts.get(this.#host.settings.account.id)?.lamports ?? null
    return {
      sol: balance === null ? undefined : lamportsToSol(balance),
      reservedSol: lamportsToSol(book.reserved(this.#host.settings.account.id)),
    }
  }

  budget(): { solThisHour: number; profitTodaySol: number; halted: boolean } {
    const { party } = this.#host
    return {
      solThisHour: lamportsToSol(party.spending.reduce((sum, bot) => sum + bot.hour(this.#session.now), 0)),
      profitTodaySol: lamportsToSol(this.#results.today(party)),
      halted: this.#session.book.accounts.get(this.#host.settings.account.id)?.halted ?? false,
    }
  }

  buy(token: Token | string, options: BuyOptions): Placed {
    return this.#place(token, (mint) => this.#desk.buy(this.#host, mint, options))
  }

  sell(token: Token | string, options: SellOptions): Placed {
    return this.#place(token, (mint) => this.#desk.sell(this.#host, mint, options))
  }

  cancel(orderId: string): boolean {
    this.#ask()
    const { orders, positions } = this.#session.book
    const open = orders.get(orderId)
    if (this.#session.warming || open === undefined || open.order.bot !== this.name || open.state !== 'accepted')
      return false
    const isDue = positions
      .ofMint(open.order.mint)
      .some((position) => position.exiting !== '' || stepTokensDue(position) > 0n)
    if (open.order.side === 'sell' && isDue) return false
    this.#session.emit({ kind: 'cancel', orderId, code: 'CANCELLED' })
    return true
  }

  setExits(token: Token | string, exits: ExitRules): Answer {
    this.#ask()
    const mint = mintOf(token)
    if (this.#session.warming) return WARMING
    const rules = readExits(exits)
    if (typeof rules === 'string') return this.#refuse(mint, 'REQUEST_INVALID', rules)
    if (this.position(mint) !== undefined && this.#seat.setExits(mint, rules)) return { ok: true }
    return this.#refuse(mint, 'NO_POSITION', `${this.name} holds nothing of it`)
  }

  quoteBuy(token: Token | string, sol: number): Quote | undefined {
    const price = this.#session.price(mintOf(token))
    return price === undefined || !isAmount(sol) ? undefined : quoteBuy(sol, price)
  }

  quoteSell(token: Token | string, tokens: number | 'all'): Quote | undefined {
    const price = this.#session.price(mintOf(token))
    const amount = tokens === 'all' ? (this.position(mintOf(token))?.tokens ?? 0) : tokens
    return price === undefined || !isAmount(amount) ? undefined : quoteSell(amount, price)
  }

  every(name: string, seconds: number): void {
    this.#setTimer(name, seconds, true)
  }

  after(name: string, seconds: number): void {
    this.#setTimer(name, seconds, false)
  }

  clear(name: string): void {
    this.#ask()
    if (!this.#session.warming) this.#session.timers.clear(this.name, name)
  }

  watch(mint: string): boolean {
    this.#ask()
    if (!isPublicKey(mint)) return false
    if (this.#host.keys.has(mint)) return true
    this.#host.keys.add(mint)
    this.#session.wants.add(mint)
    this.#seat.watch(this.#session.mints.intern(mint), true)
    return true
  }

  unwatch(mint: string): void {
    this.#ask()
    if (!isPublicKey(mint) || !this.#host.keys.delete(mint)) return
    this.#session.wants.drop(mint)
    this.#seat.watch(this.#session.mints.intern(mint), false)
  }

  note(mint: string, why: string): void {
    this.#ask()
    const about = readText(mint, LONGEST_MINT)
    const reason = readText(why)
    if (about === undefined || reason === undefined) throw new TypeError('bot.note takes a mint and a text')
    this.#session.emit({ kind: 'note', bot: this.name, mint: about, code: '', reason })
  }

  /** A strategy sets its timers in `start`; after a restart the one that runs goes on. */
  #setTimer(name: string, seconds: number, repeats: boolean): void {
    this.#ask()
    if (typeof name !== 'string' || name === '' || readText(name) !== name)
      throw new TypeError('the name of a timer is a text')
    if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= LONGEST_TIMER_SECONDS))
      throw new RangeError(`timer ${name}: ${seconds} seconds`)
    const { timers, warming, now } = this.#session
    const ms = Math.max(1, Math.round(seconds * 1000))
    const everyMs = repeats ? ms : 0
    const running = this.#host.starting ? timers.find(this.name, name) : undefined
    const goesOn = running !== undefined && (!repeats || running.everyMs === everyMs)
    if (!goesOn && !warming) timers.set(this.name, name, now + ms, everyMs)
  }

  #place(token: Token | string, place: (mint: string) => Placed): Placed {
    this.#ask()
    if (this.#session.warming || this.#host.starting) return WARMING
    const mint = mintOf(token)
    if (!this.#isMint(mint)) return this.#refuse(mint, 'MINT_INVALID', 'not a base58 key of 32 bytes')
    const placed = this.#whole(() => place(mint))
    if (!placed.ok) return this.#refuse(mint, placed.code, placed.reason)
    this.#host.refresh(mint)
    return placed
  }

  /** One that is known was proved when it became known. */
  #isMint(mint: string): boolean {
    return this.#session.mints.find(mint) !== undefined || isPublicKey(mint)
  }

  #refuse(mint: string, code: ErrorCode, reason: string): { ok: false } & Refusal {
    const view = this.#isMint(mint) ? this.#host.viewOf(this.#session.mints.intern(mint)) : undefined
    const now = this.#session.now
    if (view === undefined || view.refusedCode !== code || now - view.refusedAt >= SAME_REFUSAL_MS) {
      const about = readText(mint, LONGEST_MINT) ?? ''
      this.#session.emit({ kind: 'refused', bot: this.name, mint: about, code, reason })
      if (view !== undefined) Object.assign(view, { refusedCode: code, refusedAt: now })
    }
    return { ok: false, code, reason }
  }

  /** A stack that ends in the middle of an order leaves half of it in the books: no engine goes on with that. */
  #whole<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      if (error instanceof RangeError && error.message.includes('call stack')) this.#session.tornBy = this.#seat.index
      throw error
    }
  }

  #ask(): void {
    this.#assertHandling()
    if (!this.#session.warming) this.#allowance.take(this.#session.now)
  }

  /** What is asked for later, from a promise or a timer of the strategy's own, has no place in the stream: it could not be repeated. */
  #assertHandling(): void {
    if (this.#session.active[0] !== this.#seat.index)
      throw new Error(`${this.name} uses its bot outside of a handler; a handler ends before it returns`)
  }
}

function mintOf(token: Token | string): string {
  return typeof token === 'string' ? token : token.mint
}

function isAmount(value: number): boolean {
  return value > 0 && value < Number.POSITIVE_INFINITY
}

import { isPublicKey } from './base58.ts'
import type { Client, Desk } from './desk.ts'
import type { ErrorCode } from './errors.ts'
import type { ExitRules } from './exits.ts'
import type { Json } from './json.ts'
import { quoteBuy, quoteSell } from './quotes.ts'
import { deriveSeed, type Random, seededRandom } from './random.ts'
import { solThisHour } from './risk.ts'
import type { Session } from './session.ts'
import type {
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
const SAME_REFUSAL_MS = 1000

/** Its place in the engine. */
export interface Seat {
  readonly index: number
  /** Gives its open position in a mint other exits; false when there is none. */
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

/** What a strategy gets as `bot`: everything it may ask for, answered at once. */
export class BotHandle implements Bot<unknown> {
  readonly #session: Session
  readonly #desk: Desk
  readonly #host: Host
  readonly #seat: Seat
  readonly #random: Random

  constructor(session: Session, desk: Desk, host: Host, seat: Seat) {
    this.#session = session
    this.#desk = desk
    this.#host = host
    this.#seat = seat
    this.#random = seededRandom(deriveSeed(host.settings.seed, host.settings.name))
  }

  get name(): string {
    return this.#host.settings.name
  }

  get state(): Json {
    return this.#host.money.state
  }

  set state(state: Json) {
    if (this.#session.warming) return
    this.#host.money.state = state
    this.#session.emitBot(this.#host.money)
  }

  now(): Millis {
    return this.#session.now
  }

  random(): number {
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
    const own = [...this.#session.book.positions.values()].filter((position) => position.bot === this.name)
    return own.map((position) => new HeldView(this.#session, position))
  }

  orders(): OrderView[] {
    const own = [...this.#session.book.orders.values()].filter(({ order }) => order.bot === this.name)
    return own.map(({ order, state }) => orderView(order, state, '', order.reason))
  }

  fills(): FillView[] {
    const own = [...this.#session.book.fills.values()].filter((fill) => fill.bot === this.name)
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
    return {
      solThisHour: lamportsToSol(solThisHour(this.#host.money, this.#session.now)),
      profitTodaySol: lamportsToSol(this.#desk.dayLamports(this.#host)),
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
    const open = this.#session.book.orders.get(orderId)
    if (open === undefined || open.order.bot !== this.name || open.state !== 'accepted') return false
    this.#session.emit({ kind: 'cancel', orderId, code: 'CANCELLED' })
    return true
  }

  setExits(token: Token | string, exits: ExitRules): boolean {
    return (
      !this.#session.warming && this.position(mintOf(token)) !== undefined && this.#seat.setExits(mintOf(token), exits)
    )
  }

  quoteBuy(token: Token | string, sol: number): Quote | undefined {
    const price = this.#session.price(mintOf(token))
    return price === undefined || !(sol > 0) ? undefined : quoteBuy(sol, price)
  }

  quoteSell(token: Token | string, tokens: number | 'all'): Quote | undefined {
    const price = this.#session.price(mintOf(token))
    const amount = tokens === 'all' ? (this.position(mintOf(token))?.tokens ?? 0) : tokens
    return price === undefined || !(amount > 0) ? undefined : quoteSell(amount, price)
  }

  every(name: string, seconds: number): void {
    const everyMs = Math.max(1, Math.round(seconds * 1000))
    // A strategy sets its timers in `start`; after a restart the one that runs goes on.
    if (this.#host.starting && this.#session.timers.find(this.name, 'strategy', name)?.everyMs === everyMs) return
    if (!this.#session.warming)
      this.#session.timers.set(this.name, 'strategy', name, this.#session.now + everyMs, everyMs)
  }

  after(name: string, seconds: number): void {
    if (this.#host.starting && this.#session.timers.find(this.name, 'strategy', name) !== undefined) return
    if (!this.#session.warming)
      this.#session.timers.set(
        this.name,
        'strategy',
        name,
        this.#session.now + Math.max(1, Math.round(seconds * 1000)),
        0,
      )
  }

  clear(name: string): void {
    if (!this.#session.warming) this.#session.timers.clear(this.name, 'strategy', name)
  }

  watch(mint: string): boolean {
    if (!isPublicKey(mint)) return false
    if (this.#host.keys.has(mint)) return true
    this.#host.keys.add(mint)
    this.#session.wants.add(mint)
    this.#seat.watch(this.#session.mints.intern(mint), true)
    return true
  }

  unwatch(mint: string): void {
    if (!this.#host.keys.delete(mint)) return
    this.#session.wants.drop(mint)
    this.#seat.watch(this.#session.mints.intern(mint), false)
  }

  note(mint: string, why: string): void {
    this.#session.emit({ kind: 'note', bot: this.name, mint, code: '', reason: why })
  }

  #place(token: Token | string, place: (mint: string) => Placed): Placed {
    if (this.#session.warming) return { ok: false, code: 'WARMING', reason: 'the bot is being shown the past' }
    const mint = mintOf(token)
    if (typeof token === 'string' && !isPublicKey(mint))
      return this.#refuse(mint, 'MINT_INVALID', 'not a base58 key of 32 bytes')
    const placed = place(mint)
    if (!placed.ok) return this.#refuse(mint, placed.code, placed.reason)
    this.#host.refresh(mint)
    return placed
  }

  #refuse(mint: string, code: ErrorCode, reason: string): Placed {
    const view = isPublicKey(mint) ? this.#host.viewOf(this.#session.mints.intern(mint)) : undefined
    const now = this.#session.now
    if (view === undefined || view.refusedCode !== code || now - view.refusedAt >= SAME_REFUSAL_MS) {
      this.#session.emit({ kind: 'refused', bot: this.name, mint: mint.slice(0, 64), code, reason })
      if (view !== undefined) Object.assign(view, { refusedCode: code, refusedAt: now })
    }
    return { ok: false, code, reason }
  }
}

function mintOf(token: Token | string): string {
  return typeof token === 'string' ? token : token.mint
}

import { isPublicKey } from './base58.ts'
import { type Block, NewToken, PriceUpdate, RowKind, Trade } from './block.ts'
import { keyOf } from './book.ts'
import { reservesAt, solFor, tokensFor, VENUE_FEE } from './curve.ts'
import type { Desk } from './desk.ts'
import type { ErrorCode } from './errors.ts'
import type { ExitRules } from './exits.ts'
import type { Json } from './json.ts'
import type { BotMoney } from './money.ts'
import { deriveSeed, type Random, seededRandom } from './random.ts'
import { BASE_FEE, solThisHour, TOKEN_ACCOUNT_RENT } from './risk.ts'
import type { Session } from './session.ts'
import type { BotSettings } from './settings.ts'
import type {
  Bot,
  BuyOptions,
  FillView,
  Handlers,
  OrderView,
  Placed,
  PositionView,
  Quote,
  SellOptions,
  Strategy,
  Token,
} from './strategy.ts'
import { lamportsToSol, type Millis } from './units.ts'
import { fillView, HeldView, orderView, TokenView } from './views.ts'

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

/** One bot in the engine: its strategy, the tokens as it sees them, and what it may ask for. */
export class Trader implements Bot<unknown> {
  readonly settings: BotSettings
  readonly money: BotMoney
  readonly strategy: Strategy
  /** Keys of its own, which decide what reaches it. */
  readonly keys: Set<string>
  handlers: Handlers<unknown> = {}
  readonly #session: Session
  readonly #desk: Desk
  readonly #seat: Seat
  readonly #tokens: (TokenView | undefined)[] = []
  readonly #random: Random
  #starting = false

  constructor(session: Session, desk: Desk, settings: BotSettings, money: BotMoney, strategy: Strategy, seat: Seat) {
    this.#session = session
    this.#desk = desk
    this.settings = settings
    this.money = money
    this.strategy = strategy
    this.#seat = seat
    this.keys = new Set(strategy.keys)
    this.#random = seededRandom(deriveSeed(settings.seed, settings.name))
  }

  start(): void {
    this.#starting = true
    this.guard(() => {
      this.handlers = this.strategy.start(this.settings.params, this)
    })
    this.#starting = false
  }

  /** Shows a market row to the strategy. */
  row(block: Block, row: number, token: number): void {
    const view = this.#tokens[token] ?? this.viewOf(token)
    const kind = block.kind[row] as RowKind
    const { handlers } = this
    const { active } = this.#session
    active[0] = this.#seat.index
    try {
      if (kind <= RowKind.sell) handlers.onTrade?.(new Trade(block, row), view)
      else if (kind === RowKind.newToken) handlers.onNewToken?.(new NewToken(block, row), view)
      else handlers.onPriceUpdate?.(new PriceUpdate(block, row), view)
    } catch (error) {
      this.broke(error)
    }
    active[0] = -1
  }

  /** Runs a handler; a strategy that throws goes to exits only, the others go on. */
  guard(run: () => void): void {
    this.#session.active[0] = this.#seat.index
    try {
      run()
    } catch (error) {
      this.broke(error)
    }
    this.#session.active[0] = -1
  }

  broke(error: unknown): void {
    this.handlers = {}
    this.money.status = 'exits-only'
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    this.#session.emit({ kind: 'bot', money: { ...this.money, buys: [...this.money.buys] } })
    this.#session.emit({ kind: 'alarm', bot: this.name, code: 'STRATEGY_THREW', reason })
  }

  viewOf(token: number): TokenView {
    const known = this.#tokens[token]
    if (known !== undefined) return known
    const view = new TokenView(this.#session, token, this.strategy.token?.())
    this.#tokens[token] = view
    const position = this.#session.book.positions.get(keyOf({ account: this.settings.account.id, mint: view.mint }))
    if (position?.bot === this.name) view.held = new HeldView(this.#session, position)
    return view
  }

  /** After its position in a mint began or ended. */
  refresh(mint: string): TokenView {
    const view = this.viewOf(this.#session.mints.intern(mint))
    const position = this.#session.book.positions.get(keyOf({ account: this.settings.account.id, mint }))
    if (position === undefined || position.bot !== this.name) view.held = undefined
    else if (view.held?.position !== position) view.held = new HeldView(this.#session, position)
    return view
  }

  // what a strategy may call

  get index(): number {
    return this.#seat.index
  }

  get name(): string {
    return this.settings.name
  }

  get state(): Json {
    return this.money.state
  }

  set state(state: Json) {
    if (this.#session.warming) return
    this.money.state = state
    this.#session.emit({ kind: 'bot', money: { ...this.money, buys: [...this.money.buys] } })
  }

  now(): Millis {
    return this.#session.now
  }

  random(): number {
    return this.#random.next()
  }

  token(mint: string): TokenView | undefined {
    const token = this.#session.mints.find(mint)
    return token === undefined ? undefined : this.viewOf(token)
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
    const balance = book.accounts.get(this.settings.account.id)?.lamports ?? null
    return {
      sol: balance === null ? undefined : lamportsToSol(balance),
      reservedSol: lamportsToSol(book.reserved(this.settings.account.id)),
    }
  }

  budget(): { solThisHour: number; profitTodaySol: number; halted: boolean } {
    return {
      solThisHour: lamportsToSol(solThisHour(this.money, this.#session.now)),
      profitTodaySol: lamportsToSol(this.#desk.dayLamports(this)),
      halted: this.#session.book.accounts.get(this.settings.account.id)?.halted ?? false,
    }
  }

  buy(token: Token | string, options: BuyOptions): Placed {
    return this.#place(token, (mint) => this.#desk.buy(this, mint, options))
  }

  sell(token: Token | string, options: SellOptions): Placed {
    return this.#place(token, (mint) => this.#desk.sell(this, mint, options))
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
    if (price === undefined || !(sol > 0)) return undefined
    const tokens = tokensFor(sol, reservesAt(price))
    const fees = sol - sol / (1 + VENUE_FEE)
    const impactPercent = ((sol - fees) / tokens / price - 1) * 100
    return {
      sol,
      tokens,
      impactPercent,
      feesSol: fees + lamportsToSol(BASE_FEE + TOKEN_ACCOUNT_RENT),
      confidence: 'estimate',
    }
  }

  quoteSell(token: Token | string, tokens: number | 'all'): Quote | undefined {
    const price = this.#session.price(mintOf(token))
    const amount = tokens === 'all' ? (this.position(mintOf(token))?.tokens ?? 0) : tokens
    if (price === undefined || !(amount > 0)) return undefined
    const sol = solFor(amount, reservesAt(price))
    const gross = sol / (1 - VENUE_FEE)
    return {
      sol,
      tokens: amount,
      impactPercent: (1 - gross / amount / price) * 100,
      feesSol: gross - sol + lamportsToSol(BASE_FEE),
      confidence: 'estimate',
    }
  }

  every(name: string, seconds: number): void {
    const everyMs = Math.max(1, Math.round(seconds * 1000))
    // A strategy sets its timers in `start`; after a restart the one that runs goes on.
    if (this.#starting && this.#session.timers.find(this.name, 'strategy', name)?.everyMs === everyMs) return
    if (!this.#session.warming)
      this.#session.timers.set(this.name, 'strategy', name, this.#session.now + everyMs, everyMs)
  }

  after(name: string, seconds: number): void {
    if (this.#starting && this.#session.timers.find(this.name, 'strategy', name) !== undefined) return
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
    if (this.keys.has(mint)) return true
    this.keys.add(mint)
    this.#session.wants.add(mint)
    this.#seat.watch(this.#session.mints.intern(mint), true)
    return true
  }

  unwatch(mint: string): void {
    if (!this.keys.delete(mint)) return
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
    this.refresh(mint)
    return placed
  }

  #refuse(mint: string, code: ErrorCode, reason: string): Placed {
    const view = isPublicKey(mint) ? this.viewOf(this.#session.mints.intern(mint)) : undefined
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

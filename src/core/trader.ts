import { type Block, NewToken, PriceUpdate, RowKind, Trade } from './block.ts'
import { keyOf } from './book.ts'
import { BotHandle, type Host, type Seat } from './bot-handle.ts'
import type { Desk } from './desk.ts'
import type { BotMoney } from './money.ts'
import type { Session } from './session.ts'
import type { BotSettings } from './settings.ts'
import type { Handlers, Strategy } from './strategy.ts'
import { HeldView, TokenView } from './views.ts'

/** One bot in the engine: its strategy, and the tokens as it sees them. */
export class Trader implements Host {
  readonly settings: BotSettings
  readonly money: BotMoney
  readonly strategy: Strategy
  /** Keys of its own, which decide what reaches it. */
  readonly keys: Set<string>
  handlers: Handlers<unknown> = {}
  readonly #session: Session
  readonly #seat: Seat
  readonly #tokens: (TokenView | undefined)[] = []
  readonly #bot: BotHandle
  starting = false

  constructor(session: Session, desk: Desk, settings: BotSettings, money: BotMoney, strategy: Strategy, seat: Seat) {
    this.#session = session
    this.settings = settings
    this.money = money
    this.strategy = strategy
    this.#seat = seat
    this.keys = new Set(strategy.keys)
    this.#bot = new BotHandle(session, desk, this, seat)
  }

  start(): void {
    this.starting = true
    this.guard(() => {
      this.handlers = this.strategy.start(this.settings.params, this.#bot)
    })
    this.starting = false
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
    this.#session.emitBot(this.money)
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

  get name(): string {
    return this.settings.name
  }

  get index(): number {
    return this.#seat.index
  }
}

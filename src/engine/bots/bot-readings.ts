import { lamportsToSol, type Millis } from '../../base/units.ts'
import { isPublicKey } from '../../solana/base58.ts'
import { BASE_FEE, TOKEN_ACCOUNT_RENT } from '../../solana/constants.ts'
import { reservesAt, solFor, tokensFor, VENUE_FEE } from '../../solana/pool-depth.ts'
import type { EngineState } from '../engine-state.ts'
import { conditionalView } from '../exits/conditional.ts'
import type { Conditionals } from '../exits/conditionals.ts'
import type { Results } from '../limits/results.ts'
import type { Client } from '../order-factory.ts'
import type { FillView, OrderView, PositionView, Quote, Token } from '../strategy.ts'
import { fillView, HeldView, orderView, type TokenView } from './views.ts'

const FILLS_SHOWN = 100

/** The trader behind the handle. */
export interface Host extends Client {
  /** Keys of its own, which decide what reaches it. */
  readonly keys: Set<string>
  /** Its strategy's `start` is running. */
  readonly starting: boolean
  viewOf(token: number): TokenView
  refresh(mint: string): TokenView
}

/** What a strategy may look at. */
export class BotReadings {
  readonly #session: EngineState
  readonly #results: Results
  readonly #conditionals: Conditionals
  readonly #host: Host

  constructor(session: EngineState, results: Results, conditionals: Conditionals, host: Host) {
    this.#session = session
    this.#results = results
    this.#conditionals = conditionals
    this.#host = host
  }

  get name(): string {
    return this.#host.settings.name
  }

  now(): Millis {
    return this.#session.now
  }

  token(mint: string): TokenView | undefined {
    return this.isMint(mint) ? this.#host.viewOf(this.#session.mints.intern(mint)) : undefined
  }

  /** Not only what was seen: that hangs on how far a process has read ahead. What is known was proved when it became
   *  known. */
  protected isMint(mint: string): boolean {
    return this.#session.mints.find(mint) !== undefined || isPublicKey(mint)
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
    const conditional = this.#conditionals.of(this.#host).map(conditionalView)
    return [...own.map(({ order, state }) => orderView(order, state, '', order.reason)), ...conditional]
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

  quoteBuy(token: Token | string, sol: number): Quote | undefined {
    return quoteBuy(sol, this.#session.price(mintOf(token)))
  }

  quoteSell(token: Token | string, tokens: number | 'all'): Quote | undefined {
    const amount = tokens === 'all' ? (this.position(mintOf(token))?.tokens ?? 0) : tokens
    return quoteSell(amount, this.#session.price(mintOf(token)))
  }
}

export function mintOf(token: Token | string): string {
  return typeof token === 'string' ? token : token.mint
}

/** What `sol` would buy at `price` (SOL a token), own impact in; undefined without a price, or for what is no
 *  amount. */
export function quoteBuy(sol: number, price: number | undefined): Quote | undefined {
  if (price === undefined || !isAmount(sol)) return undefined
  const tokens = tokensFor(sol, reservesAt(price))
  const venueFee = sol - sol / (1 + VENUE_FEE)
  const impactPercent = ((sol - venueFee) / tokens / price - 1) * 100
  return {
    sol,
    tokens,
    impactPercent,
    feesSol: venueFee + lamportsToSol(BASE_FEE + TOKEN_ACCOUNT_RENT),
    confidence: 'estimate',
  }
}

/** What selling `tokens` whole tokens at `price` would bring. */
export function quoteSell(tokens: number, price: number | undefined): Quote | undefined {
  if (price === undefined || !isAmount(tokens)) return undefined
  const sol = solFor(tokens, reservesAt(price))
  const gross = sol / (1 - VENUE_FEE)
  const impactPercent = (1 - gross / tokens / price) * 100
  return { sol, tokens, impactPercent, feesSol: gross - sol + lamportsToSol(BASE_FEE), confidence: 'estimate' }
}

function isAmount(value: number): boolean {
  return value > 0 && value < Number.POSITIVE_INFINITY
}

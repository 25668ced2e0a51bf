import { lamportsToSol, type Millis } from '../../base/units.ts'
import { isPublicKey } from '../../solana/base58.ts'
import type { Liquidation } from '../accounting/liquidation.ts'
import type { EngineState } from '../engine-state.ts'
import type { ConditionalBook } from '../exits/conditional-book.ts'
import { conditionalView } from '../exits/conditional-order.ts'
import type { BotResults } from '../limits/result-figures.ts'
import type { EquityView, FillView, OrderView, PositionView, Quote, Token } from '../strategy.ts'
import type { BotContext, BotHost } from './bot-context.ts'
import { quoteBuy, quoteSell } from './quotes.ts'
import { fillView, HeldView, orderView, type TokenView } from './views.ts'

const FILLS_SHOWN = 100

/** The read-only part of the handle that a strategy receives. */
export class BotReadings {
  readonly #state: EngineState
  readonly #results: BotResults
  readonly #liquidation: Liquidation
  readonly #conditionals: ConditionalBook
  readonly #host: BotHost

  constructor({ state, results, liquidation, conditionals }: BotContext, host: BotHost) {
    this.#state = state
    this.#results = results
    this.#liquidation = liquidation
    this.#conditionals = conditionals
    this.#host = host
  }

  get name(): string {
    return this.#host.settings.name
  }

  now(): Millis {
    return this.#state.now
  }

  token(mint: string): TokenView | undefined {
    return this.isMint(mint) ? this.#host.viewOf(this.#state.mints.intern(mint)) : undefined
  }

  /** Whether `mint` is a base58 public key. A mint that the engine knows needs no check. Whether the engine knows a
   *  mint must not change the result, because this depends on how far the process has read ahead, and may differ in a
   *  replay. */
  protected isMint(mint: string): boolean {
    return this.#state.mints.find(mint) !== undefined || isPublicKey(mint)
  }

  position(mint: string): PositionView | undefined {
    return this.token(mint)?.held
  }

  positions(): PositionView[] {
    const all = this.#state.book.positions.of(this.#host.settings.account.id)
    const own = [...all.values()].filter((position) => position.bot === this.name)
    return own.map((position) => new HeldView(this.#liquidation, position))
  }

  orders(): OrderView[] {
    const all = this.#state.book.orders.of(this.#host.settings.account.id)
    const own = all.filter(({ order }) => order.bot === this.name)
    const conditional = this.#conditionals.of(this.#host).map(conditionalView)
    return [...own.map(({ order, state }) => orderView(order, state, '', order.reason)), ...conditional]
  }

  fills(): FillView[] {
    const all = this.#state.book.fills.of(this.#host.settings.account.id)
    const own = [...all.values()].filter((fill) => fill.bot === this.name)
    return own.slice(-FILLS_SHOWN).map(fillView)
  }

  wallet(): { sol: number | undefined; reservedSol: number } {
    const { book } = this.#state
    const balance = book.accounts.get(this.#host.settings.account.id)?.lamports ?? null
    return {
      sol: balance === null ? undefined : lamportsToSol(balance),
      reservedSol: lamportsToSol(book.reserved(this.#host.settings.account.id)),
    }
  }

  equity(): EquityView {
    const { book } = this.#state
    const { id } = this.#host.settings.account
    const balance = book.accounts.get(id)?.lamports ?? null
    const values = { all: 0, own: 0, unpriced: 0 }
    for (const position of book.positions.of(id).values()) {
      const value = this.#liquidation.of(position)
      if (value === undefined) values.unpriced++
      values.all += value ?? 0
      if (position.bot === this.name) values.own += value ?? 0
    }
    return {
      sol: balance === null ? undefined : lamportsToSol(balance + values.all),
      walletSol: balance === null ? undefined : lamportsToSol(balance),
      positionsSol: lamportsToSol(values.all),
      ownPositionsSol: lamportsToSol(values.own),
      unpriced: values.unpriced,
    }
  }

  budget(): { solThisHour: number; profitTodaySol: number; halted: boolean } {
    const { scope } = this.#host
    return {
      solThisHour: lamportsToSol(scope.spending.reduce((sum, bot) => sum + bot.hour(this.#state.now), 0)),
      profitTodaySol: lamportsToSol(this.#results.today(scope)),
      halted: this.#state.book.accounts.get(this.#host.settings.account.id)?.halted ?? false,
    }
  }

  quoteBuy(token: Token | string, sol: number): Quote | undefined {
    return quoteBuy(sol, this.#state.price(mintOf(token)), this.#host.settings.quoteFees)
  }

  quoteSell(token: Token | string, tokens: number | 'all'): Quote | undefined {
    const amount = tokens === 'all' ? (this.position(mintOf(token))?.tokens ?? 0) : tokens
    return quoteSell(amount, this.#state.price(mintOf(token)), this.#host.settings.quoteFees)
  }
}

export function mintOf(token: Token | string): string {
  return typeof token === 'string' ? token : token.mint
}

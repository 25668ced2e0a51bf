import type { EngineState } from '../engine-state.ts'
import { type BotMoney, NO_RESULTS, type ResultSums } from '../recovered-money.ts'
import type { BotSettings } from '../settings.ts'
import { asksForLaunches, walletSection } from '../settings.ts'
import { isBound, type Limits } from './limit-rules.ts'
import type { BotSpending } from './spending.ts'

/** Scope of limits: one bot, or all bots of a wallet together. */
export interface LimitScope {
  /** Section of the YAML that sets the limits. */
  readonly section: string
  readonly account: string
  /** The bot of the scope; null for all bots that trade with the wallet. */
  readonly bot: string | null
  readonly limits: Limits
  /** Whether any limit is set. If not, the figures for the limits are not computed. */
  readonly isBound: boolean
  readonly sums: ResultSums
  readonly spending: readonly BotSpending[]
  /** Emits the sums after a change, so that the journal records them. */
  emit(): void
}

export class BotScope implements LimitScope {
  readonly section = 'limits'
  readonly account: string
  readonly bot: string
  readonly limits: Limits
  readonly isBound: boolean
  readonly sums: BotMoney
  readonly spending: readonly [BotSpending]
  readonly #state: EngineState

  constructor(state: EngineState, settings: BotSettings, money: BotMoney) {
    this.#state = state
    this.account = settings.account.id
    this.bot = settings.name
    this.limits = settings.limits
    this.isBound = isBound(settings.limits)
    this.sums = money
    this.spending = [state.spending.of(money)]
  }

  emit(): void {
    this.#state.emitBot(this.sums)
  }
}

export class WalletScope implements LimitScope {
  readonly section: string
  readonly account: string
  readonly bot = null
  readonly limits: Limits
  readonly isBound: boolean
  readonly #state: EngineState

  constructor(state: EngineState, settings: BotSettings) {
    const { account, walletLimits } = settings
    this.#state = state
    this.section = walletSection(settings)
    this.account = account.id
    this.limits = walletLimits
    this.isBound = isBound(walletLimits)
  }

  get sums(): ResultSums {
    const account = this.#state.book.accounts.get(this.account)
    if (account === undefined) return { ...NO_RESULTS }
    account.results ??= { ...NO_RESULTS }
    return account.results
  }

  get spending(): readonly BotSpending[] {
    return this.#state.spending.ofAccount(this.account)
  }

  emit(): void {
    const account = this.#state.book.accounts.get(this.account)
    if (account !== undefined) this.#state.emitAccount(account)
  }
}

/** The scopes of all bots and wallets. */
export class LimitScopes {
  readonly #bots = new Map<string, BotScope>()
  /** Scopes of the wallets, by account. */
  readonly #wallets: ReadonlyMap<string, WalletScope>

  constructor(state: EngineState, bots: readonly BotSettings[]) {
    if (bots.some(asksForLaunches)) state.watchLaunches()
    this.#wallets = new Map(bots.map((bot) => [bot.account.id, new WalletScope(state, bot)]))
  }

  add(scope: BotScope): void {
    this.#bots.set(scope.bot, scope)
  }

  wallet(account: string): LimitScope {
    return this.#wallets.get(account) as LimitScope
  }

  all(): readonly LimitScope[] {
    return [...this.#bots.values(), ...this.#wallets.values()]
  }

  /** Returns the scopes that a result belongs to. A bot that is no longer configured has no scope of its own. */
  of({ account, bot }: { readonly account: string; readonly bot: string }): readonly LimitScope[] {
    const own = this.#bots.get(bot)
    const wallet = this.#wallets.get(account)
    if (own === undefined) return wallet === undefined ? [] : [wallet]
    return wallet === undefined ? [own] : [own, wallet]
  }
}

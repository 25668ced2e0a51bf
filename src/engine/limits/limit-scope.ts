import type { EngineState } from '../engine-state.ts'
import { type BotMoney, NO_RESULTS, type ResultSums } from '../recovered-money.ts'
import type { BotSettings } from '../settings.ts'
import { asksForLaunches } from '../settings.ts'
import { isBound, type Limits } from './limit-rows.ts'
import type { BotSpending } from './spending.ts'

/** Whom limits bind: one bot, or all bots of a wallet together. */
export interface LimitScope {
  /** Where its limits stand in the YAML. */
  readonly section: 'limits' | 'wallet.limits'
  readonly account: string
  /** null: whichever trades with that wallet. */
  readonly bot: string | null
  readonly limits: Limits
  /** Whether there is any limit: nobody adds up what is asked where none is. */
  readonly isBound: boolean
  readonly sums: ResultSums
  readonly spending: readonly BotSpending[]
  /** Its sums changed. */
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
  readonly #session: EngineState

  constructor(session: EngineState, settings: BotSettings, money: BotMoney) {
    this.#session = session
    this.account = settings.account.id
    this.bot = settings.name
    this.limits = settings.limits
    this.isBound = isBound(settings.limits)
    this.sums = money
    this.spending = [session.spending.of(money)]
  }

  emit(): void {
    this.#session.emitBot(this.sums)
  }
}

export class WalletScope implements LimitScope {
  readonly section = 'wallet.limits'
  readonly account: string
  readonly bot = null
  readonly limits: Limits
  readonly isBound: boolean
  readonly #session: EngineState

  constructor(session: EngineState, { account, walletLimits }: BotSettings) {
    this.#session = session
    this.account = account.id
    this.limits = walletLimits
    this.isBound = isBound(walletLimits)
  }

  get sums(): ResultSums {
    const account = this.#session.book.accounts.get(this.account)
    if (account === undefined) return { ...NO_RESULTS }
    account.results ??= { ...NO_RESULTS }
    return account.results
  }

  get spending(): readonly BotSpending[] {
    return this.#session.spending.ofAccount(this.account)
  }

  emit(): void {
    const account = this.#session.book.accounts.get(this.account)
    if (account !== undefined) this.#session.emitAccount(account)
  }
}

/** Everybody whom limits bind. */
export class LimitScopes {
  readonly #bots = new Map<string, BotScope>()
  /** By account. */
  readonly #wallets: ReadonlyMap<string, WalletScope>

  constructor(session: EngineState, bots: readonly BotSettings[]) {
    if (bots.some(asksForLaunches)) session.watchLaunches()
    this.#wallets = new Map(bots.map((bot) => [bot.account.id, new WalletScope(session, bot)]))
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

  /** Whose result it is; a bot that is not configured any more has none. */
  of({ account, bot }: { readonly account: string; readonly bot: string }): readonly LimitScope[] {
    const own = this.#bots.get(bot)
    const wallet = this.#wallets.get(account)
    if (own === undefined) return wallet === undefined ? [] : [wallet]
    return wallet === undefined ? [own] : [own, wallet]
  }
}

import type { Liquidation } from '../accounting/liquidation.ts'
import { isWrittenOff } from '../accounting/position.ts'
import type { BuyRequest } from '../buy-and-sell-options.ts'
import type { EngineState } from '../engine-state.ts'
import type { BotSettings } from '../settings.ts'
import { checkLimits, checkLosses, type Limits, type LimitUse, type Losses } from './limit-rules.ts'
import type { LimitScope } from './limit-scope.ts'
import type { Veto } from './order-bounds.ts'
import { type BotResults, capped } from './result-figures.ts'
import { hourFreesAt } from './spending.ts'

/** A bot that requests a buy, with the limit scopes of the bot and of its wallet. */
export interface Buyer {
  readonly settings: BotSettings
  readonly scope: LimitScope
  /** Limits of the wallet that the bot trades with, which other bots may share. */
  readonly wallet: LimitScope
}

/** Computes the figures that limits compare, such as the number of open positions, and refuses buys that break a limit
 *  of the bot or of its wallet. The comparisons are in `limit-rules.ts`. */
export class LimitFigures {
  readonly #state: EngineState
  readonly #results: BotResults
  readonly #liquidation: Liquidation

  constructor(state: EngineState, results: BotResults, liquidation: Liquidation) {
    this.#state = state
    this.#results = results
    this.#liquidation = liquidation
  }

  veto({ scope, wallet }: Buyer, mint: string, request: BuyRequest, creator: string): Veto | undefined {
    return this.#vetoScope(scope, mint, request, creator) ?? this.#vetoScope(wallet, mint, request, creator)
  }

  /** Checks the limits on losses again for an accepted buy that waits for its next attempt. */
  vetoAgain({ scope, wallet }: Pick<Buyer, 'scope' | 'wallet'>): Veto | undefined {
    for (const one of [scope, wallet]) {
      const veto = one.isBound ? checkLosses(one.limits, this.#lossesNow(one)) : undefined
      if (veto !== undefined) return veto
    }
    return undefined
  }

  #lossesNow(scope: LimitScope): Losses {
    return this.#losses(scope, areLossesBound(scope.limits) ? this.#results.unrealized(scope) : 0)
  }

  /** `unrealized`: liquidation value of the open positions minus their cost; any number if no limit uses it. */
  #losses(scope: LimitScope, unrealized: number): Losses {
    const { limits, section, sums } = scope
    return {
      ...{ section, now: this.#state.now },
      resultLamports: limits.maxDailyLossLamports === null ? 0 : this.#results.today(scope, unrealized),
      drawdownLamports: limits.maxDrawdownLamports === null ? 0 : this.#results.drawdown(scope, unrealized),
      unknownPositions: () => this.#results.unknown(scope),
      deadPositions: () => this.#results.dead(scope),
      pausedUntil: limits.maxLosingStreak === null ? 0 : sums.pausedUntil,
    }
  }

  #vetoScope(scope: LimitScope, mint: string, request: BuyRequest, creator: string): Veto | undefined {
    if (!scope.isBound) return undefined
    return checkLimits(scope.limits, this.#use(scope, mint, creator, request))
  }

  #use(scope: LimitScope, mint: string, creator: string, { amount, orders }: BuyRequest): LimitUse {
    const { limits, spending, account } = scope
    const { book, now } = this.#state
    const position = book.positions.get({ account, mint })
    const sum = (of: 'hour' | 'today'): number => spending.reduce((total, bot) => total + bot[of](now), 0)
    const { openPositions, creatorLamports, exposureLamports, unrealized } = this.#surveyed(scope, mint, creator)
    return {
      ...this.#losses(scope, capped(unrealized)),
      amount,
      slippagePercent: orders.slippagePercent,
      newPosition: position === undefined,
      mintLamports: position === undefined ? 0 : this.#liquidation.atRisk(position),
      openPositions,
      creatorLamports,
      exposureLamports,
      hourLamports: limits.maxLamportsPerHour === null ? 0 : sum('hour'),
      todayLamports: limits.maxLamportsPerDay === null ? 0 : sum('today'),
      hourFreesAt: () => hourFreesAt(spending, now, amount, limits.maxLamportsPerHour ?? 0),
    }
  }

  /** Returns the figures of the open positions that the limits compare: their number, the exposure and the unrealized
   *  profit. The exposure is the SOL at risk in open positions, plus the SOL that open buys and buys with an unknown
   *  outcome ask for. The number and the exposure include a written-off position only if it is in `mint`, so that the
   *  limits also apply to a buy that would add to it. A figure is 0 if no limit uses it. */
  #surveyed({ account, bot, limits }: LimitScope, mint: string, creator: string): Survey {
    const { book } = this.#state
    const isMarked = areLossesBound(limits)
    const isRiskBound = limits.maxExposureLamports !== null || limits.maxLamportsPerCreator !== null
    if (!isMarked && !isRiskBound && limits.maxOpenPositions === null) return NOTHING
    const use: { -readonly [F in keyof Survey]: number } = { ...NOTHING }
    for (const position of book.positions.of(account).values()) {
      if (bot !== null && position.bot !== bot) continue
      if (isMarked) use.unrealized += this.#results.profitOf(position)
      if (isWrittenOff(position) && position.mint !== mint) continue
      use.openPositions++
      if (!isRiskBound) continue
      const atRisk = this.#liquidation.atRisk(position)
      use.exposureLamports += atRisk
      if ((position.creator ?? '') === creator) use.creatorLamports += atRisk
    }
    if (!isRiskBound) return use
    for (const open of book.orders.openByMint(account).values())
      for (const { order } of open) {
        if (order.size.kind !== 'sol' || (bot !== null && order.bot !== bot)) continue
        use.exposureLamports += order.size.lamports
        if ((book.positions.get(order)?.creator ?? '') === creator) use.creatorLamports += order.size.lamports
      }
    return use
  }
}

interface Survey extends Pick<LimitUse, 'openPositions' | 'creatorLamports' | 'exposureLamports'> {
  /** Liquidation value of the open positions minus their cost, lamports. */
  readonly unrealized: number
}

const NOTHING = { openPositions: 0, creatorLamports: 0, exposureLamports: 0, unrealized: 0 } as const

function areLossesBound({ maxDailyLossLamports, maxDrawdownLamports }: Limits): boolean {
  return maxDailyLossLamports !== null || maxDrawdownLamports !== null
}

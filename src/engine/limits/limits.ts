import { endOfDay, formatInstant, formatSol, type Lamports, type Millis } from '../../base/units.ts'
import type { Limits } from '../settings.ts'
import type { Veto } from './order-bounds.ts'

/** How much somebody has lost. */
export interface Losses {
  /** Where the limits stand in the YAML. */
  readonly section: string
  readonly now: Millis
  /** Realised and unrealised result of the UTC day, at what selling now would bring. */
  readonly resultLamports: number
  readonly drawdownLamports: number
  /** Held ones that count as nothing in both, because nobody knows what they are worth. */
  readonly unknownPositions: () => number
  /** And because nobody trades them any more. */
  readonly deadPositions: () => number
  readonly pausedUntil: Millis
}

/** How much of its limits somebody uses, and the buy that he asks for. What no limit asks for may be 0. */
export interface Use extends Losses {
  /** What the buy accepts. */
  readonly slippagePercent: number
  readonly openPositions: number
  /** Whether the mint would be one more position. */
  readonly newPosition: boolean
  /** SOL in this mint already: what is held, at cost or at what it is worth, whichever is more. An open buy of it holds
   *  the lane. */
  readonly mintLamports: number
  /** SOL in tokens of the same creator: what is held, in the same way, and what open and unknown buys ask for. */
  readonly creatorLamports: number
  /** The same of all tokens. */
  readonly exposureLamports: number
  /** SOL asked by its buys in the last 60 minutes, and since 00:00 UTC. */
  readonly hourLamports: number
  readonly todayLamports: number
  /** When enough of the hour is free again; undefined: never. */
  readonly hourFreesAt: () => Millis | undefined
}

/** Whether there is any bound. */
export function isBound({ streakPauseMs: _, ...limits }: Limits): boolean {
  return Object.values(limits).some((limit) => limit !== null)
}

/** The bounds below the strategy: the first one that the buy would break, how much of it is used, and when it is free
 *  again. */
export function checkLimits(amount: Lamports, limits: Limits, use: Use): Veto | undefined {
  const { section, now } = use
  const sol = formatSol
  const over = (used: number, limit: Lamports | null): limit is Lamports => limit !== null && used + amount > limit
  const name = (key: string): string => `${section}.${key}`
  if (over(0, limits.maxLamportsPerOrder))
    return {
      code: 'ORDER_LIMIT',
      reason: `${sol(amount)} SOL is more than ${sol(limits.maxLamportsPerOrder)} SOL an order (${name('maxSolPerOrder')})`,
    }
  if (limits.minLamportsPerOrder !== null && amount < limits.minLamportsPerOrder)
    return {
      code: 'ORDER_LIMIT',
      reason: `${sol(amount)} SOL is less than ${sol(limits.minLamportsPerOrder)} SOL an order (${name('minSolPerOrder')})`,
    }
  if (limits.maxSlippagePercent !== null && use.slippagePercent > limits.maxSlippagePercent)
    return {
      code: 'SLIPPAGE_LIMIT',
      reason: `a slippage of ${use.slippagePercent} % is more than ${limits.maxSlippagePercent} % (${name('maxSlippagePercent')})`,
    }
  const paused = overStreak(use)
  if (paused !== undefined) return paused
  if (over(use.hourLamports, limits.maxLamportsPerHour)) {
    const freesAt = use.hourFreesAt()
    const when = freesAt === undefined ? 'never' : `at ${formatInstant(freesAt, now)}`
    return {
      code: 'HOUR_LIMIT',
      reason: `${sol(use.hourLamports)} of ${sol(limits.maxLamportsPerHour)} SOL an hour are used (${name('maxSolPerHour')}); ${sol(amount)} more fit ${when}`,
    }
  }
  if (over(use.todayLamports, limits.maxLamportsPerDay))
    return {
      code: 'DAY_LIMIT',
      reason: `${sol(use.todayLamports)} of ${sol(limits.maxLamportsPerDay)} SOL a day are used (${name('maxSolPerDay')}); begins anew at ${formatInstant(endOfDay(now), now)}`,
    }
  if (use.newPosition && limits.maxOpenPositions !== null && use.openPositions >= limits.maxOpenPositions)
    return {
      code: 'POSITIONS_LIMIT',
      reason: `${use.openPositions} of ${limits.maxOpenPositions} positions are open (${name('maxOpenPositions')}); free when one is sold`,
    }
  return overExposed(amount, limits, use) ?? overLost(limits, use)
}

function overExposed(amount: Lamports, limits: Limits, use: Use): Veto | undefined {
  const { maxLamportsPerMint, maxLamportsPerCreator, maxExposureLamports } = limits
  const { mintLamports, creatorLamports, exposureLamports } = use
  const over = (
    code: Veto['code'],
    key: string,
    used: number,
    limit: Lamports | null,
    what: string,
  ): Veto | undefined => {
    if (limit === null || used + amount <= limit) return undefined
    return {
      code,
      reason: `${formatSol(used)} of ${formatSol(limit)} SOL are in ${what} (${use.section}.${key}), so ${formatSol(amount)} more do not fit; free when it is sold`,
    }
  }
  return (
    over('MINT_LIMIT', 'maxSolPerMint', mintLamports, maxLamportsPerMint, 'this mint') ??
    over('CREATOR_LIMIT', 'maxSolPerCreator', creatorLamports, maxLamportsPerCreator, 'tokens of its creator') ??
    over('EXPOSURE_LIMIT', 'maxExposureSol', exposureLamports, maxExposureLamports, 'tokens and open buys')
  )
}

/** What may have come to stand in the way of a buy that was accepted before. */
export function checkLosses(limits: Limits, use: Losses): Veto | undefined {
  return overStreak(use) ?? overLost(limits, use)
}

function overStreak({ section, now, pausedUntil }: Losses): Veto | undefined {
  if (pausedUntil <= now) return undefined
  return {
    code: 'LOSING_STREAK',
    reason: `too many losses in a row (${section}.maxLosingStreak): nothing is bought until ${formatInstant(pausedUntil, now)}`,
  }
}

function overLost(limits: Limits, use: Losses): Veto | undefined {
  const { section, now } = use
  if (limits.maxDailyLossLamports !== null && use.resultLamports <= -limits.maxDailyLossLamports)
    return {
      code: 'LOSS_LIMIT',
      reason: `today's result is ${formatSol(use.resultLamports)} SOL; the limit is a loss of ${formatSol(limits.maxDailyLossLamports)} (${section}.maxDailyLossSol); begins anew at ${formatInstant(endOfDay(now), now)}${withoutPrice(use)}`,
    }
  if (limits.maxDrawdownLamports !== null && use.drawdownLamports >= limits.maxDrawdownLamports)
    return {
      code: 'DRAWDOWN_LIMIT',
      reason: `${formatSol(use.drawdownLamports)} SOL below the highest result; the limit is ${formatSol(limits.maxDrawdownLamports)} (${section}.maxDrawdownSol); until it recovers, or \`sluice resume\`${withoutPrice(use)}`,
    }
  return undefined
}

/** A loss that may be none, and one that is there again tomorrow. */
function withoutPrice({ unknownPositions, deadPositions }: Losses): string {
  const [unknown, dead] = [unknownPositions(), deadPositions()]
  const has = (count: number): string => `; ${count} held token${count === 1 ? ' has' : 's have'}`
  const asNothing = (count: number): string => `and count${count === 1 ? 's' : ''} as nothing`
  return [
    unknown === 0 ? '' : `${has(unknown)} no price since the start or a gap ${asNothing(unknown)}`,
    dead === 0 ? '' : `${has(dead)} no trades ${asNothing(dead)}, on every day until sold (\`sluice sell\`)`,
  ].join('')
}

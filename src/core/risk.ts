import type { ErrorCode } from './errors.ts'
import type { Limits, OrderSettings, Plan } from './settings.ts'
import { formatSol, type Lamports, lamports, solToLamports } from './units.ts'

export const BASE_FEE = lamports(5_000)
/** Of a token account; the chain's own figure is read where money depends on it. */
export const TOKEN_ACCOUNT_RENT = lamports(2_039_280)
/** What `auto` may cost: the document's maximum. */
const MOST_PRIORITY_FEE = solToLamports(0.01)
/** Of what the service may keep for itself; the document names no fee, relatives take 0.5 to 1 percent. */
const SERVICE_FEE = 0.01
export const LEAST_BUY = solToLamports(0.001)

export interface Veto {
  readonly code: ErrorCode
  readonly reason: string
}

/** The most that a buy can take out of the wallet. */
export function worstCost(amount: Lamports, slippagePercent: number, priorityFee: Lamports | null): Lamports {
  const most = Math.ceil(amount * (1 + slippagePercent / 100) * (1 + SERVICE_FEE))
  return lamports(most + (priorityFee ?? MOST_PRIORITY_FEE) + BASE_FEE + TOKEN_ACCOUNT_RENT)
}

/** What a sell can take: fees only. */
export function sellCost(priorityFee: Lamports | null): Lamports {
  return lamports((priorityFee ?? MOST_PRIORITY_FEE) + BASE_FEE)
}

/** Whether the amounts are what the document accepts. */
export function checkRanges(
  amount: Lamports,
  orders: Pick<OrderSettings, 'slippagePercent' | 'priorityFeeLamports'>,
  plan: Plan,
): Veto | undefined {
  if (amount < LEAST_BUY || amount > plan.maxBuyLamports) {
    return {
      code: 'AMOUNT_RANGE',
      reason: `${formatSol(amount)} SOL is outside 0.001 to ${formatSol(plan.maxBuyLamports)} SOL`,
    }
  }
  const slippage = orders.slippagePercent
  if (!Number.isFinite(slippage) || slippage < 0.1 || slippage > 50) {
    return { code: 'SLIPPAGE_RANGE', reason: `slippage ${slippage} % is outside 0.1 to 50 %` }
  }
  const fee = orders.priorityFeeLamports
  if (fee !== null && (fee < 10_000 || fee > MOST_PRIORITY_FEE)) {
    return { code: 'FEE_RANGE', reason: `priority fee ${formatSol(fee)} SOL is outside 0.00001 to 0.01 SOL` }
  }
  return undefined
}

/** What a bot has at stake when it asks to buy. */
export interface Exposure {
  readonly openPositions: number
  /** Whether the mint would be one more position. */
  readonly newPosition: boolean
  /** SOL in this mint already: what is held, at cost. An open buy of it holds the lane. */
  readonly mintLamports: number
  /** SOL asked by its buys in the last 60 minutes. */
  readonly hourLamports: number
  /** Realised and unrealised result of the UTC day, at what selling now would bring. */
  readonly dayLamports: number
}

/** The bounds below the strategy: the first one that the buy would break. */
export function checkLimits(amount: Lamports, limits: Limits, exposure: Exposure): Veto | undefined {
  const over = (used: number, limit: Lamports | null): limit is Lamports => limit !== null && used + amount > limit
  if (over(0, limits.maxLamportsPerOrder)) {
    return {
      code: 'ORDER_LIMIT',
      reason: `${formatSol(amount)} SOL is more than ${formatSol(limits.maxLamportsPerOrder)} SOL an order`,
    }
  }
  if (over(exposure.hourLamports, limits.maxLamportsPerHour)) {
    return {
      code: 'HOUR_LIMIT',
      reason: `${formatSol(exposure.hourLamports)} of ${formatSol(limits.maxLamportsPerHour)} SOL an hour are used`,
    }
  }
  if (exposure.newPosition && limits.maxOpenPositions !== null && exposure.openPositions >= limits.maxOpenPositions) {
    return {
      code: 'POSITIONS_LIMIT',
      reason: `${exposure.openPositions} of ${limits.maxOpenPositions} positions are open`,
    }
  }
  if (over(exposure.mintLamports, limits.maxLamportsPerMint)) {
    return {
      code: 'MINT_LIMIT',
      reason: `${formatSol(exposure.mintLamports)} of ${formatSol(limits.maxLamportsPerMint)} SOL are in this mint`,
    }
  }
  if (limits.maxDailyLossLamports !== null && exposure.dayLamports <= -limits.maxDailyLossLamports) {
    return {
      code: 'LOSS_LIMIT',
      reason: `today's result is ${formatSol(exposure.dayLamports)} SOL; the limit is ${formatSol(limits.maxDailyLossLamports)}`,
    }
  }
  return undefined
}

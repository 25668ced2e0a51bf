import type { Refusal } from '../../base/errors.ts'
import { formatSol, type Lamports, lamports, solToLamports } from '../../base/units.ts'
import { BASE_FEE, TOKEN_ACCOUNT_RENT } from '../../solana/constants.ts'
import { MOST_ROUNDING } from '../../solana/rounding.ts'
import { LEAST_SLIPPAGE, MOST_SLIPPAGE } from '../bounds.ts'
import type { OrderSettings, Plan } from '../settings.ts'

/** What `auto` may cost: the document's maximum. */
const MOST_PRIORITY_FEE = solToLamports(0.01)
/** Of what the service may keep for itself; the document names no fee, relatives take 0.5 to 1 percent. */
const SERVICE_FEE = 0.01
/** The least priority fee that the document lets a request name. */
export const LEAST_PRIORITY_FEE = lamports(10_000)
export const LEAST_BUY = solToLamports(0.001)

export type Veto = Refusal

/** The most that a buy can take out of the wallet. */
export function worstCost(amount: Lamports, slippagePercent: number, priorityFee: Lamports | null): Lamports {
  const most = Math.ceil(amount * (1 + slippagePercent / 100) * (1 + SERVICE_FEE))
  return lamports(most + (priorityFee ?? MOST_PRIORITY_FEE) + BASE_FEE + TOKEN_ACCOUNT_RENT + MOST_ROUNDING)
}

/** The most that so many buys can take out together, whatever fee each offers. */
export function worstCostOf(amount: number, slippagePercent: number, buys: number): Lamports {
  const fees = MOST_PRIORITY_FEE + BASE_FEE + TOKEN_ACCOUNT_RENT
  const rounding = buys * (1 + MOST_ROUNDING) // each is rounded up here, and may be by its builder
  return lamports(Math.ceil(amount * (1 + slippagePercent / 100) * (1 + SERVICE_FEE)) + buys * fees + rounding)
}

/** What a sell can take: fees only. */
export function sellCost(priorityFee: Lamports | null): Lamports {
  return lamports((priorityFee ?? MOST_PRIORITY_FEE) + BASE_FEE + MOST_ROUNDING)
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
  if (!Number.isFinite(slippage) || slippage < LEAST_SLIPPAGE || slippage > MOST_SLIPPAGE) {
    return { code: 'SLIPPAGE_RANGE', reason: `slippage ${slippage} % is outside 0.1 to 50 %` }
  }
  const fee = orders.priorityFeeLamports
  if (fee !== null && (fee < LEAST_PRIORITY_FEE || fee > MOST_PRIORITY_FEE)) {
    return { code: 'FEE_RANGE', reason: `priority fee ${formatSol(fee)} SOL is outside 0.00001 to 0.01 SOL` }
  }
  return undefined
}

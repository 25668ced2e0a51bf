import type { Refusal } from '../../base/errors.ts'
import { formatSol, type Lamports, lamports, solToLamports } from '../../base/units.ts'
import { BASE_FEE, TOKEN_ACCOUNT_RENT } from '../../solana/constants.ts'
import { MOST_ROUNDING } from '../../solana/rounding.ts'
import { LEAST_SLIPPAGE, MOST_SLIPPAGE } from '../setting-bounds.ts'
import type { OrderSettings, Plan } from '../settings.ts'

/** Highest priority fee that the service can choose for `auto`: the maximum in the service's document. */
export const MOST_PRIORITY_FEE = solToLamports(0.01)
/** Assumed share of a trade that the service keeps. The service's document names no fee; comparable services take 0.5
 *  to 1 percent. */
const SERVICE_FEE = 0.01
/** Lowest priority fee that the service's document allows in a request. */
export const LEAST_PRIORITY_FEE = lamports(10_000)
/** Smallest buy that the service's document allows. */
export const LEAST_BUY = solToLamports(0.001)

export type Veto = Refusal

/** Returns the most lamports that a buy can take out of the wallet. */
export function worstCost(amount: Lamports, slippagePercent: number, priorityFee: Lamports | null): Lamports {
  const most = Math.ceil(amount * (1 + slippagePercent / 100) * (1 + SERVICE_FEE))
  return lamports(most + (priorityFee ?? MOST_PRIORITY_FEE) + BASE_FEE + TOKEN_ACCOUNT_RENT + MOST_ROUNDING)
}

/** Returns the most lamports that `buys` buys can take out of the wallet together, at the highest priority fee. */
export function worstCostOf(amount: number, slippagePercent: number, buys: number): Lamports {
  const fees = MOST_PRIORITY_FEE + BASE_FEE + TOKEN_ACCOUNT_RENT
  const rounding = buys * (1 + MOST_ROUNDING) // the cost of each buy is rounded up, and its builder may round up again
  return lamports(Math.ceil(amount * (1 + slippagePercent / 100) * (1 + SERVICE_FEE)) + buys * fees + rounding)
}

/** Returns the highest possible fees of a sale, lamports. */
export function sellCost(priorityFee: Lamports | null): Lamports {
  return lamports((priorityFee ?? MOST_PRIORITY_FEE) + BASE_FEE + MOST_ROUNDING)
}

/** Refuses an amount, a slippage or a fee outside the range that the service's document allows. */
export function checkRanges(
  amount: Lamports,
  orders: Pick<OrderSettings, 'slippagePercent' | 'priorityFeeLamports'>,
  plan: Plan,
): Veto | undefined {
  if (amount < LEAST_BUY || amount > plan.maxBuyLamports) {
    return {
      code: 'AMOUNT_RANGE',
      reason: `a buy of ${formatSol(amount)} SOL is outside the range of ${formatSol(LEAST_BUY)} to ${formatSol(plan.maxBuyLamports)} SOL`,
    }
  }
  const slippage = orders.slippagePercent
  if (!Number.isFinite(slippage) || slippage < LEAST_SLIPPAGE || slippage > MOST_SLIPPAGE) {
    return {
      code: 'SLIPPAGE_RANGE',
      reason: `the slippage of ${slippage} % is outside the range of ${LEAST_SLIPPAGE} to ${MOST_SLIPPAGE} %`,
    }
  }
  const fee = orders.priorityFeeLamports
  if (fee !== null && (fee < LEAST_PRIORITY_FEE || fee > MOST_PRIORITY_FEE)) {
    return {
      code: 'FEE_RANGE',
      reason: `the priority fee of ${formatSol(fee)} SOL is outside the range of ${formatSol(LEAST_PRIORITY_FEE)} to ${formatSol(MOST_PRIORITY_FEE)} SOL`,
    }
  }
  return undefined
}

import { type Lamports, lamports, type TokenAmount, ZERO } from '../../base/units.ts'

/** Where the SOL of a fill went, each apart: together they are the change of the wallet, to the lamport
 *  (`walletChange`). What was paid is positive; amounts that were not read are 0 and named in `unknown`. */
export interface FillCosts {
  /** For the tokens alone: what the pools got (buy) or gave (sell). */
  readonly tradeLamports: Lamports
  /** Kept by the venue: protocol, creator, whoever it names. */
  readonly venueFeeLamports: Lamports
  /** Kept by the trading service, by transfers of its own. */
  readonly serviceFeeLamports: Lamports
  readonly baseFeeLamports: Lamports
  readonly priorityFeeLamports: Lamports
  /** To whoever sees to it that the transaction lands. */
  readonly tipLamports: Lamports
  /** Into accounts of the wallet's, and into records that a program opened at its cost. */
  readonly rentPaidLamports: Lamports
  readonly rentReturnedLamports: Lamports
  /** Into the wallet's own wrapped SOL; negative: out of it. It is still its own. */
  readonly wrappedLamports: Lamports
  /** Left the wallet with the trade and is none of these; negative: came. */
  readonly remainderLamports: Lamports
  /** Base units that the token's own transfer fee took: beside the fill's `tokens` of a buy, inside those of a sale. */
  readonly withheldTokens: TokenAmount
  /** Not to be told from the trade, or from one another: in the first one's case inside `tradeLamports`, where both
   *  are; `serviceFee` alone is inside `venueFeeLamports`. */
  readonly unknown: readonly ('venueFee' | 'serviceFee')[]
}

/** The SOL that changed hands for the tokens, the fees of venue and service inside: what a price is made of. */
export function tradeOf(side: 'buy' | 'sell', costs: FillCosts): Lamports {
  const fees = costs.venueFeeLamports + costs.serviceFeeLamports + costs.remainderLamports
  return lamports(side === 'buy' ? costs.tradeLamports + fees : costs.tradeLamports - fees)
}

/** What a fill changed in its wallet, by its costs. */
export function walletChange(side: 'buy' | 'sell', costs: FillCosts): number {
  const { rentPaidLamports, rentReturnedLamports, wrappedLamports } = costs
  const trade = side === 'buy' ? -tradeOf(side, costs) : tradeOf(side, costs)
  return trade - networkFee(costs) - rentPaidLamports + rentReturnedLamports - wrappedLamports
}

/** For getting it landed: base and priority fee, and tips. */
export function networkFee({ baseFeeLamports, priorityFeeLamports, tipLamports }: FillCosts): Lamports {
  return lamports(baseFeeLamports + priorityFeeLamports + tipLamports)
}

export const NO_COSTS: FillCosts = {
  tradeLamports: ZERO,
  venueFeeLamports: ZERO,
  serviceFeeLamports: ZERO,
  baseFeeLamports: ZERO,
  priorityFeeLamports: ZERO,
  tipLamports: ZERO,
  rentPaidLamports: ZERO,
  rentReturnedLamports: ZERO,
  wrappedLamports: ZERO,
  remainderLamports: ZERO,
  withheldTokens: 0n,
  unknown: [],
}

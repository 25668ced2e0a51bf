import { type Lamports, lamports, type TokenAmount, ZERO } from '../../base/units.ts'

/** Costs of a fill by kind, lamports. Amounts paid are positive. The costs together are exactly the change of the
 *  wallet (`walletChange`). */
export interface FillCosts {
  /** Price of the tokens alone: paid to the pools by a buy, received from the pools by a sale. */
  readonly tradeLamports: Lamports
  /** Fees of the venue: protocol, creator, and further recipients that the venue names. */
  readonly venueFeeLamports: Lamports
  /** Fee of the trading service, paid by separate transfers. */
  readonly serviceFeeLamports: Lamports
  readonly baseFeeLamports: Lamports
  readonly priorityFeeLamports: Lamports
  /** Tips to block builders. */
  readonly tipLamports: Lamports
  /** Rent paid for accounts of the wallet, and for records that a program opened at the wallet's expense. */
  readonly rentPaidLamports: Lamports
  readonly rentReturnedLamports: Lamports
  /** SOL wrapped into the wallet's own wSOL account; negative if SOL was unwrapped. The wallet still owns the
   *  amount. */
  readonly wrappedLamports: Lamports
  /** SOL that left the wallet for an unknown purpose: the part that no other field contains. Negative if such SOL
   *  arrived in the wallet. */
  readonly remainderLamports: Lamports
  /** Base units that the token's own transfer fee took. `tokens` of a buy does not include them, `tokens` of a sale
   *  does. */
  readonly withheldTokens: TokenAmount
  /** Fees that could not be separated. If `venueFee` is listed, `tradeLamports` includes the fees of venue and service.
   *  If only `serviceFee` is listed, `venueFeeLamports` includes the fee of the service. */
  readonly unknown: readonly ('venueFee' | 'serviceFee')[]
}

/** Returns the lamports paid or received for the tokens, including the fees of venue and service. The price of a fill
 *  is computed from this amount. */
export function tradeOf(side: 'buy' | 'sell', costs: FillCosts): Lamports {
  const fees = costs.venueFeeLamports + costs.serviceFeeLamports + costs.remainderLamports
  return lamports(side === 'buy' ? costs.tradeLamports + fees : costs.tradeLamports - fees)
}

/** Returns the change of the wallet by a fill with these costs, lamports. */
export function walletChange(side: 'buy' | 'sell', costs: FillCosts): number {
  const { rentPaidLamports, rentReturnedLamports, wrappedLamports } = costs
  const trade = side === 'buy' ? -tradeOf(side, costs) : tradeOf(side, costs)
  return trade - networkFee(costs) - rentPaidLamports + rentReturnedLamports - wrappedLamports
}

/** Returns the network fees of a fill: base fee, priority fee and tips. */
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

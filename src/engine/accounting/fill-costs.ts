import { type Lamports, lamports, type TokenAmount, ZERO } from '../../base/units.ts'

/** Itemized costs of a fill, lamports. Amounts paid are positive. Together they are the change of the wallet, to the
 *  lamport (`walletChange`). */
export interface FillCosts {
  /** Price of the tokens alone: paid to the pools (buy) or received from them (sale). */
  readonly tradeLamports: Lamports
  /** Fees of the venue: protocol, creator, and further recipients that the venue names. */
  readonly venueFeeLamports: Lamports
  /** Fee of the trading service, paid by separate transfers. */
  readonly serviceFeeLamports: Lamports
  readonly baseFeeLamports: Lamports
  readonly priorityFeeLamports: Lamports
  /** Tips to block builders. */
  readonly tipLamports: Lamports
  /** Rent for accounts of the wallet, and for records that a program opened at its expense. */
  readonly rentPaidLamports: Lamports
  readonly rentReturnedLamports: Lamports
  /** Wrapped into the wallet's own wSOL; negative: unwrapped. The wallet still owns the amount. */
  readonly wrappedLamports: Lamports
  /** Remainder that left the wallet for an unknown purpose; negative: arrived. */
  readonly remainderLamports: Lamports
  /** Base units taken by the token's own transfer fee: not included in `tokens` of a buy, included in `tokens` of a
   *  sale. */
  readonly withheldTokens: TokenAmount
  /** Fees that could not be separated. If `venueFee` is listed, both are included in `tradeLamports`; if only
   *  `serviceFee` is, `venueFeeLamports` includes it. */
  readonly unknown: readonly ('venueFee' | 'serviceFee')[]
}

/** Lamports paid or received for the tokens, including the fees of venue and service. The price of a fill is computed
 *  from this. */
export function tradeOf(side: 'buy' | 'sell', costs: FillCosts): Lamports {
  const fees = costs.venueFeeLamports + costs.serviceFeeLamports + costs.remainderLamports
  return lamports(side === 'buy' ? costs.tradeLamports + fees : costs.tradeLamports - fees)
}

/** Change of the wallet by a fill, from its costs. */
export function walletChange(side: 'buy' | 'sell', costs: FillCosts): number {
  const { rentPaidLamports, rentReturnedLamports, wrappedLamports } = costs
  const trade = side === 'buy' ? -tradeOf(side, costs) : tradeOf(side, costs)
  return trade - networkFee(costs) - rentPaidLamports + rentReturnedLamports - wrappedLamports
}

/** Network fees: base fee, priority fee and tips. */
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

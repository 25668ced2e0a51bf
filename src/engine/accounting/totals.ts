import type { Fill } from '../order.ts'

/** Sums over fills and failed transactions, lamports. */
export interface MoneyTotals {
  /** The venue's share, included in the prices of the fills. */
  venue: number
  /** The trading service's share, included in the prices of the fills. */
  service: number
  /** Base fees, priority fees and tips of fills. */
  network: number
  /** Fees of transactions that landed and failed. */
  failed: number
  /** Rent paid less rent returned. */
  rent: number
  /** Change of the wallet. */
  wallet: number
}

export function noTotals(): MoneyTotals {
  return { venue: 0, service: 0, network: 0, failed: 0, rent: 0, wallet: 0 }
}

export function addFill(totals: MoneyTotals, { feeLamports, rentLamports, walletLamports, costs }: Fill): void {
  totals.venue += costs.venueFeeLamports
  totals.service += costs.serviceFeeLamports
  totals.network += feeLamports
  totals.rent += rentLamports
  totals.wallet += walletLamports
}

export function addFailed(totals: MoneyTotals, feeLamports: number): void {
  totals.failed += feeLamports
  totals.wallet -= feeLamports
}

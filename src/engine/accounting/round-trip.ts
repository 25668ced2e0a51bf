import { LAMPORTS_PER_SOL, type Millis } from '../../base/units.ts'

/** One position from its first fill to its last: what traders call a trade. Lamports. */
export interface RoundTrip {
  readonly mint: string
  readonly openedAt: Millis
  /** null while tokens are held. */
  closedAt: Millis | null
  /** Reason of the first buy. */
  readonly entryReason: string
  /** Reason of the last sale; '' before. For a position that could not be sold: the reason of the exit, and why it
   *  failed. */
  exitReason: string
  /** Including the fees of venue and service. */
  boughtLamports: number
  /** After the fees of venue and service. */
  soldLamports: number
  /** Base and priority fees, those of failed transactions, and rent that was not returned. */
  feeLamports: number
  /** Liquidation value of the tokens that are left; 0 once the position is closed. */
  valueLamports: number
  /** Whole tokens, sum of all buys. */
  boughtTokens: number
  /** Lowest and highest robust price while the position was held, SOL per token; null if no price is known. */
  lowPrice: number | null
  highPrice: number | null
}

export function newTrip(mint: string, openedAt: Millis, entryReason: string): RoundTrip {
  return {
    ...{ mint, openedAt, closedAt: null, entryReason, exitReason: '' },
    ...{ boughtLamports: 0, soldLamports: 0, feeLamports: 0, valueLamports: 0 },
    ...{ boughtTokens: 0, lowPrice: null, highPrice: null },
  }
}

/** Result after all costs, lamports. */
export function netOf({ soldLamports, valueLamports, boughtLamports, feeLamports }: RoundTrip): number {
  return soldLamports + valueLamports - boughtLamports - feeLamports
}

/** Result as a share of the amount paid. */
export function returnOf(trip: RoundTrip): number {
  return trip.boughtLamports > 0 ? netOf(trip) / trip.boughtLamports : 0
}

/** Lowest (`worst`, at most 0) and highest (`best`, at least 0) move of the robust price from the price paid per token,
 *  as shares of the latter. The price paid includes the fees of venue and service. undefined if no price is known. */
export function excursionOf(trip: RoundTrip): { readonly worst: number; readonly best: number } | undefined {
  const { boughtLamports, boughtTokens, lowPrice, highPrice } = trip
  const paid = boughtLamports / LAMPORTS_PER_SOL / boughtTokens
  if (lowPrice === null || highPrice === null || !(paid > 0)) return undefined
  return { worst: Math.min(0, lowPrice / paid - 1), best: Math.max(0, highPrice / paid - 1) }
}

/** Sets the value of each open trip at the end of a run and, if an exit could not sell it, why (`unsold`; '' if no exit
 *  was due). */
export function markTrips(
  trips: readonly RoundTrip[],
  left: (mint: string) => { readonly lamports: number; readonly unsold: string },
): void {
  for (const trip of trips) {
    if (trip.closedAt !== null) continue
    const { lamports, unsold } = left(trip.mint)
    trip.valueLamports = lamports
    if (unsold !== '') trip.exitReason = unsold
  }
}

import { LAMPORTS_PER_SOL, type Millis } from '../../base/units.ts'

/** A position from its first fill to its last. Traders call it a trade. Amounts are in lamports. */
export interface RoundTrip {
  readonly mint: string
  readonly openedAt: Millis
  /** Time at which the last token was sold; null while tokens are held. */
  closedAt: Millis | null
  /** Reason of the first buy. */
  readonly entryReason: string
  /** Reason of the last sale; '' before the first. If a position could not be sold: the reason of its exit, and why the
   *  exit failed. */
  exitReason: string
  /** Number of buys, and number of sales, that moved tokens. Adopted tokens count as bought, lost tokens as sold. */
  buys: number
  sells: number
  /** Tags of the first buy and of the last sale; '' if they have none. */
  readonly entryTag: string
  exitTag: string
  /** Lamports paid for tokens, including the fees of venue and service. */
  boughtLamports: number
  /** Lamports received for tokens, after the fees of venue and service. */
  soldLamports: number
  /** Base and priority fees, including those of failed transactions, and rent that was not returned. */
  feeLamports: number
  /** Liquidation value of the tokens that are left; 0 once the position is closed. */
  valueLamports: number
  /** Whole tokens bought: the sum of all buys. */
  boughtTokens: number
  /** Lowest and highest robust price while the position was held, SOL per token; null if no price is known. */
  lowPrice: number | null
  highPrice: number | null
}

export function newTrip(mint: string, openedAt: Millis, entryReason: string, entryTag = ''): RoundTrip {
  return {
    ...{ mint, openedAt, closedAt: null, entryReason, exitReason: '', entryTag, exitTag: '' },
    ...{ buys: 0, sells: 0, boughtLamports: 0, soldLamports: 0, feeLamports: 0, valueLamports: 0 },
    ...{ boughtTokens: 0, lowPrice: null, highPrice: null },
  }
}

/** Returns the result after all costs, lamports. */
export function netOf({ soldLamports, valueLamports, boughtLamports, feeLamports }: RoundTrip): number {
  return soldLamports + valueLamports - boughtLamports - feeLamports
}

/** Returns the result as a share of the amount paid; 0 if nothing was paid. */
export function returnOf(trip: RoundTrip): number {
  return trip.boughtLamports > 0 ? netOf(trip) / trip.boughtLamports : 0
}

/** Returns how far the robust price moved away from the price paid per token while the position was held, as shares of
 *  the price paid: `worst` is how far it fell (at most 0), `best` how far it rose (at least 0). The price paid includes
 *  the fees of venue and service. undefined if no price is known. */
export function excursionOf(trip: RoundTrip): { readonly worst: number; readonly best: number } | undefined {
  const { boughtLamports, boughtTokens, lowPrice, highPrice } = trip
  const paid = boughtLamports / LAMPORTS_PER_SOL / boughtTokens
  if (lowPrice === null || highPrice === null || !(paid > 0)) return undefined
  return { worst: Math.min(0, lowPrice / paid - 1), best: Math.max(0, highPrice / paid - 1) }
}

/** Sets the value of each round trip that is still open at the end of a run. `unsold`: the reason why an exit could not
 *  sell the position, which becomes the exit reason; '' if no exit was due. */
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

import { LAMPORTS_PER_SOL, type Millis, wholeTokens, ZERO } from '../../base/units.ts'
import type { Fill } from '../order.ts'

/** One position from its first fill to its last, as a trader counts trades. Amounts in lamports. */
export interface RoundTrip {
  readonly mint: string
  readonly openedAt: Millis
  /** null while something is held. */
  closedAt: Millis | null
  /** Of the first buy, and of the last sale; '' before. Of one that could not be sold: that, and why it should have
   *  been. */
  readonly entryReason: string
  exitReason: string
  /** The fees of venue and service inside. */
  boughtLamports: number
  soldLamports: number
  /** Base and priority fees, those of failed transactions too, and rent that did not come back. */
  feeLamports: number
  /** What selling what is left would bring; 0 once it is closed. */
  valueLamports: number
  /** Whole tokens, of all its buys. */
  boughtTokens: number
  /** The lowest and the highest robust price that stood while it was held, SOL a token; null where nobody looked, or
   *  there was none. */
  lowPrice: number | null
  highPrice: number | null
}

/** What it brought after everything. */
export function netOf({ soldLamports, valueLamports, boughtLamports, feeLamports }: RoundTrip): number {
  return soldLamports + valueLamports - boughtLamports - feeLamports
}

/** The same as a share of what was paid. */
export function returnOf(trip: RoundTrip): number {
  return trip.boughtLamports > 0 ? netOf(trip) / trip.boughtLamports : 0
}

/** How far the robust price fell below what was paid a token (fees of venue and service inside), and rose above it, as
 *  shares of it: the first 0 or less, the other 0 or more. undefined where no price is known. */
export function excursionOf(trip: RoundTrip): { readonly worst: number; readonly best: number } | undefined {
  const { boughtLamports, boughtTokens, lowPrice, highPrice } = trip
  const paid = boughtLamports / LAMPORTS_PER_SOL / boughtTokens
  if (lowPrice === null || highPrice === null || !(paid > 0)) return undefined
  return { worst: Math.min(0, lowPrice / paid - 1), best: Math.max(0, highPrice / paid - 1) }
}

type TripFill = Pick<
  Fill,
  'mint' | 'side' | 'time' | 'tokens' | 'decimals' | 'tradeLamports' | 'feeLamports' | 'rentLamports'
>

/** The trips of one bot, from its fills. */
export class RoundTripLog {
  /** Oldest first. */
  readonly trips: RoundTrip[] = []
  /** Fees of failed transactions in tokens of which nothing was ever held. */
  strayFeeLamports = 0
  readonly #last = new Map<string, RoundTrip>()
  readonly #held = new Map<string, bigint>()

  filled(fill: TripFill, reason: string): void {
    const { mint, side, time, tokens, decimals } = fill
    const held = this.#held.get(mint) ?? 0n
    const trip = held === 0n ? this.#begin(mint, time, reason) : (this.#last.get(mint) as RoundTrip)
    trip.feeLamports += fill.feeLamports + fill.rentLamports
    if (side === 'buy') {
      trip.boughtLamports += fill.tradeLamports
      trip.boughtTokens += wholeTokens(tokens, decimals)
    } else {
      trip.soldLamports += fill.tradeLamports
      trip.exitReason = reason
    }
    const left = side === 'buy' ? held + tokens : held - tokens
    // More may be sold than is known to have come.
    this.#held.set(mint, left > 0n ? left : 0n)
    // The chain's times are whole seconds, and a fill that is not final yet has ours.
    if (left <= 0n) trip.closedAt = Math.max(trip.openedAt, time)
  }

  /** Somebody else took all but `left`, base units: sold for nothing. */
  lost(mint: string, time: Millis, left: bigint): void {
    const tokens = (this.#held.get(mint) ?? 0n) - left
    if (tokens <= 0n) return
    const nothing = { tradeLamports: ZERO, feeLamports: ZERO, rentLamports: ZERO }
    this.filled({ mint, side: 'sell', time, tokens, decimals: 0, ...nothing }, 'taken by somebody else')
  }

  /** A transaction that landed and moved nothing but its fee: it belongs to the last trip of its mint. */
  failed(mint: string, feeLamports: number): void {
    const trip = this.#last.get(mint)
    if (trip === undefined) this.strayFeeLamports += feeLamports
    else trip.feeLamports += feeLamports
  }

  /** At the end: what each open one is worth, and why it is not sold although it should have been; '' where it should
   *  not. */
  mark(left: (mint: string) => { readonly lamports: number; readonly unsold: string }): void {
    for (const trip of this.trips) {
      if (trip.closedAt !== null) continue
      const { lamports, unsold } = left(trip.mint)
      trip.valueLamports = lamports
      if (unsold !== '') trip.exitReason = unsold
    }
  }

  #begin(mint: string, openedAt: Millis, entryReason: string): RoundTrip {
    const trip: RoundTrip = {
      ...{ mint, openedAt, closedAt: null, entryReason, exitReason: '' },
      ...{ boughtLamports: 0, soldLamports: 0, feeLamports: 0, valueLamports: 0 },
      ...{ boughtTokens: 0, lowPrice: null, highPrice: null },
    }
    this.trips.push(trip)
    this.#last.set(mint, trip)
    return trip
  }
}

import type { Lamports, Millis, TokenAmount } from '../../base/units.ts'
import type { Fill } from '../order.ts'

/** Sums over the fills of a position since its first buy, lamports. Each change makes a new object and leaves the old
 *  one unchanged, because copies of the position that the journal reads later contain the old object. */
export interface TripSums {
  readonly buys: number
  readonly sells: number
  /** Lamports paid for tokens, including the fees of venue and service, and lamports received for tokens, after these
   *  fees. */
  readonly boughtLamports: number
  readonly soldLamports: number
  readonly fees: TripFees
  /** Reason of the first buy, and reason and tag of the last sale; '' if there is none. */
  readonly entryReason: string
  readonly exitReason: string
  readonly exitTag: string
  /** Time of the last sale; null before the first. */
  readonly soldAt: Millis | null
}

/** Fees of a position's transactions by kind, lamports. The amounts paid and received already include the fees `venue`
 *  and `service`. */
export interface TripFees {
  readonly venue: number
  readonly service: number
  readonly base: number
  readonly priority: number
  readonly tip: number
  /** Rent paid minus rent returned. */
  readonly rent: number
  /** Fees of transactions that landed and failed. */
  readonly failed: number
  /** Network fees that are not itemized. */
  readonly other: number
}

/** Profit that a sale of the whole position at a certain moment would have made: sales so far plus liquidation value,
 *  minus cost and fees. */
export interface TripMark {
  readonly lamports: number
  /** The profit as a percentage of the amount paid for tokens. */
  readonly percent: number
}

/** The fields of a position from which the results of its round trip are computed. */
interface Held {
  readonly trip?: TripSums
  readonly tokens: TokenAmount
  readonly bought?: TokenAmount
  readonly costLamports: Lamports
  readonly realizedLamports: Lamports
  readonly feeLamports: Lamports
}

/** The fields of a position with its best and worst profit. */
interface Marked {
  best?: TripMark
  worst?: TripMark
}

const NO_FEES: TripFees = { venue: 0, service: 0, base: 0, priority: 0, tip: 0, rent: 0, failed: 0, other: 0 }

/** Entry reason of tokens that a bot took over, and exit reason of tokens that left without an order. */
export const ADOPTED = 'adopted'
export const LOST = 'left the wallet without an order'

/** Returns the sums of a position. A position that an earlier version opened has no sums; they are then computed from
 *  its cost, and its fees are not itemized. */
export function tripOf(position: Held): TripSums {
  if (position.trip !== undefined) return position.trip
  const { tokens, bought = tokens, costLamports, realizedLamports, feeLamports } = position
  const soldShare = tokens > 0n && bought > tokens ? Number(bought - tokens) / Number(tokens) : 0
  const soldCost = Math.round(costLamports * soldShare)
  return {
    ...{ buys: bought > 0n ? 1 : 0, sells: soldShare > 0 ? 1 : 0 },
    boughtLamports: costLamports + soldCost,
    soldLamports: soldCost + realizedLamports,
    fees: { ...NO_FEES, other: feeLamports },
    ...{ entryReason: '', exitReason: '', exitTag: '', soldAt: null },
  }
}

/** Adds a fill (`times` 1), or removes a fill that a fork has reversed (-1). `reason`: the reason of the fill's
 *  order. */
export function withFill(trip: TripSums, fill: Fill, times: 1 | -1, reason = ''): TripSums {
  const { side, time, tag = '' } = fill
  const fees = addFees(trip.fees, fill, times)
  const isBuy = side === 'buy'
  const isSale = side === 'sell' && times > 0
  const lamports = times * fill.tradeLamports
  // Assigning field by field is several times as fast as spreading.
  return {
    buys: isBuy ? trip.buys + times : trip.buys,
    sells: isBuy ? trip.sells : trip.sells + times,
    boughtLamports: isBuy ? trip.boughtLamports + lamports : trip.boughtLamports,
    soldLamports: isBuy ? trip.soldLamports : trip.soldLamports + lamports,
    fees,
    entryReason: isBuy && trip.buys === 0 ? reason : trip.entryReason,
    exitReason: isSale ? reason : trip.exitReason,
    exitTag: isSale ? tag : trip.exitTag,
    soldAt: isSale ? Math.max(trip.soldAt ?? time, time) : trip.soldAt,
  }
}

/** Adds the fee of a transaction that landed and failed. */
export function withFailed(trip: TripSums, feeLamports: number): TripSums {
  return { ...trip, fees: { ...trip.fees, failed: trip.fees.failed + feeLamports } }
}

/** Ends a round trip whose tokens left the wallet without an order. */
export function withLoss(trip: TripSums, time: Millis): TripSums {
  return { ...trip, exitReason: LOST, exitTag: '', soldAt: time }
}

/** Returns the profit after all fees, if the tokens that are left bring `valueLamports`. */
export function profitOf(trip: TripSums, valueLamports: number): TripMark {
  const { boughtLamports } = trip
  const lamports = profitLamports(trip, valueLamports)
  return { lamports, percent: boughtLamports > 0 ? (lamports / boughtLamports) * 100 : 0 }
}

/** Updates the best and the worst profit of a position with the profit that it has if its tokens bring `valueLamports`.
 *  Returns whether the best or the worst profit changed. Called for each print of a held token, so it allocates memory
 *  only after a change. */
export function mark(position: Held & Marked, valueLamports: number): boolean {
  const trip = tripOf(position)
  const lamports = profitLamports(trip, valueLamports)
  const { best, worst } = position
  const isWithin = best !== undefined && worst !== undefined && lamports <= best.lamports && lamports >= worst.lamports
  return !isWithin && widenMarks(position, profitOf(trip, valueLamports))
}

/** Replaces the best profit of a position if `to` is higher, and the worst if `to` is lower. Returns whether one
 *  changed. */
export function widenMarks(position: Marked, to: TripMark): boolean {
  const isBest = position.best === undefined || to.lamports > position.best.lamports
  const isWorst = position.worst === undefined || to.lamports < position.worst.lamports
  if (isBest) position.best = to
  if (isWorst) position.worst = to
  return isBest || isWorst
}

function profitLamports({ boughtLamports, soldLamports, fees }: TripSums, valueLamports: number): number {
  const { base, priority, tip, rent, failed, other } = fees
  return soldLamports + valueLamports - boughtLamports - base - priority - tip - rent - failed - other
}

function addFees(fees: TripFees, { costs, feeLamports, rentLamports }: Fill, times: 1 | -1): TripFees {
  const { venueFeeLamports, serviceFeeLamports, baseFeeLamports, priorityFeeLamports, tipLamports } = costs
  const other = feeLamports - baseFeeLamports - priorityFeeLamports - tipLamports
  return {
    venue: fees.venue + times * venueFeeLamports,
    service: fees.service + times * serviceFeeLamports,
    base: fees.base + times * baseFeeLamports,
    priority: fees.priority + times * priorityFeeLamports,
    tip: fees.tip + times * tipLamports,
    rent: fees.rent + times * rentLamports,
    failed: fees.failed,
    other: fees.other + times * other,
  }
}

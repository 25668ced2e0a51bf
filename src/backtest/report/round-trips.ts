import { lamportsToSol, type Millis } from '../../base/units.ts'
import { type BotMoney, foldMovements } from '../../engine/accounting/money.ts'
import { netOf, type RoundTrip, returnOf } from '../../engine/accounting/round-trip.ts'
import type { ClosedMarks, JournalReader } from '../../journal/reader/reader.ts'
import { movementsOf } from './bot-trades.ts'

/** A closed position as `sluice round-trips --json` prints it. Amounts are in SOL. */
export interface ListedRoundTrip {
  readonly bot: string
  readonly mint: string
  /** Time of the first buy. */
  readonly openedAt: Millis
  /** Time of the last sale. */
  readonly closedAt: Millis
  readonly heldSeconds: number
  readonly buys: number
  readonly sells: number
  /** SOL paid for the tokens. `proceedsSol`: SOL received for them. Both include the fees of the venue and the
   *  service. */
  readonly costSol: number
  readonly proceedsSol: number
  /** Base and priority fees, including those of failed transactions, tips, and rent that was not returned. */
  readonly feesSol: number
  /** proceedsSol - costSol - feesSol, also in percent of costSol. */
  readonly netSol: number
  readonly netPercent: number
  /** Highest net result that a sale of the whole position would have had while it was held, SOL. `bestPercent`: the
   *  same in percent of costSol. The next two: the lowest result. All are null if the journal has no such values. */
  readonly bestSol: number | null
  readonly bestPercent: number | null
  readonly worstSol: number | null
  readonly worstPercent: number | null
  readonly entryReason: string
  readonly exitReason: string
  /** Tag of the first buy. `exitTag`: tag of the last sale. Each is '' if there is no tag. */
  readonly entryTag: string
  readonly exitTag: string
}

/** Closed positions of a journal, in the order of their last sales. */
export function roundTripsOf(reader: JournalReader): ListedRoundTrip[] {
  const fold = foldMovements(movementsOf(reader, reader.report()))
  return listedTrips(fold.bots, reader.closedMarks())
}

/** Returns the closed trips of the given bots, in the order of the trips' last sales. */
export function listedTrips(
  bots: readonly Pick<BotMoney, 'account' | 'bot' | 'trips'>[],
  closed: readonly ClosedMarks[],
): ListedRoundTrip[] {
  const marks = new Map(closed.map((one) => [keyOf(one.account, one), one]))
  const trips = bots.flatMap(({ bot, account, trips }) =>
    trips.flatMap((trip) =>
      trip.closedAt === null ? [] : [listed(bot, trip, trip.closedAt, marks.get(keyOf(account, trip)))],
    ),
  )
  return trips.sort((one, other) => one.closedAt - other.closedAt)
}

function keyOf(account: string, { mint, openedAt }: Pick<RoundTrip, 'mint' | 'openedAt'>): string {
  return `${openedAt} ${mint} ${account}`
}

type Marks = Pick<ListedRoundTrip, 'bestSol' | 'bestPercent' | 'worstSol' | 'worstPercent'>

const NO_MARKS: Marks = { bestSol: null, bestPercent: null, worstSol: null, worstPercent: null }

/** Returns the best and the worst result of a round trip, from the recorded ones (marks) and its net result. If a
 *  repeated sale fails after another sale has closed the position, the marks lack the fee of the failed sale. */
function marksOf(trip: RoundTrip, { bestLamports, bestPercent, worstLamports, worstPercent }: ClosedMarks): Marks {
  const [lamports, percent] = [netOf(trip), returnOf(trip) * 100]
  return {
    bestSol: lamportsToSol(Math.max(bestLamports, lamports)),
    bestPercent: Math.max(bestPercent, percent),
    worstSol: lamportsToSol(Math.min(worstLamports, lamports)),
    worstPercent: Math.min(worstPercent, percent),
  }
}

function listed(bot: string, trip: RoundTrip, closedAt: Millis, marks: ClosedMarks | undefined): ListedRoundTrip {
  const { mint, openedAt, buys, sells, boughtLamports, soldLamports, feeLamports } = trip
  const { entryReason, exitReason, entryTag, exitTag } = trip
  return {
    ...{ bot, mint, openedAt, closedAt, heldSeconds: (closedAt - openedAt) / 1000, buys, sells },
    costSol: lamportsToSol(boughtLamports),
    proceedsSol: lamportsToSol(soldLamports),
    feesSol: lamportsToSol(feeLamports),
    netSol: lamportsToSol(netOf(trip)),
    netPercent: returnOf(trip) * 100,
    ...(marks === undefined ? NO_MARKS : marksOf(trip, marks)),
    ...{ entryReason, exitReason, entryTag, exitTag },
  }
}

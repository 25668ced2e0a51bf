import { type Attempt, type Fill, laneOf } from '../core/order.ts'
import { fillFrom, type Reading } from './fill.ts'
import type { LandedTransaction } from './transaction.ts'
import type { Lack, Watched } from './watched.ts'

export interface LaneMatch {
  readonly watched: Watched
  readonly reading: Exclude<Reading, { kind: 'other' }>
  /** The order asked for something like this. */
  readonly isWithin: boolean
}

const LIKELIEST_FIRST: readonly Lack[] = ['answer', 'sight', 'execution', 'nothing']
/** Of the SOL asked, beside the slippage: the fees of venue and service. */
const FEES_SHARE = 0.05

/** The attempt that a transaction of the wallet most likely is: by mint, direction and time, then by what the attempts still lack, then by
 *  amount. Another amount than was asked is taken for one whose answer or sight is lacking; else somebody used the wallet by hand.
 *  `isOwned`: only one comes into question, because of the signature. */
export function laneMatch(
  transaction: LandedTransaction,
  wallet: string,
  watched: readonly Watched[],
  now: number,
  isOwned: boolean,
): LaneMatch | undefined {
  const matches = watched.flatMap((one) => matchOf(transaction, wallet, one, now, isOwned) ?? [])
  // A failed transaction does not say which way it went.
  if (matches.some(({ reading }) => reading.kind === 'reverted') && lanes(matches) > 1) return undefined
  return matches.sort((one, other) => rank(one) - rank(other))[0]
}

function matchOf(
  transaction: LandedTransaction,
  wallet: string,
  watched: Watched,
  now: number,
  isOwned: boolean,
): LaneMatch | undefined {
  const { attempt, lack, isLost, isSigned } = watched
  if (isSigned && !isOwned) return undefined
  if (transaction.slot <= (attempt.baseline?.slot ?? -1) || !isAfter(attempt, transaction, now)) return undefined
  const reading = fillFrom(transaction, wallet, attempt, now, true)
  if (reading.kind === 'other') return undefined
  if (reading.kind === 'reverted')
    return isOwned || (isLost && transaction.accounts.includes(attempt.mint))
      ? { watched, reading, isWithin: true }
      : undefined
  const isWithin = isWithinBounds(attempt, reading.fill)
  return isOwned || isWithin || lack === 'answer' || lack === 'sight' ? { watched, reading, isWithin } : undefined
}

/** Where there is no baseline, block times have to do: whole seconds, voted by validators, and our clock is not theirs. */
function isAfter({ baseline, armedAt }: Attempt, { time }: LandedTransaction, now: number): boolean {
  return baseline !== null || (time ?? now) >= armedAt - 10_000
}

function isWithinBounds({ size, slippagePercent }: Attempt, { tradeLamports, tokens }: Fill): boolean {
  if (size.kind === 'tokens') return tokens === size.tokens
  if (size.kind !== 'sol') return true
  const slippage = slippagePercent / 100
  const most = size.lamports * (1 + slippage + FEES_SHARE)
  return tradeLamports <= most && tradeLamports >= size.lamports * (1 - slippage - FEES_SHARE)
}

function rank({ watched, isWithin }: LaneMatch): number {
  return LIKELIEST_FIRST.indexOf(watched.lack) * 2 + (isWithin ? 0 : 1)
}

function lanes(matches: readonly LaneMatch[]): number {
  return new Set(matches.map(({ watched }) => laneOf(watched.attempt))).size
}

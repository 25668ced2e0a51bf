import { type Attempt, type Fill, laneOf } from '../core/order.ts'
import type { TokenAmount } from '../core/units.ts'
import { tokensOf } from './change.ts'
import { fillFrom, type Reading } from './fill.ts'
import type { LandedTransaction } from './transaction.ts'
import type { Lack, Watched } from './watched.ts'

export interface LaneMatch {
  readonly watched: Watched
  readonly reading: Exclude<Reading, { kind: 'other' }>
  /** The order asked for something like this. */
  readonly isWithin: boolean
}

/** Answer or sight first, and of those the ones that asked for this amount. */
const LIKELIEST_FIRST: readonly `${Lack} ${boolean}`[] = [
  ...(['answer true', 'sight true', 'answer false', 'sight false'] as const),
  ...(['execution true', 'execution false', 'nothing true', 'nothing false'] as const),
]
/** Of the SOL asked, beside the slippage: the fees of venue and service. */
const FEES_SHARE = 0.05
/** What part of the holding a percentage can not say, and of an amount what is lost where it is counted in floating point. */
const HOLDING_PARTS = 10_000n
const AMOUNT_PARTS = 1_000_000n
const PERCENT_PARTS = 1_000_000

/** The attempt that a transaction of the wallet most likely is: by mint, direction and time, then by what the attempts still lack and whether
 *  they asked for that amount. Another amount is taken for one whose answer or sight is lacking, or which asked for a share of a balance that
 *  the service may have read earlier; else somebody used the wallet by hand. `isOwned`: only one comes into question, because of the
 *  signature. */
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
  const isWithin = isWithinBounds(attempt, reading.fill, tokensOf(transaction.before, wallet, attempt.mint))
  const isLacking = lack === 'answer' || lack === 'sight'
  const isShare = attempt.size.kind === 'percent' || attempt.size.kind === 'all'
  return isOwned || isWithin || isLacking || isShare ? { watched, reading, isWithin } : undefined
}

/** Where there is no baseline, block times have to do: whole seconds, voted by validators, and our clock is not theirs. */
function isAfter({ baseline, armedAt }: Attempt, { time }: LandedTransaction, now: number): boolean {
  return baseline !== null || (time ?? now) >= armedAt - 10_000
}

/** `held`: by the wallet, just before. */
function isWithinBounds(
  { size, slippagePercent }: Attempt,
  { tradeLamports, tokens }: Fill,
  held: TokenAmount,
): boolean {
  if (size.kind === 'all') return isAbout(tokens, held, 0n)
  if (size.kind === 'percent')
    return isAbout(
      tokens,
      (held * BigInt(Math.round(size.percent * PERCENT_PARTS))) / BigInt(100 * PERCENT_PARTS),
      held,
    )
  // Where it is not proved what a number counts, it was sent as a percentage.
  if (size.kind === 'tokens') return isAbout(tokens, size.tokens, held)
  const slippage = slippagePercent / 100
  const most = size.lamports * (1 + slippage + FEES_SHARE)
  return tradeLamports <= most && tradeLamports >= size.lamports * (1 - slippage - FEES_SHARE)
}

function isAbout(sold: TokenAmount, asked: TokenAmount, held: TokenAmount): boolean {
  const off = sold > asked ? sold - asked : asked - sold
  return off <= 1n + held / HOLDING_PARTS + asked / AMOUNT_PARTS
}

function rank({ watched, isWithin }: LaneMatch): number {
  return LIKELIEST_FIRST.indexOf(`${watched.lack} ${isWithin}`)
}

function lanes(matches: readonly LaneMatch[]): number {
  return new Set(matches.map(({ watched }) => laneOf(watched.attempt))).size
}

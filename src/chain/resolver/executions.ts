import { type Lamports, lamports, type TokenAmount } from '../../base/units.ts'
import { type Fill, isFullExit, laneOf } from '../../engine/order.ts'
import type { Attempt } from '../../orders/attempt.ts'
import type { Outcome } from '../../orders/ports.ts'
import { fillFrom, type Reading } from '../landed/fill.ts'
import type { LandedTransaction } from '../landed/landed-transaction.ts'
import { tokensOf } from '../landed/wallet-change.ts'
import type { Lack, WatchedAttempt, WatchList } from './watch-list.ts'

export interface ExecutionParts {
  readonly watches: WatchList
  readonly wallet: string
  readonly now: () => number
  readonly follow: (one: WatchedAttempt, signature: string) => void
  /** The answer of the service was wrong. */
  readonly doubt: (one: WatchedAttempt, reason: string) => void
  /** An execution that nobody waits for any more. */
  readonly late: (attempt: Attempt, fill: Fill, code: 'LATE_FILL' | 'SERVICE_DUPLICATE') => void
  /** A buy that has executed, or ended without, or for which the service has named another transaction, is seen to
   *  execute. The service did more than it was asked, or somebody else trades with the wallet. Not necessarily
   *  final. */
  readonly unexpected: (attempt: Attempt, signature: string, fill: Fill) => void
  /** A transaction of the wallet failed, and most likely it was this attempt's; nothing is decided by that. Final. */
  readonly paid: (attempt: Attempt, signature: string, feeLamports: Lamports) => void
  /** An attempt that stands for an execution of a full exit of which any of several attempts may have been the
   *  cause. */
  readonly standIn: (one: WatchedAttempt) => WatchedAttempt
  readonly notice: (text: string) => void
}

type Reverted = Extract<Outcome, { kind: 'reverted' }>

/** Positive evidence: what was seen of attempts on the chain, from whatever source, and what follows. */
export class Executions {
  readonly #parts: ExecutionParts

  constructor(parts: ExecutionParts) {
    this.#parts = parts
  }

  /** A transaction of the wallet, as the chain has it: the attempt that made it, '' where none did. */
  found(transaction: LandedTransaction, final: boolean): string {
    const { watches, wallet, now, follow, notice } = this.#parts
    const { signature } = transaction
    const owner = watches.ownerOf(signature)
    const match = laneMatch(
      transaction,
      wallet,
      owner === undefined ? watches.all() : [owner],
      now(),
      owner !== undefined,
    )
    if (match === undefined) return ''
    const { watched: likeliest, reading, isWithin } = match
    if (reading.kind === 'reverted' && owner === undefined)
      return final ? this.#paid(likeliest, signature, reading.feeLamports) : ''
    const one = this.#claimed(likeliest, signature)
    if (one === undefined) return ''
    if (!isWithin && owner === undefined) notice(`${one.attempt.id}: ${signature} is of another amount than was asked`)
    if (!final) follow(one, signature)
    if (reading.kind === 'filled') this.#executed(one, { ...reading.fill, final })
    else this.#reverted(one, { ...reading, signature, final })
    return one.attempt.id
  }

  /** What the chain shows of a signature that may be this attempt's. */
  told(one: WatchedAttempt, signature: string, outcome: Outcome): void {
    const { watches, doubt, follow } = this.#parts
    const isOwned = watches.ownerOf(signature) === one
    // Only the feed hinted at it, and another transaction has executed this attempt since: the finder decides whose it
    // is.
    const isElsewhere = !isOwned && one.settled !== '' && one.settled !== signature
    const mayBe = outcome.kind === 'filled' && !isElsewhere && isLater(one, outcome.fill)
    const maker = mayBe ? this.#claimed(one, signature) : undefined
    if (maker !== undefined && outcome.kind === 'filled') {
      if (maker !== one && !outcome.final) follow(maker, signature)
      this.#executed(maker, outcome.fill)
    } else if (!isOwned) one.followed.get(signature)?.()
    else if (outcome.kind === 'reverted') this.#reverted(one, outcome)
    else if (!one.ended && one.settled === '') doubt(one, reasonOf(outcome))
  }

  /** What an earlier process saw of it is another's by now: of the same order, which the service has named since, so
   *  that this one only stood for it; or of another order, so that this one has yet to execute. */
  isAnothers(one: WatchedAttempt): void {
    const { signature, orderId, code } = one.attempt
    const owner = this.#parts.watches.ownerOf(signature)
    if (code === '' && owner?.attempt.orderId === orderId) Object.assign(one, { standsFor: owner, settled: signature })
    else this.takeBack(one, `${signature} is of ${owner?.attempt.id}`)
  }

  /** A fork removed what was seen: it may land again, until its bound. */
  takeBack(one: WatchedAttempt, reason: string): void {
    const signature = one.settled || one.attempt.signature
    Object.assign(one, { settled: '', provisional: undefined, seenAt: null, said: 'unknown' })
    one.say({ kind: 'unknown', reason, ...(signature !== '' && { signature }) })
  }

  /** Whose an execution is that this attempt may have made: its own, or that of the attempt which stands for it where
   *  several may have made it. undefined: it is another's. */
  #claimed(one: WatchedAttempt, signature: string): WatchedAttempt | undefined {
    const { watches, standIn } = this.#parts
    const owner = watches.ownerOf(signature)
    if (owner !== undefined) return owner === one || owner.standsFor === one ? owner : undefined
    const maker = this.#isOneOfSeveral(one) ? standIn(one) : one
    watches.claim(signature, maker)
    return maker
  }

  /** A full exit goes again without proof, so that a sale of it may be any of its attempts': each is open until its own
   *  signature, or its own absence, ends it. Those that ended count: a row that the list has lost for a while may be
   *  theirs. */
  #isOneOfSeveral({ attempt, ended, settled }: WatchedAttempt): boolean {
    if (ended || settled !== '' || !isFullExit(attempt)) return false
    const isSent = ({ attempt: other, standsFor }: WatchedAttempt): boolean =>
      other.orderId === attempt.orderId && other.state !== 'refused' && standsFor === null
    return this.#parts.watches.all().filter(isSent).length > 1
  }

  /** A failed transaction may be anybody's try: what the service does after it is not known. It explains the wallet,
   *  and costs its fee. */
  #paid(one: WatchedAttempt, signature: string, feeLamports: Lamports): string {
    const { watches, paid } = this.#parts
    if (!one.paid.has(signature)) {
      one.paid.add(signature)
      watches.keep(one)
      paid(one.attempt, signature, feeLamports)
    }
    return one.attempt.id
  }

  #executed(one: WatchedAttempt, found: Fill): void {
    const fill = { ...found, attemptId: one.attempt.id }
    if (one.final.has(fill.signature)) return
    if (fill.final) one.final.add(fill.signature)
    const isSecond = one.settled !== '' && one.settled !== fill.signature
    const isAwaited = !isSecond && !one.ended
    // The service has named another transaction for it, which may have failed.
    const isUnnamed = one.named.size > 0 && !one.named.has(fill.signature)
    if (fill.side === 'buy' && (isUnnamed || (!isAwaited && !fill.final)))
      this.#parts.unexpected(one.attempt, this.#strangest(one, fill), fill)
    if (isAwaited) this.#filled(one, fill)
    else if (fill.final) this.#late(one, fill, isSecond ? 'SERVICE_DUPLICATE' : 'LATE_FILL')
  }

  /** Of two executions of one attempt the one that the service has not named. */
  #strangest({ named, settled }: WatchedAttempt, { signature }: Fill): string {
    return settled !== '' && named.has(signature) && !named.has(settled) ? settled : signature
  }

  #filled(one: WatchedAttempt, fill: Fill): void {
    const before = one.provisional
    if (before !== undefined && differ(before, fill)) this.takeBack(one, 'a fork put it into another block')
    const isSaid = one.provisional !== undefined && !fill.final
    Object.assign(one, { settled: fill.signature, provisional: fill, seenAt: fill.slot, said: 'landed' })
    if (isSaid) return
    if (fill.final) this.#parts.watches.end(one, 'filled', fill.signature)
    one.say({ kind: 'filled', fill, final: fill.final })
    if (fill.final) this.#release(one, fill)
  }

  /** The service has named the signature since: what stood for this attempt is over with it. */
  #release(one: WatchedAttempt, fill: Fill): void {
    for (const other of this.#parts.watches.all()) {
      const isStandIn = other.standsFor !== null && other !== one && other.attempt.orderId === one.attempt.orderId
      if (isStandIn && !other.ended && other.settled === fill.signature) this.#executed(other, fill)
    }
  }

  #late(one: WatchedAttempt, fill: Fill, code: 'LATE_FILL' | 'SERVICE_DUPLICATE'): void {
    const { attempt } = one
    const { signature } = fill
    if (one.settled === '') {
      one.settled = signature
      one.attempt = { ...attempt, state: 'filled', signature, code }
    }
    this.#parts.watches.keep(one)
    this.#parts.late(attempt, fill, code)
    this.#release(one, fill)
  }

  #reverted(one: WatchedAttempt, outcome: Reverted): void {
    const { signature, final } = outcome
    if (one.ended || one.settled !== '' || one.final.has(signature)) return
    if (!final && one.said === 'landed') return
    one.said = 'landed'
    if (final) {
      one.final.add(signature)
      this.#parts.watches.end(one, 'reverted', signature)
    }
    one.say(one.paid.has(signature) ? { ...outcome, feeLamports: lamports(0) } : outcome)
  }
}

/** An older trade of the same mint and side is no proof. */
function isLater({ attempt }: WatchedAttempt, { slot, time }: Fill): boolean {
  return attempt.baseline === null ? time >= attempt.armedAt - 10_000 : slot > attempt.baseline.slot
}

function reasonOf(outcome: Outcome): string {
  if (outcome.kind === 'filled') return 'the service answered with a transaction that is older than the order'
  return 'reason' in outcome ? outcome.reason : outcome.kind
}

function differ(one: Fill, other: Fill): boolean {
  return one.tokens !== other.tokens || one.walletLamports !== other.walletLamports
}

export interface LaneMatch {
  readonly watched: WatchedAttempt
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
/** What part of the holding a percentage can not say, and of an amount what is lost where it is counted in floating
 *  point. */
const HOLDING_PARTS = 10000n
const AMOUNT_PARTS = 1000000n
const PERCENT_PARTS = 1000000

/** The attempt that a transaction of the wallet most likely is: by mint, direction and time, then by what the attempts
 *  still lack and whether they asked for that amount. Another amount is taken for one whose answer or sight is lacking,
 *  or which asked for a share of a balance that the service may have read earlier; else somebody used the wallet by
 *  hand. `isOwned`: only one comes into question, because of the signature. */
export function laneMatch(
  transaction: LandedTransaction,
  wallet: string,
  watched: readonly WatchedAttempt[],
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
  watched: WatchedAttempt,
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

/** Where there is no baseline, block times have to do: whole seconds, voted by validators, and our clock is not
 *  theirs. */
function isAfter({ baseline, armedAt }: Attempt, { time }: LandedTransaction, now: number): boolean {
  return baseline !== null || (time ?? now) >= armedAt - 10000
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

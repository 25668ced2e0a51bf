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
  /** Reports that the service's answer about an attempt was wrong. */
  readonly doubt: (one: WatchedAttempt, reason: string) => void
  /** Reports an execution of an attempt that has already ended. */
  readonly late: (attempt: Attempt, fill: Fill, code: 'LATE_FILL' | 'SERVICE_DUPLICATE') => void
  /** Reports an unexpected execution of a buy: the attempt has already executed, it has ended without an execution, or
   *  the service named another transaction for it. Either the service executed more than was ordered, or another
   *  process trades with the wallet. The execution may not be final. */
  readonly unexpected: (attempt: Attempt, signature: string, fill: Fill) => void
  /** Reports a failed transaction of the wallet that is final and most likely belongs to this attempt. It does not
   *  decide the attempt's outcome. */
  readonly paid: (attempt: Attempt, signature: string, feeLamports: Lamports) => void
  /** Creates a stand-in. If any of several attempts may have made an execution of a full exit, the execution is booked
   *  to the stand-in instead of one of them. */
  readonly standIn: (one: WatchedAttempt) => WatchedAttempt
  readonly notice: (text: string) => void
}

type Reverted = Extract<Outcome, { kind: 'reverted' }>

/** Ends attempts whose execution was seen on the chain, no matter which component saw it. */
export class Executions {
  readonly #parts: ExecutionParts

  constructor(parts: ExecutionParts) {
    this.#parts = parts
  }

  /** Processes a transaction of the wallet. Returns the id of the attempt that made it; '' if no attempt did. */
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
    if (!isWithin && owner === undefined)
      notice(`${one.attempt.id}: the amount of transaction ${signature} differs from the order`)
    if (!final) follow(one, signature)
    if (reading.kind === 'filled') this.#executed(one, { ...reading.fill, final })
    else this.#reverted(one, { ...reading, signature, final })
    return one.attempt.id
  }

  /** Processes the outcome on the chain of a signature that may belong to this attempt. */
  takeOutcome(one: WatchedAttempt, signature: string, outcome: Outcome): void {
    const { watches, doubt, follow } = this.#parts
    const isOwned = watches.ownerOf(signature) === one
    // The signature came only from the feed, and this attempt has since executed as another transaction. The search of
    // the wallet decides later to which attempt the signature belongs.
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

  /** Called after a restart if an execution of this attempt was seen, but another attempt now owns the signature of
   *  that execution. If both attempts belong to the same order, the service has since named the signature for the other
   *  attempt, and this attempt is kept as a stand-in for the other one. Otherwise the execution is withdrawn from this
   *  attempt. */
  isAnothers(one: WatchedAttempt): void {
    const { signature, orderId, code } = one.attempt
    const owner = this.#parts.watches.ownerOf(signature)
    if (code === '' && owner?.attempt.orderId === orderId) Object.assign(one, { standsFor: owner, settled: signature })
    else this.takeBack(one, `transaction ${signature} belongs to attempt ${owner?.attempt.id}`)
  }

  /** Withdraws the report of an execution that a fork removed. The transaction may land again as long as the attempt
   *  can land. */
  takeBack(one: WatchedAttempt, reason: string): void {
    const signature = one.settled || one.attempt.signature
    Object.assign(one, { settled: '', provisional: undefined, seenAt: null, lastReport: 'unknown' })
    one.say({ kind: 'unknown', reason, ...(signature !== '' && { signature }) })
  }

  /** Returns the attempt to which an execution is assigned if `one` may have made it: `one` itself, or a stand-in (an
   *  attempt of the same order that sends no request) if several attempts may have made it. Returns undefined if the
   *  execution belongs to another attempt. */
  #claimed(one: WatchedAttempt, signature: string): WatchedAttempt | undefined {
    const { watches, standIn } = this.#parts
    const owner = watches.ownerOf(signature)
    if (owner !== undefined) return owner === one || owner.standsFor === one ? owner : undefined
    const maker = this.#isOneOfSeveral(one) ? standIn(one) : one
    watches.claim(signature, maker)
    return maker
  }

  /** A full exit is retried without proof of absence, so an execution may belong to any of its attempts. Each attempt
   *  stays open until the service names its signature or its absence is proved. Ended attempts count too, because a
   *  transaction that the node's list omitted for a while may belong to one of them. */
  #isOneOfSeveral({ attempt, ended, settled }: WatchedAttempt): boolean {
    if (ended || settled !== '' || !isFullExit(attempt)) return false
    const isSent = ({ attempt: other, standsFor }: WatchedAttempt): boolean =>
      other.orderId === attempt.orderId && other.state !== 'refused' && standsFor === null
    return this.#parts.watches.all().filter(isSent).length > 1
  }

  /** Books the fee of a failed transaction, so that the change of the balance is explained. The failure does not end
   *  the attempt, because another attempt may have made the transaction, and the service may send the order again. */
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
    // The service named a different transaction for the attempt; that transaction may have failed.
    const isUnnamed = one.named.size > 0 && !one.named.has(fill.signature)
    if (fill.side === 'buy' && (isUnnamed || (!isAwaited && !fill.final)))
      this.#parts.unexpected(one.attempt, this.#unnamedOf(one, fill), fill)
    if (isAwaited) this.#filled(one, fill)
    else if (fill.final) this.#late(one, fill, isSecond ? 'SERVICE_DUPLICATE' : 'LATE_FILL')
  }

  /** If the attempt has executed twice, returns the signature of the execution that the service did not name. Otherwise
   *  returns the signature of this fill. */
  #unnamedOf({ named, settled }: WatchedAttempt, { signature }: Fill): string {
    return settled !== '' && named.has(signature) && !named.has(settled) ? settled : signature
  }

  #filled(one: WatchedAttempt, fill: Fill): void {
    const before = one.provisional
    if (before !== undefined && differ(before, fill))
      this.takeBack(one, 'a fork moved the transaction to another block')
    const isSaid = one.provisional !== undefined && !fill.final
    Object.assign(one, { settled: fill.signature, provisional: fill, seenAt: fill.slot, lastReport: 'landed' })
    if (isSaid) return
    if (fill.final) this.#parts.watches.end(one, 'filled', fill.signature)
    one.say({ kind: 'filled', fill, final: fill.final })
    if (fill.final) this.#release(one, fill)
  }

  /** Ends the stand-in to which this execution of the same order was booked first. A stand-in is an attempt that sends
   *  no request. An execution is booked to it if any of several attempts may have made the execution. */
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
    if (!final && one.lastReport === 'landed') return
    one.lastReport = 'landed'
    if (final) {
      one.final.add(signature)
      this.#parts.watches.end(one, 'reverted', signature)
    }
    one.say(one.paid.has(signature) ? { ...outcome, feeLamports: lamports(0) } : outcome)
  }
}

/** Whether a trade happened after the attempt was sent. An older trade of the same mint and side proves nothing. */
function isLater({ attempt }: WatchedAttempt, { slot, time }: Fill): boolean {
  return attempt.baseline === null ? time >= attempt.armedAt - 10_000 : slot > attempt.baseline.slot
}

function reasonOf(outcome: Outcome): string {
  if (outcome.kind === 'filled') return 'the service named a transaction that is older than the order'
  return 'reason' in outcome ? outcome.reason : outcome.kind
}

function differ(one: Fill, other: Fill): boolean {
  return one.tokens !== other.tokens || one.walletLamports !== other.walletLamports
}

export interface LaneMatch {
  readonly watched: WatchedAttempt
  readonly reading: Exclude<Reading, { kind: 'other' }>
  /** Whether the traded amount is within the tolerance of the order. */
  readonly isWithin: boolean
}

/** The order in which attempts are preferred, the likeliest match first. Each entry has the evidence that the attempt
 *  still lacks, and whether its amount matches. Attempts without an answer, and attempts whose transaction was not
 *  seen, come first. */
const LIKELIEST_FIRST: readonly `${Lack} ${boolean}`[] = [
  ...(['answer true', 'sight true', 'answer false', 'sight false'] as const),
  ...(['execution true', 'execution false', 'nothing true', 'nothing false'] as const),
]

/** Tolerance for the fees of the venue and the service, as a share of the ordered SOL. It is added to the order's
 *  slippage limit. */
const FEES_SHARE = 0.05
/** Tolerances of token amounts. An amount may differ by 1/HOLDING_PARTS of the wallet's tokens, because a percentage
 *  has limited precision, and by 1/AMOUNT_PARTS of the amount itself, because services compute in floating point. */
const HOLDING_PARTS = 10000n
const AMOUNT_PARTS = 1000000n
const PERCENT_PARTS = 1000000

/** Returns the attempt that most likely made a transaction of the wallet; undefined if no attempt fits, so that the
 *  trade counts as manual. An attempt fits if its mint, side and time match, and in addition one of these conditions
 *  holds: the amount matches, the attempt has no answer, its transaction was not seen, or it ordered a share of a
 *  balance. (The service may have computed such a share from an older balance.) If several attempts fit,
 *  LIKELIEST_FIRST decides. `isOwned`: the signature already identifies the attempt, so its amount is not compared. */
export function laneMatch(
  transaction: LandedTransaction,
  wallet: string,
  watched: readonly WatchedAttempt[],
  now: number,
  isOwned: boolean,
): LaneMatch | undefined {
  const matches = watched.flatMap((one) => matchOf(transaction, wallet, one, now, isOwned) ?? [])
  // A failed transaction moved no tokens, so it does not show which trade it was. It cannot be assigned if attempts
  // with different mints or sides match.
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

/** Whether a transaction happened after the attempt was sent. If the attempt has a baseline (the wallet's last final
 *  state before it), the caller has already compared the Solana slots. Otherwise the block time decides. The tolerance
 *  is 10 s, because block times are whole seconds voted by validators and differ from this machine's clock. */
function isAfter({ baseline, armedAt }: Attempt, { time }: LandedTransaction, now: number): boolean {
  return baseline !== null || (time ?? now) >= armedAt - 10000
}

/** Whether the amount of the fill fits the order. `held`: tokens in the wallet just before the trade. */
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
  // If the unit in which the service expects token amounts is not verified, the order was sent as a percentage of the
  // wallet's tokens. The tolerance therefore includes a part of those tokens.
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

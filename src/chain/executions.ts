import { type Attempt, type Fill, isFullExit } from '../core/order.ts'
import type { Outcome } from '../core/ports.ts'
import { type Lamports, lamports } from '../core/units.ts'
import { laneMatch } from './lane-match.ts'
import type { LandedTransaction } from './transaction.ts'
import type { WatchList } from './watch-list.ts'
import type { Watched } from './watched.ts'

export interface ExecutionParts {
  readonly watches: WatchList
  readonly wallet: string
  readonly now: () => number
  readonly follow: (one: Watched, signature: string) => void
  /** The answer of the service was wrong. */
  readonly doubt: (one: Watched, reason: string) => void
  /** An execution that nobody waits for any more. */
  readonly late: (attempt: Attempt, fill: Fill, code: 'LATE_FILL' | 'SERVICE_DUPLICATE') => void
  /** A buy that has executed, or ended without, or for which the service has named another transaction, is seen to execute. The service did
   *  more than it was asked, or somebody else trades with the wallet. Not necessarily final. */
  readonly unexpected: (attempt: Attempt, signature: string, fill: Fill) => void
  /** A transaction of the wallet failed, and most likely it was this attempt's; nothing is decided by that. Final. */
  readonly paid: (attempt: Attempt, signature: string, feeLamports: Lamports) => void
  /** An attempt that stands for an execution of a full exit of which any of several attempts may have been the cause. */
  readonly standIn: (one: Watched) => Watched
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
  told(one: Watched, signature: string, outcome: Outcome): void {
    const { watches, doubt, follow } = this.#parts
    const isOwned = watches.ownerOf(signature) === one
    // Only the feed hinted at it, and another transaction has executed this attempt since: the finder decides whose it is.
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

  /** What an earlier process saw of it is another's by now: of the same order, which the service has named since, so that this one only stood
   *  for it; or of another order, so that this one has yet to execute. */
  isAnothers(one: Watched): void {
    const { signature, orderId, code } = one.attempt
    const owner = this.#parts.watches.ownerOf(signature)
    if (code === '' && owner?.attempt.orderId === orderId) Object.assign(one, { standsFor: owner, settled: signature })
    else this.takeBack(one, `${signature} is of ${owner?.attempt.id}`)
  }

  /** A fork removed what was seen: it may land again, until its bound. */
  takeBack(one: Watched, reason: string): void {
    const signature = one.settled || one.attempt.signature
    Object.assign(one, { settled: '', provisional: undefined, seenAt: null, said: 'unknown' })
    one.say({ kind: 'unknown', reason, ...(signature !== '' && { signature }) })
  }

  /** Whose an execution is that this attempt may have made: its own, or that of the attempt which stands for it where several may have made
   *  it. undefined: it is another's. */
  #claimed(one: Watched, signature: string): Watched | undefined {
    const { watches, standIn } = this.#parts
    const owner = watches.ownerOf(signature)
    if (owner !== undefined) return owner === one || owner.standsFor === one ? owner : undefined
    const maker = this.#isOneOfSeveral(one) ? standIn(one) : one
    watches.claim(signature, maker)
    return maker
  }

  /** A full exit goes again without proof, so that a sale of it may be any of its attempts': each is open until its own signature, or its
   *  own absence, ends it. Those that ended count: a row that the list has lost for a while may be theirs. */
  #isOneOfSeveral({ attempt, ended, settled }: Watched): boolean {
    if (ended || settled !== '' || !isFullExit(attempt)) return false
    const isSent = ({ attempt: other, standsFor }: Watched): boolean =>
      other.orderId === attempt.orderId && other.state !== 'refused' && standsFor === null
    return this.#parts.watches.all().filter(isSent).length > 1
  }

  /** A failed transaction may be anybody's try: what the service does after it is not known. It explains the wallet, and costs its fee. */
  #paid(one: Watched, signature: string, feeLamports: Lamports): string {
    const { watches, paid } = this.#parts
    if (!one.paid.has(signature)) {
      one.paid.add(signature)
      watches.keep(one)
      paid(one.attempt, signature, feeLamports)
    }
    return one.attempt.id
  }

  #executed(one: Watched, found: Fill): void {
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
  #strangest({ named, settled }: Watched, { signature }: Fill): string {
    return settled !== '' && named.has(signature) && !named.has(settled) ? settled : signature
  }

  #filled(one: Watched, fill: Fill): void {
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
  #release(one: Watched, fill: Fill): void {
    for (const other of this.#parts.watches.all()) {
      const isStandIn = other.standsFor !== null && other !== one && other.attempt.orderId === one.attempt.orderId
      if (isStandIn && !other.ended && other.settled === fill.signature) this.#executed(other, fill)
    }
  }

  #late(one: Watched, fill: Fill, code: 'LATE_FILL' | 'SERVICE_DUPLICATE'): void {
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

  #reverted(one: Watched, outcome: Reverted): void {
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
function isLater({ attempt }: Watched, { slot, time }: Fill): boolean {
  return attempt.baseline === null ? time >= attempt.armedAt - 10_000 : slot > attempt.baseline.slot
}

function reasonOf(outcome: Outcome): string {
  if (outcome.kind === 'filled') return 'the service answered with a transaction that is older than the order'
  return 'reason' in outcome ? outcome.reason : outcome.kind
}

function differ(one: Fill, other: Fill): boolean {
  return one.tokens !== other.tokens || one.walletLamports !== other.walletLamports
}

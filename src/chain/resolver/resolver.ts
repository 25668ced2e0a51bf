import { assert } from '../../base/errors.ts'
import type { Cancel, Clock } from '../../base/machine.ts'
import { type Attempt, deadState } from '../../orders/attempt.ts'
import type { JournalRecord, Outcome } from '../../orders/ports.ts'
import type { Watch } from '../../orders/wallet-audit.ts'
import { fillFrom } from '../landed/fill.ts'
import type { LandedTransaction } from '../landed/landed-transaction.ts'
import type { Head } from '../rpc/read.ts'
import { Absence, type AbsenceParts, type Reading, VALID_BLOCKS } from './absence.ts'
import { type ExecutionParts, Executions } from './executions.ts'
import type { WatchedAttempt } from './watch-list.ts'
import { SILENT_MS, WatchList } from './watch-list.ts'

export interface ResolverParts
  extends Pick<AbsenceParts, 'second' | 'wake' | 'notice' | 'whyNoHead'>,
    Pick<ExecutionParts, 'wallet' | 'late' | 'unexpected' | 'paid'> {
  readonly clock: Clock
  /** Milliseconds since the machine's boot, and which boot that was. */
  readonly monotonicMs: () => number
  readonly boot: string
  /** How long after we hung up a request may still be carried out. */
  readonly lateMs: number
  readonly follow: (signature: string, attempt: Attempt, done: (outcome: Outcome) => void) => Cancel
  /** A full exit has executed, and which of several attempts did it is not known: a new one, for what was seen. */
  readonly standIn: (attempt: Attempt) => { attempt: Attempt; done: (outcome: Outcome) => void }
  /** The head of the chain, not older than the question. */
  readonly head: (told: (head: Head) => void) => void
  readonly write: (record: JournalRecord) => void
}

/** What is learnt of an attempt that is being sent, from whoever talks to the service. */
export interface Resolution {
  /** We signed it: what may land from now on, up to this height, base64. */
  signed(signature: string, bound: number, bytes: string): void
  /** Bytes of it may be out. */
  sent(): void
  /** The service gave its signature. */
  acked(signature: string): void
  /** The answer is late, or says nothing. */
  doubt(reason: string, signature?: string): void
  /** No answer can come any more, and what was sent may still be carried out. */
  hungUp(): void
  /** The service said no. */
  refused(outcome: Extract<Outcome, { kind: 'refused' }>): void
  /** Not a byte was sent. */
  unsent(outcome: Extract<Outcome, { kind: 'unsent' }>): void
}

/** Signatures from the feed that are looked at for one attempt. */
const MOST_HINTS = 8

/** Finds out what became of attempts: from positive evidence at confirmed, from absence at finalized; never from a
 *  timer, a number of misses or the word of the service. An attempt is watched until nothing more can come of it,
 *  whatever was thought of it meanwhile. */
export class Resolver {
  readonly watches: WatchList
  readonly #parts: ResolverParts
  readonly #executions: Executions
  readonly #absence: Absence

  constructor(parts: ResolverParts) {
    const { write, clock, wallet, late, unexpected, paid, notice, second, wake, whyNoHead } = parts
    const watches = new WatchList(write)
    this.#parts = parts
    this.watches = watches
    this.#executions = new Executions({
      ...{ watches, wallet, late, unexpected, paid, notice, now: () => clock.now() },
      follow: (one, signature) => this.#follow(one, signature),
      standIn: (one) => this.#standIn(one),
      doubt: (one, reason) => this.#doubt(one, reason, ''),
    })
    this.#absence = new Absence({ watches, executions: this.#executions, second, wake, notice, whyNoHead })
  }

  /** What earlier processes watched; before anything is resumed. */
  restore(watches: readonly Watch[]): void {
    for (const watch of watches) {
      const one = this.watches.restore(watch)
      if (watch.ended && watch.bound === null) this.#boundFromNow(one)
    }
  }

  /** An attempt that is about to be sent. */
  begin(attempt: Attempt, done: (outcome: Outcome) => void): Resolution {
    const one = this.watches.of(attempt)
    one.done = done
    return {
      signed: (signature, bound, bytes) => this.#signed(one, signature, bound, bytes),
      sent: () => this.#sent(one),
      acked: (signature) => this.#acked(one, signature),
      doubt: (reason, signature = '') => this.#doubt(one, reason, signature),
      hungUp: () => this.#hungUp(one),
      refused: (outcome) => this.#refused(one, outcome),
      unsent: (outcome) => this.#unsent(one, outcome),
    }
  }

  /** Goes on with an attempt that an earlier process sent. Says nothing from inside the call. */
  resume(attempt: Attempt, done: (outcome: Outcome) => void): void {
    const one = this.watches.of(attempt)
    Object.assign(one, { attempt: { ...attempt }, done, ended: false })
    this.#parts.clock.after(0, () => this.#goOn(one))
  }

  /** It is some attempt's. */
  isKnown(signature: string): boolean {
    return this.watches.ownerOf(signature) !== undefined
  }

  /** What we signed of an attempt, base64, while it may still land; undefined where the service signed. */
  signedBytes(attemptId: string): string | undefined {
    return this.watches.signedBytes(attemptId)
  }

  /** The feed shows a trade of our wallet in this mint: proof, if the chain has it and it is ours; nothing, if not. */
  hint(mint: string, signature: string): void {
    if (this.watches.ownerOf(signature) !== undefined) return
    for (const one of this.watches.all()) {
      if (one.ended || one.isSigned || one.settled !== '') continue
      if (one.attempt.mint !== mint || one.hints.size >= MOST_HINTS) continue
      one.hints.add(signature)
      if (one.isLost) this.#follow(one, signature)
    }
  }

  /** A transaction of the wallet, as the chain has it: the attempt that made it, '' where none did. */
  found(transaction: LandedTransaction, final: boolean): string {
    this.#reconsider(transaction, final)
    return this.#executions.found(transaction, final)
  }

  /** An audit came to an end: what it did not find may be absent. */
  read(reading: Reading): void {
    this.#absence.take(reading)
  }

  /** A person says that this transaction is this attempt; false where the chain does not say so. */
  executedBy(one: WatchedAttempt, transaction: LandedTransaction): boolean {
    const { signature } = transaction
    const isNew = this.watches.ownerOf(signature) === undefined
    if (!this.watches.claim(signature, one)) return false
    if (this.#executions.found(transaction, true) !== '' && one.settled === signature) return true
    if (isNew) this.watches.disclaim(signature)
    return false
  }

  /** A person says that a held attempt did not execute. Should it turn out to have, that is a late fill. */
  abandon(one: WatchedAttempt): void {
    Object.assign(one, { bound: null, boundSlot: null, attempt: { ...one.attempt, code: 'RESOLVED' } })
    this.watches.end(one, deadState(one.attempt.executor))
    this.#boundFromNow(one)
    one.say({ kind: 'absent', code: 'RESOLVED' })
  }

  #goOn(one: WatchedAttempt): void {
    const { state, signature, code } = one.attempt
    if (state === 'undecided') one.said = 'held'
    else if (state === 'acked' || state === 'landed' || state === 'unknown') one.said = state
    else if (state === 'signed' || state === 'sent') one.said = 'acked'
    const isOwn = signature !== '' && this.watches.claimAgain(one)
    if (isOwn && (state === 'acked' || one.isSigned)) one.named.add(signature)
    if (isOwn && state === 'landed' && code === '') one.settled = signature // seen to execute; what else is seen is not it
    if (isOwn) this.#follow(one, signature)
    else if (state === 'landed' && signature !== '') this.#executions.isAnothers(one)
    if (state === 'armed') this.#doubt(one, 'an earlier process sent it; its answer is not known', '')
    // What was seen before is seen again within moments, or a fork has taken it back.
    if (state === 'landed')
      this.#parts.head(({ slot }) => {
        if (one.said === 'landed') one.seenAt ??= slot
      })
    if (one.bound !== null) return
    if (state === 'acked' || state === 'landed') this.#boundFromNow(one)
    else this.#hungUp(one)
  }

  #signed(one: WatchedAttempt, signature: string, bound: number, bytes: string): void {
    assert(this.watches.name(signature, one), `${signature} is another attempt's`)
    Object.assign(one, { bound, bytes, said: 'acked', attempt: { ...one.attempt, signature, state: 'signed' } })
    this.watches.keep(one)
    one.say({ kind: 'signed', signature })
  }

  #sent(one: WatchedAttempt): void {
    const { signature } = one.attempt
    if (!one.ended && one.said === 'acked') one.say({ kind: 'sent', signature })
    this.#follow(one, signature)
  }

  #acked(one: WatchedAttempt, signature: string): void {
    this.#boundFromNow(one)
    if (!this.watches.name(signature, one)) {
      this.#doubt(one, 'the service answered with the signature of another order', '')
      return
    }
    if (!one.ended && (one.said === 'nothing' || one.said === 'unknown')) {
      one.said = 'acked'
      one.attempt = { ...one.attempt, signature }
      one.say({ kind: 'acked', signature })
      this.#parts.clock.after(SILENT_MS, () => {
        if (one.lack === 'sight') this.#parts.wake()
      })
    }
    this.#follow(one, signature)
  }

  #doubt(one: WatchedAttempt, reason: string, signature: string): void {
    if (one.ended || one.settled !== '' || one.said === 'landed') return
    const isOwn = signature !== '' && this.watches.name(signature, one)
    if (isOwn || !one.isLost) {
      one.said = 'unknown'
      one.say({ kind: 'unknown', reason, ...(isOwn && { signature }) })
    }
    if (isOwn) this.#follow(one, signature)
    for (const hint of one.hints) this.#follow(one, hint)
    this.#parts.wake()
  }

  /** The wait begins once, whatever happens to this process. */
  #hungUp(one: WatchedAttempt): void {
    const { boot, monotonicMs, clock, lateMs } = this.#parts
    if (one.bound !== null) return
    if (one.lostAt?.boot !== boot) one.lostAt = { boot, monotonicMs: monotonicMs() }
    this.watches.keep(one)
    const leftMs = Math.max(0, one.lostAt.monotonicMs + lateMs - monotonicMs())
    one.lateUntil = clock.now() + leftMs
    clock.after(leftMs, () => this.#boundFromNow(one))
  }

  #refused(one: WatchedAttempt, outcome: Extract<Outcome, { kind: 'refused' }>): void {
    this.#boundFromNow(one)
    if (one.ended || one.said === 'landed') {
      this.#parts.notice(`${one.attempt.id}: the service refused what is on the chain`)
      return
    }
    this.watches.end(one, 'refused')
    one.say(outcome)
  }

  #unsent(one: WatchedAttempt, outcome: Extract<Outcome, { kind: 'unsent' }>): void {
    if (one.ended) return
    if (one.said === 'landed') this.#executions.takeBack(one, 'it was not sent, so that what was seen is not its own')
    const wasLost = one.isLost
    one.ended = true
    this.watches.drop(one)
    one.say(wasLost ? { kind: 'absent', code: 'UNSENT' } : outcome)
  }

  /** All that was built by now expires so many blocks after the present head. */
  #boundFromNow(one: WatchedAttempt): void {
    one.asksBound = true
    this.#parts.head(({ height }) => {
      if (one.bound !== null) return
      one.bound = height + VALID_BLOCKS
      this.watches.keep(one)
    })
  }

  #standIn(one: WatchedAttempt): WatchedAttempt {
    const { attempt, done } = this.#parts.standIn(one.attempt)
    const standIn = this.watches.of(attempt)
    Object.assign(standIn, { done, standsFor: one, said: 'unknown' })
    this.#boundFromNow(standIn)
    return standIn
  }

  /** What was taken for an attempt's, by the word of the service or as the likeliest, may turn out to be none of it. */
  #reconsider(transaction: LandedTransaction, final: boolean): void {
    const { signature, error } = transaction
    const owner = this.watches.ownerOf(signature)
    if (owner === undefined || owner.ended) return
    if (error !== null) this.#failed(owner, signature, final)
    else if (fillFrom(transaction, this.#parts.wallet, owner.attempt, 0, true).kind === 'other')
      this.watches.disclaim(signature)
  }

  /** It may have been seen to execute, in another block. A failed transaction ends an attempt only where the service
   *  has named it; as long as it is not final it may execute yet. */
  #failed(one: WatchedAttempt, signature: string, final: boolean): void {
    if (one.ended || one.final.has(signature)) return
    const isOther = final && !one.named.has(signature)
    for (const other of this.watches.all()) {
      const wasSeen =
        other.settled === signature || (isOther && other === one && one.said === 'landed' && one.settled === '')
      if (wasSeen && !other.ended) this.#executions.takeBack(other, 'a fork put it into a block in which it failed')
    }
    if (isOther) this.watches.disclaim(signature)
  }

  #follow(one: WatchedAttempt, signature: string): void {
    if (one.followed.has(signature)) return
    const told = (outcome: Outcome): void => {
      // It was followed to its end. Should the service name it for this attempt later, that end has to be told again.
      if ('final' in outcome && outcome.final) one.followed.delete(signature)
      if (outcome.kind === 'reverted' && this.watches.ownerOf(signature) === one)
        this.#failed(one, signature, outcome.final)
      this.#executions.told(one, signature, outcome)
    }
    one.followed.set(signature, this.#parts.follow(signature, one.attempt, told))
  }
}

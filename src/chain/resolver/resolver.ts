import { assert } from '../../base/errors.ts'
import type { Cancel, Clock } from '../../base/machine.ts'
import { type Attempt, deadState } from '../../orders/attempt.ts'
import type { Watch } from '../../orders/audit-records.ts'
import type { JournalRecord, Outcome } from '../../orders/ports.ts'
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
  /** `monotonicMs`: milliseconds since the machine's boot. `boot`: an identifier of that boot. */
  readonly monotonicMs: () => number
  readonly boot: string
  /** Maximum time after a closed connection during which the service may still execute a request, ms. */
  readonly lateMs: number
  readonly follow: (signature: string, attempt: Attempt, done: (outcome: Outcome) => void) => Cancel
  /** Creates a stand-in for an attempt. An execution of a full exit is booked to it if any of several attempts may have
   *  made that execution. */
  readonly standIn: (attempt: Attempt) => { attempt: Attempt; done: (outcome: Outcome) => void }
  /** Reads the newest block of the chain and passes it to `onHead`. The block is at least as new as the call. */
  readonly head: (onHead: (head: Head) => void) => void
  readonly write: (record: JournalRecord) => void
}

/** Receives the events of an attempt while it is being sent. The executor, which talks to the service, calls these
 *  methods. */
export interface Resolution {
  /** Called when Sluice's own signer signed the attempt. From now on its transaction may land, up to the block height
   *  `bound`. `bytes`: the transaction in base64. */
  signed(signature: string, bound: number, bytes: string): void
  /** Called when parts of the request may have left this machine. */
  sent(): void
  /** Called when the service returned this signature. */
  acked(signature: string): void
  /** Called when the service's answer is late or inconclusive. */
  doubt(reason: string, signature?: string): void
  /** Called when the connection was closed without an answer. No answer can come any more, but the service may still
   *  execute the request. */
  hungUp(): void
  /** Called when the service refused the order. */
  refused(outcome: Extract<Outcome, { kind: 'refused' }>): void
  /** Called when the attempt ended before any part of the request was sent. */
  unsent(outcome: Extract<Outcome, { kind: 'unsent' }>): void
}

/** Maximum number of signatures from the feed that are followed for each attempt. */
const MOST_HINTS = 8

/** Determines the outcomes of attempts. An outcome is proved only by an execution at commitment `confirmed`, or by
 *  absence at `finalized`. An expired timer, failed look-ups or a claim of the service prove nothing. An attempt is
 *  watched until no execution of it is possible any more, even after it has ended. */
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

  /** Restores the attempts that earlier processes followed. Call this before `resume`. */
  restore(watches: readonly Watch[]): void {
    for (const watch of watches) {
      const one = this.watches.restore(watch)
      if (watch.ended && watch.bound === null) this.#boundFromNow(one)
    }
  }

  /** Starts to watch an attempt that is about to be sent. */
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

  /** Continues with an attempt that an earlier process may have sent. Never calls `done` before this call returns. */
  resume(attempt: Attempt, done: (outcome: Outcome) => void): void {
    const one = this.watches.of(attempt)
    Object.assign(one, { attempt: { ...attempt }, done, ended: false })
    this.#parts.clock.after(0, () => this.#goOn(one))
  }

  /** Whether an attempt owns this signature. */
  isKnown(signature: string): boolean {
    return this.watches.ownerOf(signature) !== undefined
  }

  /** Returns the signed transaction of an attempt in base64, kept while it may still land; undefined if the service
   *  signed. */
  signedBytes(attemptId: string): string | undefined {
    return this.watches.signedBytes(attemptId)
  }

  /** Handles a trade of the wallet that the feed shows. It is only a hint: the chain shows whether the trade belongs to
   *  an attempt. */
  hint(mint: string, signature: string): void {
    if (this.watches.ownerOf(signature) !== undefined) return
    for (const one of this.watches.all()) {
      if (one.ended || one.isSigned || one.settled !== '') continue
      if (one.attempt.mint !== mint || one.hints.size >= MOST_HINTS) continue
      one.hints.add(signature)
      if (one.isLost) this.#follow(one, signature)
    }
  }

  /** Processes a transaction of the wallet. Returns the id of the attempt that made it; '' if no attempt did. */
  found(transaction: LandedTransaction, final: boolean): string {
    this.#reconsider(transaction, final)
    return this.#executions.found(transaction, final)
  }

  /** Processes the results of an audit. Attempts whose transactions the audit did not find may be proved absent. */
  read(reading: Reading): void {
    this.#absence.take(reading)
  }

  /** Applies the operator's statement that this transaction executed the attempt. Returns false if the transaction does
   *  not fit the attempt. */
  executedBy(one: WatchedAttempt, transaction: LandedTransaction): boolean {
    const { signature } = transaction
    const isNew = this.watches.ownerOf(signature) === undefined
    if (!this.watches.claim(signature, one)) return false
    if (this.#executions.found(transaction, true) !== '' && one.settled === signature) return true
    if (isNew) this.watches.disclaim(signature)
    return false
  }

  /** Applies the operator's statement that a held attempt did not execute. If the attempt did execute after all, the
   *  execution becomes a late fill. */
  abandon(one: WatchedAttempt): void {
    Object.assign(one, { bound: null, boundSlot: null, attempt: { ...one.attempt, code: 'RESOLVED' } })
    this.watches.end(one, deadState(one.attempt.executor))
    this.#boundFromNow(one)
    one.say({ kind: 'absent', code: 'RESOLVED' })
  }

  #goOn(one: WatchedAttempt): void {
    const { state, signature, code } = one.attempt
    if (state === 'undecided') one.lastReport = 'held'
    else if (state === 'acked' || state === 'landed' || state === 'unknown') one.lastReport = state
    else if (state === 'signed' || state === 'sent') one.lastReport = 'acked'
    const isOwn = signature !== '' && this.watches.claimAgain(one)
    if (isOwn && (state === 'acked' || one.isSigned)) one.named.add(signature)
    if (isOwn && state === 'landed' && code === '') one.settled = signature // other executions are not this attempt's
    if (isOwn) this.#follow(one, signature)
    else if (state === 'landed' && signature !== '') this.#executions.isAnothers(one)
    if (state === 'armed')
      this.#doubt(one, 'an earlier process sent the attempt, and the answer of the service is not known', '')
    // If an earlier process saw the execution of an attempt, this process sees it again within seconds, unless a fork
    // has removed it. `seenAt` becomes the slot of the newest block. If the chain is final up to this slot and this
    // process has not seen the execution, the execution is withdrawn.
    if (state === 'landed')
      this.#parts.head(({ slot }) => {
        if (one.lastReport === 'landed') one.seenAt ??= slot
      })
    if (one.bound !== null) return
    if (state === 'acked' || state === 'landed') this.#boundFromNow(one)
    else this.#hungUp(one)
  }

  #signed(one: WatchedAttempt, signature: string, bound: number, bytes: string): void {
    assert(this.watches.name(signature, one), `transaction ${signature} belongs to another attempt`)
    Object.assign(one, { bound, bytes, lastReport: 'acked', attempt: { ...one.attempt, signature, state: 'signed' } })
    this.watches.keep(one)
    one.say({ kind: 'signed', signature })
  }

  #sent(one: WatchedAttempt): void {
    const { signature } = one.attempt
    if (!one.ended && one.lastReport === 'acked') one.say({ kind: 'sent', signature })
    this.#follow(one, signature)
  }

  #acked(one: WatchedAttempt, signature: string): void {
    this.#boundFromNow(one)
    if (!this.watches.name(signature, one)) {
      this.#doubt(one, 'the service answered with the signature of another order', '')
      return
    }
    if (!one.ended && (one.lastReport === 'nothing' || one.lastReport === 'unknown')) {
      one.lastReport = 'acked'
      one.attempt = { ...one.attempt, signature }
      one.say({ kind: 'acked', signature })
      this.#parts.clock.after(SILENT_MS, () => {
        if (one.lack === 'sight') this.#parts.wake()
      })
    }
    this.#follow(one, signature)
  }

  #doubt(one: WatchedAttempt, reason: string, signature: string): void {
    if (one.ended || one.settled !== '' || one.lastReport === 'landed') return
    const isOwn = signature !== '' && this.watches.name(signature, one)
    if (isOwn || !one.isLost) {
      one.lastReport = 'unknown'
      one.say({ kind: 'unknown', reason, ...(isOwn && { signature }) })
    }
    if (isOwn) this.#follow(one, signature)
    for (const hint of one.hints) this.#follow(one, hint)
    this.#parts.wake()
  }

  /** Starts the wait for a late execution. The start time is journaled, so that a restart does not extend the wait. */
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
    if (one.ended || one.lastReport === 'landed') {
      this.#parts.notice(
        `${one.attempt.id}: the service refused the attempt, but a transaction of it was seen on the chain`,
      )
      return
    }
    this.watches.end(one, 'refused')
    one.say(outcome)
  }

  #unsent(one: WatchedAttempt, outcome: Extract<Outcome, { kind: 'unsent' }>): void {
    if (one.ended) return
    if (one.lastReport === 'landed')
      this.#executions.takeBack(
        one,
        'the attempt was not sent, so the transaction that was seen belongs to another attempt',
      )
    const wasLost = one.isLost
    one.ended = true
    this.watches.drop(one)
    one.say(wasLost ? { kind: 'absent', code: 'UNSENT' } : outcome)
  }

  /** Sets the last height at which an attempt can land. Every transaction of the attempt that exists now expires at
   *  most VALID_BLOCKS after the newest block. */
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
    Object.assign(standIn, { done, standsFor: one, lastReport: 'unknown' })
    this.#boundFromNow(standIn)
    return standIn
  }

  /** Takes a signature away from the attempt that owns it if the transaction does not fit the attempt. The service may
   *  have named a wrong signature, or the attempt was only the likeliest match. */
  #reconsider(transaction: LandedTransaction, final: boolean): void {
    const { signature, error } = transaction
    const owner = this.watches.ownerOf(signature)
    if (owner === undefined || owner.ended) return
    if (error !== null) this.#failed(owner, signature, final)
    else if (fillFrom(transaction, this.#parts.wallet, owner.attempt, 0, true).kind === 'other')
      this.watches.disclaim(signature)
  }

  /** Handles a failed transaction. If it was seen to succeed before, a fork has removed that block, and the execution
   *  is withdrawn. The failure ends an attempt only if the service named the transaction for this attempt, and only
   *  once the failure is final. */
  #failed(one: WatchedAttempt, signature: string, final: boolean): void {
    if (one.ended || one.final.has(signature)) return
    const isOther = final && !one.named.has(signature)
    for (const other of this.watches.all()) {
      const wasSeen =
        other.settled === signature || (isOther && other === one && one.lastReport === 'landed' && one.settled === '')
      if (wasSeen && !other.ended)
        this.#executions.takeBack(other, 'a fork moved the transaction to a block in which it failed')
    }
    if (isOther) this.watches.disclaim(signature)
  }

  #follow(one: WatchedAttempt, signature: string): void {
    if (one.followed.has(signature)) return
    const report = (outcome: Outcome): void => {
      // After a final outcome, the signature is no longer followed. If the service names it for the attempt later, it
      // is followed again, and the outcome is reported again.
      if ('final' in outcome && outcome.final) one.followed.delete(signature)
      if (outcome.kind === 'reverted' && this.watches.ownerOf(signature) === one)
        this.#failed(one, signature, outcome.final)
      this.#executions.takeOutcome(one, signature, outcome)
    }
    one.followed.set(signature, this.#parts.follow(signature, one.attempt, report))
  }
}

import { assert } from '../../base/errors.ts'
import type { Cancel } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import type { Fill } from '../../engine/order.ts'
import type { Attempt } from '../../orders/attempt.ts'
import type { ProofBlocks, Watch } from '../../orders/audit-records.ts'
import type { JournalRecord, Outcome } from '../../orders/ports.ts'

/** If the transaction that the service named has not been seen for this long, the order may have executed as another
 *  transaction. */
export const SILENT_MS = 5_000

/** All attempts that may still have an outcome, and the attempt that owns each transaction. A transaction can fill only
 *  one attempt. */
export class WatchList {
  readonly #byId = new Map<string, WatchedAttempt>()
  /** Attempt id by signature. */
  readonly #owners = new Map<string, string>()
  readonly #write: (record: JournalRecord) => void

  constructor(write: (record: JournalRecord) => void) {
    this.#write = write
  }

  restore(watch: Watch): WatchedAttempt {
    const one = WatchedAttempt.of(watch)
    this.#byId.set(watch.attempt.id, one)
    for (const signature of watch.signatures) this.claim(signature, one)
    return one
  }

  /** Returns the watched attempt with this attempt's id, or creates it. */
  of(attempt: Attempt): WatchedAttempt {
    const one = this.#byId.get(attempt.id) ?? new WatchedAttempt(attempt)
    this.#byId.set(attempt.id, one)
    return one
  }

  /** Returns the signed transaction of an attempt in base64, kept while it may still land; undefined if the service
   *  signed. */
  signedBytes(attemptId: string): string | undefined {
    return this.#byId.get(attemptId)?.bytes || undefined
  }

  all(): WatchedAttempt[] {
    return [...this.#byId.values()]
  }

  ownerOf(signature: string): WatchedAttempt | undefined {
    return this.#byId.get(this.#owners.get(signature) ?? '')
  }

  /** Assigns a signature to an attempt. Returns false if another attempt owns it. */
  claim(signature: string, { attempt }: WatchedAttempt): boolean {
    const owner = this.#owners.get(signature) ?? attempt.id
    this.#owners.set(signature, owner)
    return owner === attempt.id
  }

  /** Assigns a signature that the service named. If a stand-in of the same order owns the signature, the signature
   *  passes to this attempt. Returns false if any other attempt owns it. */
  name(signature: string, one: WatchedAttempt): boolean {
    const owner = this.ownerOf(signature)
    const isStandIn = owner !== undefined && owner.standsFor !== null
    if (isStandIn && owner.attempt.orderId === one.attempt.orderId) this.disclaim(signature)
    const isOwn = this.claim(signature, one)
    if (isOwn) one.named.add(signature)
    return isOwn
  }

  /** After a restart, assigns the signature in the attempt's record to the attempt again. If another attempt already
   *  owns the signature, that other attempt loses it if three conditions hold: the service merely named the signature
   *  for it, it belongs to another order, and the execution of the restored attempt was seen. If the other attempt
   *  keeps the signature, returns false. */
  claimAgain(one: WatchedAttempt): boolean {
    const { state, signature, code, orderId } = one.attempt
    const owner = this.ownerOf(signature)
    const isSeen = state === 'landed' && code === ''
    const isOnlyNamed = owner !== undefined && !owner.ended && !owner.isSigned && owner.settled !== signature
    if (isSeen && isOnlyNamed && owner.attempt.orderId !== orderId) this.disclaim(signature)
    return this.claim(signature, one)
  }

  disclaim(signature: string): void {
    this.#owners.delete(signature)
  }

  /** Journals the current state of a watched attempt. */
  keep(one: WatchedAttempt): void {
    this.#write({ kind: 'watch', watch: one.record })
  }

  /** Removes an attempt that can no longer have an outcome. */
  drop(one: WatchedAttempt): void {
    const { id } = one.attempt
    one.unfollow()
    this.#byId.delete(id)
    for (const [signature, owner] of this.#owners) if (owner === id) this.#owners.delete(signature)
    this.#write({ kind: 'watchOver', attemptId: id })
  }

  end(one: WatchedAttempt, state: 'filled' | 'refused' | 'reverted' | 'absent' | 'expired', signature = ''): void {
    one.ended = true
    one.progress = ''
    one.blocks = undefined
    one.attempt = { ...one.attempt, state, ...(signature !== '' && { signature }) }
    this.keep(one)
  }

  /** Returns the lowest Solana slot after which transactions may still belong to an attempt; Infinity if no attempt
   *  needs transactions. Attempts that the operator resolved count too, because the operator may have been wrong. */
  oldest(): number {
    let slot = Number.POSITIVE_INFINITY
    for (const { ended, attempt } of this.#byId.values())
      if (!ended || attempt.code === 'RESOLVED')
        slot = Math.min(slot, attempt.baseline?.slot ?? Number.POSITIVE_INFINITY)
    return slot
  }

  /** Returns the age in ms of the most recent attempt whose transaction should be visible by now but was not seen;
   *  undefined if there is no such attempt. */
  hunted(now: number): number | undefined {
    let youngest: number | undefined
    for (const one of this.#byId.values()) {
      const ageMs = now - one.attempt.armedAt
      const isSilent = one.lack === 'sight' && !one.isSigned && ageMs >= SILENT_MS
      if (one.isLost || isSilent) youngest = Math.min(youngest ?? ageMs, ageMs)
    }
    return youngest
  }

  /** Each undecided attempt has a last block height at which it can land. Returns the lowest of these heights;
   *  undefined if no attempt waits. Once this height is final, an attempt can be decided. Attempts whose proof failed
   *  at that height are left out, because every regular audit examines them again. */
  nextBound(): number | undefined {
    let next: number | undefined
    for (const { ended, bound, settled, blocked } of this.#byId.values())
      if (!ended && settled === '' && bound !== null && blocked.times === 0) next = Math.min(next ?? bound, bound)
    return next
  }

  /** Whether a transaction of an attempt was seen and is not final yet. */
  get hasProvisional(): boolean {
    for (const { ended, seenAt } of this.#byId.values()) if (!ended && seenAt !== null) return true
    return false
  }

  /** Whether no order for this mint is open. */
  isQuiet(mint: string): boolean {
    for (const { attempt, ended } of this.#byId.values()) if (attempt.mint === mint && !ended) return false
    return true
  }

  isTracked(mint: string): boolean {
    for (const { attempt } of this.#byId.values()) if (attempt.mint === mint) return true
    return false
  }
}

/** The evidence that an attempt still lacks. It determines how likely it is that a transaction with the attempt's mint
 *  and side belongs to this attempt. */
export type Lack = 'answer' | 'sight' | 'execution' | 'nothing'

/** An attempt, from the moment it is sent until no outcome is possible any more. */
export class WatchedAttempt {
  attempt: Attempt
  /** Receives the outcomes; undefined after the attempt has ended. */
  done: ((outcome: Outcome) => void) | undefined
  ended = false
  /** Last outcome that was reported and did not end the attempt. */
  lastReport: 'nothing' | 'acked' | 'unknown' | 'landed' | 'held' = 'nothing'
  lostAt: Watch['lostAt'] = null
  /** Time from which the service can no longer execute the request; null before the wait for this time begins. */
  lateUntil: Millis | null = null
  /** Whether the newest block of the chain was requested for this attempt. The last height at which the attempt can
   *  land is counted from that block. */
  asksBound = false
  bound: number | null = null
  boundSlot: number | null = null
  /** Transaction that Sluice's own signer signed, base64; '' if the service signed. */
  bytes = ''
  /** Signature of the known execution; '' if none is known. */
  settled = ''
  /** The last fill that was reported for the transaction in `settled`; undefined if no fill was reported. */
  provisional: Fill | undefined
  /** Solana slot in which the transaction was seen; null if nothing was seen. Once the chain is final up to this slot,
   *  the transaction must be among the final ones. */
  seenAt: number | null = null
  /** Signatures that the service named for this attempt. All other signatures were only assigned to the attempt as the
   *  likeliest match. */
  readonly named = new Set<string>()
  /** Signatures of this attempt's transactions whose outcome is final. */
  readonly final = new Set<string>()
  /** Failed transactions that were assigned to this attempt. The assignment may be wrong, but their fees must be
   *  booked. */
  readonly paid = new Set<string>()
  /** The attempt for which this one is a stand-in; null for any other attempt. A stand-in sends no request. An
   *  execution of a full exit is booked to it if any of several attempts may have made that execution. */
  standsFor: WatchedAttempt | null = null
  readonly followed = new Map<string, Cancel>()
  /** Signatures of the wallet's trades in this mint that the feed showed before an execution of this attempt was
   *  known. */
  readonly hints = new Set<string>()
  /** Last reason why the absence of the attempt could not be proved, and the number of consecutive audits with this
   *  reason. */
  blocked = { reason: '', times: 0 }
  /** The second RPC provider's opinion on whether the attempt is absent: whether it was requested, whether the provider
   *  agrees, and its objection. */
  second: { asked: boolean; agrees: boolean; reason: string } = { asked: false, agrees: false, reason: '' }
  progress = ''
  blocks: ProofBlocks | undefined

  constructor(attempt: Attempt) {
    this.attempt = { ...attempt }
  }

  /** Restores a watched attempt from its journal record. It counts as ended unless `resume` is called for it. */
  static of({ attempt, lostAt, bound, boundSlot, bytes = '', signatures, progress, blocks }: Watch): WatchedAttempt {
    const watched = new WatchedAttempt(attempt)
    Object.assign(watched, { lostAt, bound, boundSlot, bytes, progress, blocks, ended: true })
    if (attempt.state === 'filled') watched.settled = attempt.signature
    for (const signature of signatures) watched.final.add(signature)
    return watched
  }

  get record(): Watch {
    const { attempt, ended, lostAt, bound, boundSlot, bytes, progress, blocks } = this
    const signed = bytes !== '' && !ended ? { bytes } : {}
    const signatures = [...this.final, ...this.paid]
    return { attempt, ended, lostAt, bound, boundSlot, ...signed, signatures, progress, ...(blocks && { blocks }) }
  }

  get lack(): Lack {
    if (this.settled !== '') return 'nothing'
    if (this.ended) return 'execution'
    return this.lastReport === 'acked' ? 'sight' : 'answer'
  }

  /** Whether Sluice's own signer signs the attempt's transaction. The signature is then known before sending, so no
   *  other transaction can belong to the attempt. */
  get isSigned(): boolean {
    return this.attempt.executor === 'local'
  }

  /** Whether the service's answer is lost and no transaction of the attempt was seen. */
  get isLost(): boolean {
    return (
      !this.isSigned &&
      !this.ended &&
      this.settled === '' &&
      (this.lastReport === 'unknown' || this.lastReport === 'held')
    )
  }

  say(outcome: Outcome): void {
    const { done } = this
    assert(done !== undefined, `no callback waits for ${this.attempt.id}`)
    if (this.ended) this.done = undefined
    done(outcome)
  }

  unfollow(): void {
    for (const cancel of this.followed.values()) cancel()
    this.followed.clear()
  }
}

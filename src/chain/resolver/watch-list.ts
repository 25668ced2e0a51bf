import { assert } from '../../base/errors.ts'
import type { Cancel } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import type { Fill } from '../../engine/order.ts'
import type { Attempt } from '../../orders/attempt.ts'
import type { JournalRecord, Outcome } from '../../orders/ports.ts'
import type { Watch } from '../../orders/wallet-audit.ts'

/** An acknowledged transaction that is not seen for so long may be another than the service said. */
export const SILENT_MS = 5_000

/** Every attempt of which something may still come, and whose each transaction is: one transaction fills one
 *  attempt. */
export class WatchList {
  readonly #byId = new Map<string, WatchedAttempt>()
  /** Signature to attempt. */
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

  /** The one of this attempt. */
  of(attempt: Attempt): WatchedAttempt {
    const one = this.#byId.get(attempt.id) ?? new WatchedAttempt(attempt)
    this.#byId.set(attempt.id, one)
    return one
  }

  /** What we signed of it, base64, while it may still land. */
  signedBytes(attemptId: string): string | undefined {
    return this.#byId.get(attemptId)?.bytes || undefined
  }

  all(): WatchedAttempt[] {
    return [...this.#byId.values()]
  }

  ownerOf(signature: string): WatchedAttempt | undefined {
    return this.#byId.get(this.#owners.get(signature) ?? '')
  }

  /** False where it is another's. */
  claim(signature: string, { attempt }: WatchedAttempt): boolean {
    const owner = this.#owners.get(signature) ?? attempt.id
    this.#owners.set(signature, owner)
    return owner === attempt.id
  }

  /** The service says that it is this one's: what only stands for an attempt of the order gives way. False where it is
   *  another's. */
  name(signature: string, one: WatchedAttempt): boolean {
    const owner = this.ownerOf(signature)
    const isStandIn = owner !== undefined && owner.standsFor !== null
    if (isStandIn && owner.attempt.orderId === one.attempt.orderId) this.disclaim(signature)
    const isOwn = this.claim(signature, one)
    if (isOwn) one.named.add(signature)
    return isOwn
  }

  /** After a restart. Whose an execution was seen to be outweighs what the service said of another order. False where
   *  it is another's. */
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

  /** Journals it as it is now. */
  keep(one: WatchedAttempt): void {
    this.#write({ kind: 'watch', watch: one.record })
  }

  /** Nothing more can come of it. */
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
    one.attempt = { ...one.attempt, state, ...(signature !== '' && { signature }) }
    this.keep(one)
  }

  /** The lowest slot after which transactions still bear on something; Infinity where none do. A person may have been
   *  wrong. */
  oldest(): number {
    let slot = Number.POSITIVE_INFINITY
    for (const { ended, attempt } of this.#byId.values())
      if (!ended || attempt.code === 'RESOLVED')
        slot = Math.min(slot, attempt.baseline?.slot ?? Number.POSITIVE_INFINITY)
    return slot
  }

  /** Age of the youngest of which nothing has been seen although it should have been by now; undefined where there is
   *  none. */
  hunted(now: number): number | undefined {
    let youngest: number | undefined
    for (const one of this.#byId.values()) {
      const ageMs = now - one.attempt.armedAt
      const isSilent = one.lack === 'sight' && !one.isSigned && ageMs >= SILENT_MS
      if (one.isLost || isSilent) youngest = Math.min(youngest ?? ageMs, ageMs)
    }
    return youngest
  }

  /** The height that, once final, decides the next one; undefined where none waits for one. What could not be decided
   *  then is looked at again as often as everything else. */
  nextBound(): number | undefined {
    let next: number | undefined
    for (const { ended, bound, settled, blocked } of this.#byId.values())
      if (!ended && settled === '' && bound !== null && blocked.times === 0) next = Math.min(next ?? bound, bound)
    return next
  }

  /** Something was seen that is not final. */
  get hasProvisional(): boolean {
    for (const { ended, seenAt } of this.#byId.values()) if (!ended && seenAt !== null) return true
    return false
  }

  /** No order of this mint is under way. */
  isQuiet(mint: string): boolean {
    for (const { attempt, ended } of this.#byId.values()) if (attempt.mint === mint && !ended) return false
    return true
  }

  isTracked(mint: string): boolean {
    for (const { attempt } of this.#byId.values()) if (attempt.mint === mint) return true
    return false
  }
}

/** What an attempt still lacks, and so how likely a transaction in its lane is its own. */
export type Lack = 'answer' | 'sight' | 'execution' | 'nothing'

/** An attempt from the moment it is sent until nothing more can come of it. */
export class WatchedAttempt {
  attempt: Attempt
  /** Takes what becomes of it; nobody, once it has ended. */
  done: ((outcome: Outcome) => void) | undefined
  ended = false
  /** The last thing that was said, where that was no end. */
  said: 'nothing' | 'acked' | 'unknown' | 'landed' | 'held' = 'nothing'
  lostAt: Watch['lostAt'] = null
  /** By when the service has carried it out, or never will; null before the wait for that has begun. */
  lateUntil: Millis | null = null
  /** The head of the chain has been asked for, to count the bound from it. */
  asksBound = false
  bound: number | null = null
  boundSlot: number | null = null
  /** What we signed ourselves, base64; '' where the service did. */
  bytes = ''
  /** The transaction that executed it, as far as is known; '' while none is. */
  settled = ''
  /** That execution as last told, while it is not final. */
  provisional: Fill | undefined
  /** Once the chain is final up to this slot, what was seen of it must be among what is final; null where nothing was
   *  seen. */
  seenAt: number | null = null
  /** Signatures that the service gave for it; any other was found, and is only the likeliest. */
  readonly named = new Set<string>()
  /** Its transactions whose end is known. */
  readonly final = new Set<string>()
  /** Failed transactions that are taken for its own: nobody knows, but somebody has to have paid their fees. */
  readonly paid = new Set<string>()
  /** It is no request, but an execution of a full exit, of which one of several attempts, such as this one, may be the
   *  cause. */
  standsFor: WatchedAttempt | null = null
  readonly followed = new Map<string, Cancel>()
  /** Trades of our wallet that the feed showed while the answer was out. */
  readonly hints = new Set<string>()
  /** Why it could not be proved dead, and how often in a row. */
  blocked = { reason: '', times: 0 }
  /** What another provider says of its absence. */
  second: { asked: boolean; agrees: boolean; reason: string } = { asked: false, agrees: false, reason: '' }
  progress = ''

  constructor(attempt: Attempt) {
    this.attempt = { ...attempt }
  }

  /** As the journal kept it: ended, unless somebody goes on with it. */
  static of({ attempt, lostAt, bound, boundSlot, bytes = '', signatures, progress }: Watch): WatchedAttempt {
    const watched = new WatchedAttempt(attempt)
    Object.assign(watched, { lostAt, bound, boundSlot, bytes, progress, ended: true })
    if (attempt.state === 'filled') watched.settled = attempt.signature
    for (const signature of signatures) watched.final.add(signature)
    return watched
  }

  get record(): Watch {
    const { attempt, ended, lostAt, bound, boundSlot, bytes, progress } = this
    const signed = bytes !== '' && !ended ? { bytes } : {}
    return { attempt, ended, lostAt, bound, boundSlot, ...signed, signatures: [...this.final, ...this.paid], progress }
  }

  get lack(): Lack {
    if (this.settled !== '') return 'nothing'
    if (this.ended) return 'execution'
    return this.said === 'acked' ? 'sight' : 'answer'
  }

  /** Whose signature it has is known before it is sent, so that no other transaction can be its own. */
  get isSigned(): boolean {
    return this.attempt.executor === 'local'
  }

  /** Its answer is lost, and nothing of it has been seen. */
  get isLost(): boolean {
    return !this.isSigned && !this.ended && this.settled === '' && (this.said === 'unknown' || this.said === 'held')
  }

  say(outcome: Outcome): void {
    const { done } = this
    assert(done !== undefined, `nobody waits for ${this.attempt.id}`)
    if (this.ended) this.done = undefined
    done(outcome)
  }

  unfollow(): void {
    for (const cancel of this.followed.values()) cancel()
    this.followed.clear()
  }
}

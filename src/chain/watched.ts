import assert from '../core/assert.ts'
import type { Attempt, Fill } from '../core/order.ts'
import type { Cancel, Outcome } from '../core/ports.ts'
import type { Millis } from '../core/units.ts'
import type { Watch } from '../core/wallet.ts'

/** What an attempt still lacks, and so how likely a transaction in its lane is its own. */
export type Lack = 'answer' | 'sight' | 'execution' | 'nothing'

/** An attempt from the moment it is sent until nothing more can come of it. */
export class Watched {
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
  /** Once the chain is final up to this slot, what was seen of it must be among what is final; null where nothing was seen. */
  seenAt: number | null = null
  /** Signatures that the service gave for it; any other was found, and is only the likeliest. */
  readonly named = new Set<string>()
  /** Its transactions whose end is known. */
  readonly final = new Set<string>()
  /** Failed transactions that are taken for its own: nobody knows, but somebody has to have paid their fees. */
  readonly paid = new Set<string>()
  /** It is no request, but an execution of a full exit, of which one of several attempts, such as this one, may be the cause. */
  standsFor: Watched | null = null
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
  static of({ attempt, lostAt, bound, boundSlot, bytes = '', signatures, progress }: Watch): Watched {
    const watched = new Watched(attempt)
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

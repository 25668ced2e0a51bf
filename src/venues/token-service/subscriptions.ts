import type { Cancel, Clock } from '../../base/machine.ts'
import { LONGEST_REDIAL_MS } from './connection.ts'
import { messages } from './wire/requests.ts'

export interface SubscriberParts {
  readonly clock: Clock
  readonly send: (text: string) => void
  /** Every wanted key is confirmed or given up. */
  readonly complete: () => void
  /** The service does not answer: a new connection may help. */
  readonly unanswered: () => void
  readonly notice: (text: string) => void
}

/** Seconds for a batch of keys to be confirmed. */
const PATIENCE = 10
/** Messages without any answer after which the connection is given up. */
const MOST_UNANSWERED = 3
const FIRST_SLOW_MS = 1_000

/** Asks for keys, one batch at a time, in the rhythm that the service bears. */
export class Subscriber {
  readonly keys = new Subscriptions()
  readonly #parts: SubscriberParts
  #isConnected = false
  /** Seconds since the open batch was asked for. */
  #waited = 0
  #unanswered = 0
  /** Wait between two batches, ms; 0 until the service said that there were too many messages. */
  #slowMs = 0
  #cancelAsk: Cancel | undefined

  constructor(parts: SubscriberParts) {
    this.#parts = parts
  }

  connect(): void {
    this.#isConnected = true
    this.#unanswered = 0
    this.#ask()
  }

  disconnect(): void {
    this.#isConnected = false
    this.#cancelAsk?.()
    this.#cancelAsk = undefined
    this.keys.disconnect()
  }

  want(keys: readonly string[]): void {
    const unwanted = this.keys.want(keys)
    if (!this.#isConnected) return
    if (unwanted.length > 0) this.#parts.send(messages.unsubscribe(unwanted))
    this.#ask()
  }

  confirm(keys: readonly string[]): void {
    this.#unanswered = 0
    const unwanted = this.keys.unwantedOf(keys)
    if (unwanted.length > 0) this.#parts.send(messages.unsubscribe(unwanted))
    if (this.keys.confirm(keys)) this.#askSoon()
  }

  /** The service refuses the open batch. */
  refuse(): void {
    if (this.keys.asked.length === 0) return
    this.#giveUp(this.keys.refuse())
    this.#askSoon()
  }

  /** The service says that there were too many messages: the open batch is asked again, later, and the next ones wait
   *  as long. */
  slowDown(): void {
    this.#slowMs = Math.min(LONGEST_REDIAL_MS, Math.max(FIRST_SLOW_MS, this.#slowMs * 2))
    this.keys.retry()
    this.#askSoon()
  }

  /** It has been calm for long. */
  forgive(): void {
    this.#slowMs = 0
  }

  /** Once a second while connected. */
  tick(): void {
    if (this.keys.asked.length === 0 || ++this.#waited <= PATIENCE) return
    // A service that answers, but not for these keys, does not take them; one that never answers is no judge of keys.
    if (this.#unanswered === 0 && this.keys.confirmed.length > 0) this.#giveUp(this.keys.miss())
    else if (++this.#unanswered < MOST_UNANSWERED) this.keys.retry()
    else {
      this.#parts.unanswered()
      return
    }
    this.#askSoon()
  }

  #ask(): void {
    if (!this.#isConnected || this.#cancelAsk !== undefined) return
    const batch = this.keys.next()
    this.#waited = 0
    if (batch !== undefined) this.#parts.send(messages.subscribe(batch))
    else if (this.keys.isComplete) this.#parts.complete()
  }

  #askSoon(): void {
    if (this.#slowMs === 0 || this.keys.isComplete) this.#ask()
    else
      this.#cancelAsk ??= this.#parts.clock.after(this.#slowMs, () => {
        this.#cancelAsk = undefined
        this.#ask()
      })
  }

  #giveUp(keys: readonly string[]): void {
    for (const key of keys) this.#parts.notice(`the service does not take the key ${key}: it is left out`)
  }
}

/** Keys in one subscribe message. */
const BATCH = 100
/** A key that three confirmations of its batch left out is given up. */
const MOST_MISSES = 3

/** Which keys are wanted, confirmed, given up or being asked for. The wanted ones are the truth: after each connect
 *  they are compared with what was confirmed and the rest is asked again. One batch is asked at a time, because a
 *  refusal names no key. No I/O. */
export class Subscriptions {
  #wanted = new Set<string>()
  readonly #confirmed = new Set<string>()
  readonly #dropped = new Set<string>()
  /** Halves of refused batches: asked before anything else, so that a bad key stands alone soon. */
  #suspects: string[][] = []
  #asked: readonly string[] = []
  readonly #misses = new Map<string, number>()

  get wanted(): readonly string[] {
    return [...this.#wanted]
  }

  get confirmed(): readonly string[] {
    return [...this.#confirmed]
  }

  /** The batch that has not been answered yet. */
  get asked(): readonly string[] {
    return this.#asked
  }

  /** Every wanted key is confirmed or given up. */
  get isComplete(): boolean {
    for (const key of this.#wanted) if (this.#isMissing(key)) return false
    return true
  }

  /** The whole set from now on; returns the confirmed keys that are no longer in it. What was given up is asked for
   *  anew where somebody wants it again later. */
  want(keys: readonly string[]): string[] {
    this.#wanted = new Set(keys)
    for (const key of this.#dropped) if (!this.#wanted.has(key)) this.#dropped.delete(key)
    for (const key of this.#misses.keys()) if (!this.#wanted.has(key)) this.#misses.delete(key)
    const unwanted = this.confirmed.filter((key) => !this.#wanted.has(key))
    for (const key of unwanted) this.#confirmed.delete(key)
    return unwanted
  }

  /** The next batch to ask for; undefined while one is open, or nothing is missing. */
  next(): readonly string[] | undefined {
    if (this.#asked.length > 0) return undefined
    const batch = this.#nextSuspects() ?? this.wanted.filter((key) => this.#isMissing(key)).slice(0, BATCH)
    this.#asked = batch
    return batch.length > 0 ? batch : undefined
  }

  /** The service confirmed these keys; true when the open batch is answered with it. */
  confirm(keys: readonly string[]): boolean {
    for (const key of keys) {
      if (this.#wanted.has(key)) this.#confirmed.add(key)
      this.#misses.delete(key)
    }
    if (this.#asked.length === 0) return false
    // A key that nobody wants any more is answered as well: it must not hold up the others.
    const answered = new Set(keys)
    this.#asked = this.#asked.filter((key) => (this.#wanted.has(key) ? this.#isMissing(key) : !answered.has(key)))
    return this.#asked.length === 0
  }

  /** Of the open batch, what nobody wants any more and this answer confirms. */
  unwantedOf(keys: readonly string[]): string[] {
    return this.#asked.filter((key) => !this.#wanted.has(key) && keys.includes(key))
  }

  /** The service refused the open batch: it is halved until the bad key stands alone, and only that one is given up.
   *  Returns it. */
  refuse(): readonly string[] {
    const batch = this.#asked
    this.#asked = []
    if (batch.length <= 1) return this.#drop(batch)
    const middle = batch.length >> 1
    this.#suspects.push(batch.slice(0, middle), batch.slice(middle))
    return []
  }

  /** The open batch was answered in part, and the rest of it not in time. Returns the keys given up. */
  miss(): readonly string[] {
    const rest = this.#asked
    this.#asked = []
    for (const key of rest) if (this.#wanted.has(key)) this.#misses.set(key, (this.#misses.get(key) ?? 0) + 1)
    return this.#drop(rest.filter((key) => (this.#misses.get(key) ?? 0) >= MOST_MISSES))
  }

  /** The open batch is to be asked again, and it is nobody's fault. */
  retry(): void {
    this.#asked = []
  }

  /** The connection is gone, and every confirmation with it; suspects stay suspects. */
  disconnect(): void {
    this.#confirmed.clear()
    this.#asked = []
  }

  #nextSuspects(): readonly string[] | undefined {
    for (;;) {
      const batch = this.#suspects.shift()
      if (batch === undefined) return undefined
      const missing = batch.filter((key) => this.#wanted.has(key) && this.#isMissing(key))
      if (missing.length > 0) return missing
    }
  }

  #isMissing(key: string): boolean {
    return !this.#confirmed.has(key) && !this.#dropped.has(key)
  }

  #drop(keys: readonly string[]): readonly string[] {
    for (const key of keys) if (this.#wanted.has(key)) this.#dropped.add(key)
    return keys
  }
}

import type { Cancel, Clock } from '../../base/machine.ts'
import { LONGEST_REDIAL_MS } from './connection.ts'
import { messages } from './wire/requests.ts'

export interface SubscriberParts {
  /** Name of the venue, as it appears in messages. */
  readonly venue: string
  readonly clock: Clock
  readonly send: (text: string) => void
  /** Called when every wanted key is confirmed or dropped. */
  readonly complete: () => void
  /** Called when the service does not answer; a new connection may help. */
  readonly unanswered: () => void
  readonly notice: (text: string) => void
}

/** Maximum wait for the confirmation of a batch, in seconds. */
const PATIENCE = 10
/** Number of unanswered batches in a row after which the connection is closed. */
const MAX_UNANSWERED = 3
const FIRST_SLOW_MS = 1_000

/** Subscribes to keys in batches, one at a time, at a rate that the service accepts. */
export class Subscriber {
  readonly keys = new Subscriptions()
  readonly #parts: SubscriberParts
  #isConnected = false
  /** Number of seconds since the open batch was sent. */
  #waited = 0
  #unanswered = 0
  /** Delay between two batches, ms; 0 until the service reports that Sluice sends too many messages. */
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

  /** Handles the service's refusal of the open batch. */
  refuse(): void {
    if (this.keys.asked.length === 0) return
    this.#giveUp(this.keys.refuse())
    this.#askSoon()
  }

  /** Called when the service reports that Sluice sends too many messages. Sends the unconfirmed batch again after a
   *  delay, and delays each following batch by the same time. */
  slowDown(): void {
    this.#slowMs = Math.min(LONGEST_REDIAL_MS, Math.max(FIRST_SLOW_MS, this.#slowMs * 2))
    this.keys.retry()
    this.#askSoon()
  }

  /** Called after the connection has worked for a long time. Removes the delay between batches. */
  forgive(): void {
    this.#slowMs = 0
  }

  /** Checks whether the open batch was confirmed in time. Called once a second while connected. */
  tick(): void {
    if (this.keys.asked.length === 0 || ++this.#waited <= PATIENCE) return
    // If the service has confirmed other keys but not this batch, it probably does not accept the keys of the batch. If
    // it has not answered at all, its silence shows nothing about these keys.
    if (this.#unanswered === 0 && this.keys.confirmed.length > 0) this.#giveUp(this.keys.miss())
    else if (++this.#unanswered < MAX_UNANSWERED) this.keys.retry()
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
    for (const key of keys)
      this.#parts.notice(`${this.#parts.venue} does not accept the subscription key ${key}; the key is dropped`)
  }
}

/** Maximum number of keys in one subscribe message. */
const BATCH = 100
/** A key is dropped once it was missing from this many confirmations of its batch. */
const MAX_MISSES = 3

/** The state of each subscription key: wanted, confirmed, dropped or requested. After each connect, all wanted keys are
 *  requested again, except the dropped ones. Only one batch is open at a time, because the service's refusal does not
 *  say which key it refuses. This class does no I/O. */
export class Subscriptions {
  #wanted = new Set<string>()
  readonly #confirmed = new Set<string>()
  readonly #dropped = new Set<string>()
  /** Halves of refused batches. They are requested before other keys, so that the key which caused the refusal is soon
   *  found. */
  #suspects: string[][] = []
  #asked: readonly string[] = []
  readonly #misses = new Map<string, number>()

  get wanted(): readonly string[] {
    return [...this.#wanted]
  }

  get confirmed(): readonly string[] {
    return [...this.#confirmed]
  }

  /** Keys of the open batch. */
  get asked(): readonly string[] {
    return this.#asked
  }

  /** Whether every wanted key is confirmed or dropped. */
  get isComplete(): boolean {
    for (const key of this.#wanted) if (this.#isMissing(key)) return false
    return true
  }

  /** Replaces the set of wanted keys. Returns the confirmed keys that are no longer wanted. A dropped key is
   *  requested again if it is removed and wanted again later. */
  want(keys: readonly string[]): string[] {
    this.#wanted = new Set(keys)
    for (const key of this.#dropped) if (!this.#wanted.has(key)) this.#dropped.delete(key)
    for (const key of this.#misses.keys()) if (!this.#wanted.has(key)) this.#misses.delete(key)
    const unwanted = this.confirmed.filter((key) => !this.#wanted.has(key))
    for (const key of unwanted) this.#confirmed.delete(key)
    return unwanted
  }

  /** Opens and returns the next batch to request; undefined while a batch is open or no key is missing. */
  next(): readonly string[] | undefined {
    if (this.#asked.length > 0) return undefined
    const batch = this.#nextSuspects() ?? this.wanted.filter((key) => this.#isMissing(key)).slice(0, BATCH)
    this.#asked = batch
    return batch.length > 0 ? batch : undefined
  }

  /** Marks keys as confirmed. Returns true if this completes the open batch. */
  confirm(keys: readonly string[]): boolean {
    for (const key of keys) {
      if (this.#wanted.has(key)) this.#confirmed.add(key)
      this.#misses.delete(key)
    }
    if (this.#asked.length === 0) return false
    // A key that is no longer wanted also counts as answered, so that it does not keep the batch open.
    const answered = new Set(keys)
    this.#asked = this.#asked.filter((key) => (this.#wanted.has(key) ? this.#isMissing(key) : !answered.has(key)))
    return this.#asked.length === 0
  }

  /** Returns those of the confirmed keys that belong to the open batch and are no longer wanted. `keys`: the keys that
   *  the service confirmed. */
  unwantedOf(keys: readonly string[]): string[] {
    return this.#asked.filter((key) => !this.#wanted.has(key) && keys.includes(key))
  }

  /** Handles a refusal of the open batch. A batch is split in halves until the bad key is alone, and only that key is
   *  dropped. Returns the dropped keys. */
  refuse(): readonly string[] {
    const batch = this.#asked
    this.#asked = []
    if (batch.length <= 1) return this.#drop(batch)
    const middle = batch.length >> 1
    this.#suspects.push(batch.slice(0, middle), batch.slice(middle))
    return []
  }

  /** Handles an open batch that was confirmed only in part: some keys are missing. Returns the dropped keys. */
  miss(): readonly string[] {
    const rest = this.#asked
    this.#asked = []
    for (const key of rest) if (this.#wanted.has(key)) this.#misses.set(key, (this.#misses.get(key) ?? 0) + 1)
    return this.#drop(rest.filter((key) => (this.#misses.get(key) ?? 0) >= MAX_MISSES))
  }

  /** Closes the open batch without counting its keys as missing. The keys are then requested again. */
  retry(): void {
    this.#asked = []
  }

  /** Called when the connection was lost. Forgets which keys were confirmed. The halves of refused batches are kept. */
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

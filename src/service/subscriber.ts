import type { Cancel, Clock } from '../core/ports.ts'
import { LONGEST_REDIAL_MS } from './redial.ts'
import { Subscriptions } from './subscriptions.ts'
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

  /** The service says that there were too many messages: the open batch is asked again, later, and the next ones wait as long. */
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

import type { Clock } from '../../base/machine.ts'
import { Refused } from './refused.ts'

export type Update = { readonly update_id: number } & Readonly<Record<string, unknown>>

interface Poll {
  readonly limit: number
  readonly answer: (updates: readonly Update[]) => void
  readonly refuse: (refused: Refused) => void
}

const MOST_UPDATES = 100
const LONGEST_POLL_SECONDS = 50
/** Telegram keeps an unconfirmed update for a day. */
const KEPT_MS = 86_400_000
/** Kinds of updates that a bot receives without `allowed_updates`. Telegram's list has further kinds that the sandbox
 *  does not support. */
const USUAL = ['message', 'edited_message', 'channel_post', 'edited_channel_post', 'callback_query']

/** Holds the updates that the Telegram bot has not confirmed yet, and the one `getUpdates` request that may wait for
 *  updates. The bot confirms updates by a higher `offset` in its next request. */
export class UpdateQueue {
  readonly #clock: Clock
  #updates: { readonly update: Update; readonly at: number }[] = []
  #allowed: readonly unknown[] = USUAL
  #nextUpdate = 1
  #poll: Poll | undefined
  /** Whether a webhook receives the updates, so that no poll may ask for them. */
  hasWebhook = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get length(): number {
    return this.#updates.length
  }

  /** Adds an update of a kind that the bot wants. */
  add(fields: Readonly<Record<string, unknown>>): void {
    const update = { update_id: this.#nextUpdate++, ...fields }
    if (Object.keys(fields).some((kind) => USUAL.includes(kind) && !this.#allowed.includes(kind))) return
    this.#updates.push({ update, at: this.#clock.now() })
    const poll = this.#poll
    this.#poll = undefined
    poll?.answer(this.#waiting().slice(0, poll.limit))
  }

  /** Answers `getUpdates`. A list of allowed kinds also applies to later calls without such a list. */
  get({ offset, limit, timeout, allowed_updates }: Readonly<Record<string, unknown>>): Promise<readonly Update[]> {
    if (this.hasWebhook)
      throw new Refused(
        409,
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
      )
    this.#poll?.refuse(
      new Refused(
        409,
        'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
      ),
    )
    this.#poll = undefined
    if (Array.isArray(allowed_updates)) this.#allowed = allowed_updates.length === 0 ? USUAL : allowed_updates
    this.#confirm(Number(offset ?? 0))
    const most = Math.min(Math.max(Number(limit ?? MOST_UPDATES), 1), MOST_UPDATES)
    const found = this.#waiting().slice(0, most)
    const seconds = Math.min(Number(timeout ?? 0), LONGEST_POLL_SECONDS)
    if (found.length > 0 || seconds === 0) return Promise.resolve(found)
    return new Promise((resolve, reject) => {
      const poll = { limit: most, answer: resolve, refuse: reject }
      this.#poll = poll
      this.#clock.after(seconds * 1_000, () => {
        if (this.#poll === poll) this.#poll = undefined
        resolve([])
      })
    })
  }

  /** Removes updates below the offset. A negative offset counts from the end of the queue. */
  #confirm(offset: number): void {
    if (offset < 0) this.#updates = this.#updates.slice(offset)
    else this.#updates = this.#updates.filter(({ update }) => update.update_id >= offset)
  }

  #waiting(): Update[] {
    const now = this.#clock.now()
    this.#updates = this.#updates.filter(({ at }) => now - at <= KEPT_MS)
    return this.#updates.map(({ update }) => update)
  }
}

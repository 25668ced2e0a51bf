import type { Millis } from '../../base/units.ts'
import { Refusal } from '../refusal.ts'
import { Secrets } from './secrets.ts'

const NONCE_MS = 60_000
const MOST_NONCES = 256

interface Pending<Action> {
  readonly session: string
  readonly action: Action
  readonly expiresAt: Millis
}

/** Nonces of actions that a person has been shown and not yet confirmed. A nonce stands for exactly one action of one
 *  session, and works once. */
export class Nonces<Action> {
  readonly #now: () => Millis
  readonly #pending = new Secrets<Pending<Action>>(MOST_NONCES)

  constructor(now: () => Millis) {
    this.#now = now
  }

  make(session: string, action: Action): { nonce: string; expiresAt: Millis } {
    const expiresAt = this.#now() + NONCE_MS
    return { nonce: this.#pending.add({ session, action, expiresAt }), expiresAt }
  }

  /** Returns the action that the nonce stands for, and uses the nonce up, even if another session presents it. */
  take(session: string, nonce: string): Action {
    const pending = this.#pending.find(nonce)
    if (pending !== undefined) this.#pending.delete(pending)
    if (pending === undefined || pending.session !== session)
      throw new Refusal(
        409,
        'NONCE_INVALID',
        'this confirmation was used already or is not yours: look at the preview again',
      )
    if (pending.expiresAt <= this.#now())
      throw new Refusal(409, 'NONCE_INVALID', 'this confirmation has expired: look at the preview again')
    return pending.action
  }
}

import type { Millis } from '../../base/units.ts'
import { Secrets } from './secrets.ts'

/** Time for which a confirmation is accepted after its preview was shown. */
export const NONCE_MS = 60_000
const MOST_NONCES = 256

interface Pending<Action> {
  readonly owner: string
  readonly action: Action
  readonly expiresAt: Millis
}

/** What a nonce stands for. `invalid`: the nonce was used, never existed, or was made for another owner. */
export type Taken<Action> =
  | { readonly kind: 'valid'; readonly action: Action }
  | { readonly kind: 'expired'; readonly action: Action }
  | { readonly kind: 'invalid' }

/** Nonces of actions that a person has been shown and not yet confirmed. A nonce stands for exactly one action of one
 *  owner, which is a session of the desk or a user of Telegram, and works once. */
export class Nonces<Action> {
  readonly #now: () => Millis
  readonly #pending = new Secrets<Pending<Action>>(MOST_NONCES)

  constructor(now: () => Millis) {
    this.#now = now
  }

  make(owner: string, action: Action): { nonce: string; expiresAt: Millis } {
    const expiresAt = this.#now() + NONCE_MS
    return { nonce: this.#pending.add({ owner, action, expiresAt }), expiresAt }
  }

  /** Returns the action that the nonce stands for, and uses the nonce up, even if another owner presents it. */
  take(owner: string, nonce: string): Taken<Action> {
    const pending = this.#pending.find(nonce)
    if (pending !== undefined) this.#pending.delete(pending)
    if (pending === undefined || pending.owner !== owner) return { kind: 'invalid' }
    const { action, expiresAt } = pending
    return { kind: expiresAt <= this.#now() ? 'expired' : 'valid', action }
  }
}

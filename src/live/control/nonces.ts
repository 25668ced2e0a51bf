import type { Millis } from '../../base/units.ts'
import { Secrets } from './secrets.ts'

/** After the preview of a command was shown, its confirmation is accepted for this time, ms. */
export const NONCE_MS = 60_000
const MOST_NONCES = 256

interface Pending<Action> {
  readonly owner: string
  readonly action: Action
  readonly expiresAt: Millis
}

/** Result of using a nonce. `invalid`: the nonce was used before, never existed, or belongs to another owner. */
export type Taken<Action> =
  | { readonly kind: 'valid'; readonly action: Action }
  | { readonly kind: 'expired'; readonly action: Action }
  | { readonly kind: 'invalid' }

/** Nonces (random texts) of actions that were shown to a person and are not confirmed yet. A nonce identifies exactly
 *  one action of one owner (a session of the desk or a user of Telegram), and can be used once. */
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

  /** Returns the action of the nonce, and invalidates the nonce, even if another owner presents it. */
  take(owner: string, nonce: string): Taken<Action> {
    const pending = this.#pending.find(nonce)
    if (pending !== undefined) this.#pending.delete(pending)
    if (pending === undefined || pending.owner !== owner) return { kind: 'invalid' }
    const { action, expiresAt } = pending
    return { kind: expiresAt <= this.#now() ? 'expired' : 'valid', action }
  }
}

import type { ErrorCode } from '../core/errors.ts'
import type { Executor } from '../core/ports.ts'
import type { Limiter } from './limiter.ts'
import type { Cause } from './retry.ts'
import type { Route } from './working-order.ts'

/** What the service refuses as a whole: the key, or orders under this plan. Entries stop there; exits go on as the retry table says. */
export class Refusals {
  readonly #plan = new Set<Executor>()

  /** Why no entry may go this way. */
  of(route: Route): ErrorCode | undefined {
    if (route.limiter.closed) return 'KEY_REFUSED'
    return this.#plan.has(route.executor) ? 'PLAN_REFUSED' : undefined
  }

  /** Learns from a failed attempt; true where entries stop from now on. */
  learn(cause: Cause, route: Route): boolean {
    if (cause === 'key') route.limiter.close()
    if (cause === 'plan') this.#plan.add(route.executor)
    return cause === 'key' || cause === 'plan'
  }

  /** An order went through here. */
  accepted(route: Route): void {
    this.#plan.delete(route.executor)
  }

  /** The service knows the key, or another one in its place, or the plan has changed. */
  reset(limiter: Limiter): void {
    this.#plan.clear()
    limiter.open()
  }
}

import type { ErrorCode } from '../base/errors.ts'
import type { Attempt, CalledOff } from './attempt.ts'
import type { Limiter } from './limiter.ts'
import type { Executor } from './ports.ts'
import type { Cause, Failure } from './retry.ts'
import type { Route, WorkingOrder } from './working-order.ts'

/** What the service refuses as a whole: the key, or orders under this plan. Entries stop there; exits go on as the
 *  retry table says. */
export class ServiceRefusals {
  readonly #plan = new Set<Executor>()
  readonly #breached = new Set<string>()
  readonly #halted = new Set<string>()
  #isDiskLow = false

  /** Why this entry may not go. */
  of(entry: WorkingOrder): ErrorCode | undefined {
    const { limiter, executor } = entry.route
    if (limiter.closed) return 'KEY_REFUSED'
    return this.#plan.has(executor) ? 'PLAN_REFUSED' : this.callOff(entry)
  }

  /** Why an order may not go even where its slot is taken, and it is only its commit, its mint or its builder that is
   *  waited for. */
  callOff({ order, overtaken }: WorkingOrder): CalledOff | undefined {
    if (overtaken) return 'EXIT_UNPROVED'
    if (order.class === 'exit') return undefined
    if (this.#halted.has(order.account)) return 'HALTED'
    return this.#isDiskLow ? 'DISK_LOW' : undefined
  }

  /** The disk that holds the journal is nearly full, or has room again. */
  diskLow(isLow: boolean): void {
    this.#isDiskLow = isLow
  }

  /** An operator stops the entries of an account, or lets them go on; true where they stop from now on. */
  halt(account: string, isHalted: boolean): boolean {
    const isNews = isHalted !== this.#halted.has(account)
    if (isHalted) this.#halted.add(account)
    else this.#halted.delete(account)
    return isNews && isHalted
  }

  /** Learns from a failed attempt; true where entries stop from now on. */
  learn(cause: Cause, route: Route): boolean {
    if (cause === 'key') route.limiter.close()
    if (cause === 'plan') this.#plan.add(route.executor)
    return cause === 'key' || cause === 'plan'
  }

  /** Something of this account executed that was refused or proved dead, or a second time: until a person says so,
   *  nothing is repeated at once on the word of a refusal. What we did not sign needs nobody's word. */
  trust(account: string, isTrusted: boolean): void {
    if (isTrusted) this.#breached.delete(account)
    else this.#breached.add(account)
  }

  mayRepeat(
    { account, executor }: Pick<Attempt, 'account' | 'executor'>,
    { kind }: Pick<Failure, 'kind'>,
    cause: Cause,
  ): boolean {
    if (!this.#breached.has(account) || executor === 'local') return true
    return kind !== 'refused' || (cause !== 'slippage' && cause !== 'throttled')
  }

  /** Of one that waits for its next try. */
  mayGoAgain({ order: { account }, route: { kind }, refusedFor }: WorkingOrder): boolean {
    return refusedFor === undefined || this.mayRepeat({ account, executor: kind }, { kind: 'refused' }, refusedFor)
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

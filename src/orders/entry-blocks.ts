import type { ErrorCode } from '../base/errors.ts'
import type { Attempt, CalledOff } from './attempt.ts'
import type { Executor } from './ports.ts'
import type { Cause, Failure } from './retry-policy.ts'
import type { Route, WorkingOrder } from './working-order.ts'

/** Conditions that stop entries or immediate retries: in the whole process, in one account, or for one executor. */
export class EntryBlocks {
  readonly #plan = new Set<Executor>()
  readonly #breached = new Set<string>()
  readonly #halted = new Set<string>()
  #isDiskLow = false

  /** Returns why this entry may not be queued; undefined if it may. */
  refusalOf(entry: WorkingOrder): ErrorCode | undefined {
    const { limiter, executor } = entry.route
    if (limiter.closed) return 'KEY_REFUSED'
    return this.#plan.has(executor) ? 'PLAN_REFUSED' : this.calledOff(entry)
  }

  /** Returns why an order may no longer be signed or sent, even if it has a request slot; undefined if it may. */
  calledOff({ order, overtaken }: WorkingOrder): CalledOff | undefined {
    if (overtaken) return 'EXIT_UNPROVED'
    if (order.class === 'exit') return undefined
    if (this.#halted.has(order.account)) return 'HALTED'
    return this.#isDiskLow ? 'DISK_LOW' : undefined
  }

  setDiskLow(isLow: boolean): void {
    this.#isDiskLow = isLow
  }

  /** Halts the account's entries, or allows them again. Returns true if this call halts them. */
  setHalted(account: string, isHalted: boolean): boolean {
    const isChange = isHalted !== this.#halted.has(account)
    if (isHalted) this.#halted.add(account)
    else this.#halted.delete(account)
    return isChange && isHalted
  }

  /** Records whether Sluice believes the service when it refuses an attempt of this account. Sluice stops believing it
   *  when an attempt executes twice, or executes although it was refused or proved absent. From then on, an
   *  attempt that the service sends is not repeated after a refusal because of the slippage or the rate limit, until an
   *  operator resumes the account. */
  setTrusted(account: string, isTrusted: boolean): void {
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

  /** Whether an order that waits for its next attempt may send that attempt. */
  mayGoAgain({ order: { account }, route: { kind }, refusedFor }: WorkingOrder): boolean {
    return refusedFor === undefined || this.mayRepeat({ account, executor: kind }, { kind: 'refused' }, refusedFor)
  }

  planRefused(route: Route): void {
    this.#plan.add(route.executor)
  }

  /** Allows entries again on routes with this executor, after the service has refused them because of the plan. Called
   *  when the service has accepted an order. */
  planAccepted(route: Route): void {
    this.#plan.delete(route.executor)
  }

  /** Allows entries again on all routes on which the service has refused them because of the plan. Called when the
   *  service accepts the key, or when the plan has changed. */
  keyAccepted(): void {
    this.#plan.clear()
  }
}

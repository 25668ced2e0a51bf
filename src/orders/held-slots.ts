import { assert } from '../base/errors.ts'
import { Fifo } from '../base/fifo.ts'

/** Length of the window in which requests are counted, ms. The service counts requests a minute, but its documentation
 *  does not say in which kind of window. */
export const WINDOW_MS = 60_000

interface Held {
  readonly id: number
  readonly isExit: boolean
  /** Requests a minute of the plan under which the request slot was taken. */
  readonly plan: number
}

/** Request slots in use: by requests under way, and by requests that ended within the last minute. */
export class HeldSlots {
  readonly #underWay = new Map<number, Held>()
  /** Request slots of ended requests, which still count for a minute. `freeAt` is ascending, because requests are added
   *  when they end. */
  readonly #cooling = new Fifo<Held & { readonly freeAt: number }>()
  /** Number of request slots in use, by the `plan` under which they were taken. */
  readonly #ofPlan = new Map<number, number>()
  /** Id of the first request slot that counts towards `exits`. */
  #firstOfShare = 1
  #exits = 0

  get count(): number {
    return this.#underWay.size + this.#cooling.length
  }

  /** Number of request slots in use that were taken by exits and count against the number of requests that exits may
   *  always send. */
  get exits(): number {
    return this.#exits
  }

  /** Time at which the next request slot becomes free; Infinity if no ended request still counts. */
  get nextFreeAt(): number {
    return this.#cooling.peek()?.freeAt ?? Number.POSITIVE_INFINITY
  }

  /** Returns the number of request slots in use that were taken under a plan larger than `plan`. */
  above(plan: number): number {
    let count = 0
    for (const [other, held] of this.#ofPlan) if (other > plan) count += held
    return count
  }

  /** Returns the maximum number of request slots that can be in use. This is the number of requests a minute of `plan`,
   *  or of a larger earlier plan while request slots that were taken under it are still in use. */
  ceiling(plan: number): number {
    let largest = plan
    for (const other of this.#ofPlan.keys()) if (other > largest) largest = other
    return largest
  }

  /** Restarts the count of `exits` at 0. From then on, only request slots with the id `firstId` or a higher id count.
   *  */
  beginShare(firstId: number): void {
    this.#firstOfShare = firstId
    this.#exits = 0
  }

  take(id: number, isExit: boolean, plan: number): void {
    this.#underWay.set(id, { id, isExit, plan })
    this.#count(plan, 1)
    if (isExit) this.#exits++
  }

  /** Ends a request. Its request slot counts for one more minute. */
  end(id: number, now: number): void {
    this.#cooling.push({ ...this.#ended(id), freeAt: now + WINDOW_MS })
  }

  /** Frees the request slot of a request that was never sent. */
  giveBack(id: number): void {
    this.#freed(this.#ended(id))
  }

  /** Restores a request slot of an earlier process. Must be called in ascending order of `freeAt`. */
  restore(held: Held, freeAt: number): void {
    this.#cooling.push({ ...held, freeAt })
    this.#count(held.plan, 1)
    if (held.isExit) this.#exits++
  }

  /** Frees the request slots whose requests ended more than a minute ago. */
  update(now: number): void {
    for (let next = this.#cooling.peek(); next !== undefined && next.freeAt <= now; next = this.#cooling.peek()) {
      this.#cooling.shift()
      this.#freed(next)
    }
  }

  #ended(id: number): Held {
    const held = this.#underWay.get(id)
    if (held === undefined) assert(false, `request slot ${id} was ended twice, or never taken`)
    this.#underWay.delete(id)
    return held
  }

  #freed({ id, isExit, plan }: Held): void {
    this.#count(plan, -1)
    if (isExit && id >= this.#firstOfShare) this.#exits--
  }

  #count(plan: number, change: 1 | -1): void {
    const held = (this.#ofPlan.get(plan) ?? 0) + change
    if (held === 0) this.#ofPlan.delete(plan)
    else this.#ofPlan.set(plan, held)
  }
}

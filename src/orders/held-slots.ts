import { assert } from '../base/errors.ts'
import { Fifo } from '../base/fifo.ts'

/** The service counts requests a minute; how it counts is not shown. */
export const WINDOW_MS = 60_000

interface Held {
  readonly id: number
  readonly isExit: boolean
  /** Requests a minute of the plan that it was taken under. */
  readonly plan: number
}

/** The slots that are held: those of requests under way, and of those that ended within the last minute. */
export class HeldSlots {
  readonly #underWay = new Map<number, Held>()
  /** With the time at which each is free again: ascending, because requests complete in time's order. */
  readonly #cooling = new Fifo<Held & { readonly freeAt: number }>()
  /** How many there are of each plan. */
  readonly #ofPlan = new Map<number, number>()
  /** Exits' share is counted from this slot on. */
  #firstOfShare = 1
  #exits = 0

  get count(): number {
    return this.#underWay.size + this.#cooling.length
  }

  /** How many of the exits' share are held. */
  get exits(): number {
    return this.#exits
  }

  /** When the next one is free; Infinity where that is not known. */
  get nextFreeAt(): number {
    return this.#cooling.peek()?.freeAt ?? Number.POSITIVE_INFINITY
  }

  /** How many were taken under a larger plan than this. */
  above(plan: number): number {
    let count = 0
    for (const [other, held] of this.#ofPlan) if (other > plan) count += held
    return count
  }

  /** How many may be held under this plan: as many as under the largest plan of any that is held. */
  ceiling(plan: number): number {
    return Math.max(plan, ...this.#ofPlan.keys())
  }

  /** From this slot on, exits have a whole share again. */
  beginShare(firstId: number): void {
    this.#firstOfShare = firstId
    this.#exits = 0
  }

  take(id: number, isExit: boolean, plan: number): void {
    this.#underWay.set(id, { id, isExit, plan })
    this.#count(plan, 1)
    if (isExit) this.#exits++
  }

  /** Its request is over: it counts for one minute more. */
  end(id: number, now: number): void {
    this.#cooling.push({ ...this.#ended(id), freeAt: now + WINDOW_MS })
  }

  /** Its request was never sent: it does not count. */
  giveBack(id: number): void {
    this.#freed(this.#ended(id))
  }

  /** One of an earlier process; to be called in the order of their ends. */
  restore(held: Held, freeAt: number): void {
    this.#cooling.push({ ...held, freeAt })
    this.#count(held.plan, 1)
    if (held.isExit) this.#exits++
  }

  /** Frees what ended more than a minute ago. */
  update(now: number): void {
    for (let next = this.#cooling.peek(); next !== undefined && next.freeAt <= now; next = this.#cooling.peek()) {
      this.#cooling.shift()
      this.#freed(next)
    }
  }

  #ended(id: number): Held {
    const held = this.#underWay.get(id)
    if (held === undefined) assert(false, `slot ${id} is ended twice, or was never taken`)
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

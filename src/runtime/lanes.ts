import assert from '../core/assert.ts'

/** Which lanes (see `laneOf`) hold an open order. The engine refuses a request into a closed lane; here that is asserted, but for a lane
 *  that a fork has reopened: of that the engine may not have heard yet. */
export class Lanes {
  /** Open orders by lane; more than one only where a fork took the fill of an earlier one back. */
  readonly #open = new Map<string, number>()
  readonly #reopened = new Set<string>()

  hold(lane: string): void {
    assert(!this.#open.has(lane), 'a second open order in a lane')
    this.#open.set(lane, 1)
  }

  /** A fork took a fill back: its order is open again, whatever the lane holds by now. */
  reopen(lane: string): void {
    this.#open.set(lane, (this.#open.get(lane) ?? 0) + 1)
    this.#reopened.add(lane)
  }

  isHeld(lane: string): boolean {
    return this.#open.has(lane)
  }

  isReopened(lane: string): boolean {
    return this.#reopened.has(lane)
  }

  free(lane: string): void {
    const held = this.#open.get(lane)
    assert(held !== undefined, 'a lane is freed twice')
    if (held > 1) {
      this.#open.set(lane, held - 1)
      return
    }
    this.#open.delete(lane)
    this.#reopened.delete(lane)
  }
}

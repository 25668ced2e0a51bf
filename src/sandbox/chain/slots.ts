import { deriveSeed, seededRandom } from '../../base/random.ts'

/** Reference point of the slot count: `slot` began at `time` (ms since the epoch), and `height` blocks exist up to this
 *  slot. */
export interface Anchor {
  slot: number
  height: number
  time: number
  slotMs: number
}

const FIRST_SLOT = 300_000_000
const FIRST_HEIGHT = 278_000_000
/** Number of slots before the start of a new chain, so that a finalized one exists immediately. */
const HEAD_START = 64
/** Share of slots without a block, about as on mainnet. Because of it, height and slot differ more and more. */
const SKIPPED_SHARE = 0.04
/** Maximum number of slots by which the chain advances after a downtime of its process (11 hours at 400 ms). */
const LONGEST_SLEEP = 100_000
/** Number of slots whose heights are remembered; more than the lifetime of a blockhash. */
const REMEMBERED = 1_024

export const FIRST_AVAILABLE_SLOT = FIRST_SLOT

/** Computes slots from the time. The chain therefore needs no commit for each slot, and never goes back after a
 *  restart. Only the seed and the number of a slot determine whether the slot has a block. */
export class Slots {
  /** The newest slot with a block that `advance` has reached. */
  head: number
  readonly #seed: number
  readonly #slotMs: number
  /** Slot and time from which all other slots are computed: `#origin.slot` began at `#origin.time`. */
  readonly #origin: { slot: number; time: number }
  readonly #heights = new Map<number, number>()

  /** `saved` is the anchor of an earlier process. If the time per slot has changed, the new one applies from now on. */
  constructor(seed: number, slotMs: number, now: number, saved?: Anchor) {
    this.#seed = seed
    this.#slotMs = slotMs
    const start = saved ?? { slot: FIRST_SLOT, height: FIRST_HEIGHT, time: now - HEAD_START * slotMs, slotMs }
    this.head = start.slot
    this.#recall(start)
    const slept = Math.floor((now - start.time) / start.slotMs)
    const reached = start.slot + Math.min(Math.max(slept, 0), LONGEST_SLEEP)
    this.#origin = { slot: reached, time: now }
    this.advance(reached)
  }

  /** The reference point of the slot count that a later process needs. */
  get anchor(): Anchor {
    return { slot: this.head, height: this.height(this.head), time: this.timeOf(this.head), slotMs: this.#slotMs }
  }

  /** Slot at a time; it may have no block. */
  slotAt(time: number): number {
    return Math.max(this.head, this.#origin.slot + Math.floor((time - this.#origin.time) / this.#slotMs))
  }

  /** Time at which a slot begins, milliseconds since the epoch. */
  timeOf(slot: number): number {
    return this.#origin.time + (slot - this.#origin.slot) * this.#slotMs
  }

  /** Advances the clock to `slot`. Returns those slots after the old head, up to `slot`, that have a block. */
  advance(slot: number): number[] {
    const blocks: number[] = []
    let height = this.height(this.head)
    for (let next = this.head + 1; next <= slot; next++) {
      this.#heights.delete(next - REMEMBERED)
      if (this.#isSkipped(next)) continue
      this.#heights.set(next, ++height)
      blocks.push(next)
    }
    this.head = blocks.at(-1) ?? this.head
    return blocks
  }

  /** Newest slot with a block that is at least `back` slots behind the head. */
  behind(back: number): number {
    for (let slot = this.head - back; slot > this.head - REMEMBERED; slot--) if (this.#heights.has(slot)) return slot
    return FIRST_SLOT
  }

  hasBlock(slot: number): boolean {
    return slot <= this.head && slot >= FIRST_SLOT && !this.#isSkipped(slot)
  }

  /** Number of blocks up to this slot, which must have a block and be at most 1,000 slots old. */
  height(slot: number): number {
    return this.#heights.get(slot) ?? FIRST_HEIGHT
  }

  /** Restores the heights of the saved slot and of the slots before it after a restart, so that the chain has the same
   *  finalized block as before the restart. */
  #recall({ slot, height }: Anchor): void {
    for (let back = slot; back > slot - REMEMBERED && back >= FIRST_SLOT; back--) {
      if (!this.#isSkipped(back)) this.#heights.set(back, height--)
    }
  }

  #isSkipped(slot: number): boolean {
    return slot !== FIRST_SLOT && seededRandom(deriveSeed(this.#seed, `slot ${slot}`)).next() < SKIPPED_SHARE
  }
}

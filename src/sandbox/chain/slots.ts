import { deriveSeed, seededRandom } from '../../base/random.ts'

/**
 * A moment from which slots are counted: `slot` began at `time` (ms since the epoch) and `height` blocks lie before or
 * at it.
 */
export interface Anchor {
  slot: number
  height: number
  time: number
  slotMs: number
}

const FIRST_SLOT = 300_000_000
const FIRST_HEIGHT = 278_000_000
/** Slots before the start of a new chain, so that a finalized one exists at once. */
const HEAD_START = 64
/** Of all slots, about as on mainnet; they have no block, so height and slot drift apart. */
const SKIPPED_SHARE = 0.04
/**
 * A chain that slept longer than this many slots (11 hours at 400 ms) goes on from there. Its anchor is saved far more
 * often.
 */
const LONGEST_SLEEP = 100_000
/** How far back heights are remembered: more than a blockhash lives. */
const REMEMBERED = 1_024

export const FIRST_AVAILABLE_SLOT = FIRST_SLOT

/**
 * Slots as a function of time, so that the chain's place needs no commit a slot and never goes back over a restart. A
 * slot without a block is drawn from the seed and the slot alone.
 */
export class Slots {
  /** The newest slot that `advance` has reached; it always has a block. */
  head: number
  readonly #seed: number
  readonly #slotMs: number
  /** `#origin.slot` began at `#origin.time`. */
  readonly #origin: { slot: number; time: number }
  readonly #heights = new Map<number, number>()

  /** `saved` is the anchor of an earlier process; a changed slot time counts from now on. */
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

  /** To be saved, so that a later process goes on from here. */
  get anchor(): Anchor {
    return { slot: this.head, height: this.height(this.head), time: this.timeOf(this.head), slotMs: this.#slotMs }
  }

  /** The slot that `time` falls into, with a block or without. */
  slotAt(time: number): number {
    return Math.max(this.head, this.#origin.slot + Math.floor((time - this.#origin.time) / this.#slotMs))
  }

  /** Milliseconds since the epoch. */
  timeOf(slot: number): number {
    return this.#origin.time + (slot - this.#origin.slot) * this.#slotMs
  }

  /** Goes on to `slot` and returns the slots with a block on the way. */
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

  /** The newest slot with a block that is at least `back` slots behind the head. */
  behind(back: number): number {
    for (let slot = this.head - back; slot > this.head - REMEMBERED; slot--) if (this.#heights.has(slot)) return slot
    return FIRST_SLOT
  }

  hasBlock(slot: number): boolean {
    return slot <= this.head && slot >= FIRST_SLOT && !this.#isSkipped(slot)
  }

  /** Blocks up to and including this one, which has a block and is at most 1,000 slots old. */
  height(slot: number): number {
    return this.#heights.get(slot) ?? FIRST_HEIGHT
  }

  /** The heights before the anchor, so that a chain that goes on is finalized where it was. */
  #recall({ slot, height }: Anchor): void {
    for (let back = slot; back > slot - REMEMBERED && back >= FIRST_SLOT; back--) {
      if (!this.#isSkipped(back)) this.#heights.set(back, height--)
    }
  }

  #isSkipped(slot: number): boolean {
    return slot !== FIRST_SLOT && seededRandom(deriveSeed(this.#seed, `slot ${slot}`)).next() < SKIPPED_SHARE
  }
}

import { BAR_DOUBLES, CLOSED } from './bar.ts'

const LEAST_BARS = 4
const MOST_BARS = 32
/** Number of bars whose memory is taken at once. */
const STORE_BARS = 128

/** Hands out the memory of closed bars. Most chunks are small, and a typed array for each would take more memory than
 *  its bars. Memory is not used twice: it is collected when no chunk and no bar of a strategy uses it. */
export class BarStore {
  doubles = new Float64Array(0)
  #used = 0

  /** Takes the memory of a number of bars from `doubles`. Returns its place. */
  take(bars: number): number {
    const size = bars * BAR_DOUBLES
    if (this.#used + size > this.doubles.length) {
      this.doubles = new Float64Array(STORE_BARS * BAR_DOUBLES)
      this.#used = 0
    }
    this.#used += size
    return this.#used - size
  }
}

interface Chunk {
  readonly doubles: Float64Array
  /** Place of the bar with the number 0, if the chunk began with it. */
  readonly zero: number
  /** Number of its first bar. */
  readonly from: number
}

/** The last closed bars of one token and one width. They are stored in chunks that grow with the number of bars,
 *  because most tokens have few. A bar that was written is not written again: its chunk is dropped as a whole. */
export class BarHistory {
  /** Number of bars so far. It is the number of the next bar. */
  count = 0
  /** Number of the oldest stored bar. */
  first = 0
  readonly #store: BarStore
  readonly #chunks: Chunk[] = []
  /** Number of the first bar behind the oldest chunk, and behind the newest. */
  #oldestTo = 0
  #newestTo = 0
  /** Memory of the newest chunk, and the place of the next bar in it. */
  #doubles: Float64Array
  #next = 0

  constructor(store: BarStore) {
    this.#store = store
    this.#doubles = store.doubles
  }

  /** Whether the oldest bars are dropped when the next one is added. */
  dropsNext(keep: number): boolean {
    return this.count > 0 && this.#oldestTo <= this.count + 1 - keep
  }

  /** Adds the bar at `from` in `doubles`. Drops bars beyond the last `keep`. */
  add(doubles: Float64Array, from: number, keep: number): void {
    if (this.dropsNext(keep)) this.#drop()
    if (this.count === this.#newestTo) this.#grow()
    const to = this.#doubles
    const at = this.#next
    for (let index = 0; index < BAR_DOUBLES; index++) to[at + index] = doubles[from + index] as number
    this.#next = at + BAR_DOUBLES
    this.count++
  }

  /** Memory that has a bar, by the bar's number from `first` to `count` (exclusive). */
  memoryOf(number: number): Float64Array {
    return this.#chunkOf(number).doubles
  }

  /** Place of a bar in its memory, by the bar's number. */
  placeOf(number: number): number {
    return this.#chunkOf(number).zero + number * BAR_DOUBLES
  }

  /** Memory of the newest bar, and its place there. */
  get newestMemory(): Float64Array {
    return this.#doubles
  }
  get newestPlace(): number {
    return this.#next - BAR_DOUBLES
  }

  /** End of the newest bar; -Infinity without bars. */
  get closedAt(): number {
    return this.count === 0 ? Number.NEGATIVE_INFINITY : (this.#doubles[this.newestPlace + CLOSED] as number)
  }

  #chunkOf(number: number): Chunk {
    let index = this.#chunks.length - 1
    while (number < (this.#chunks[index] as Chunk).from) index--
    return this.#chunks[index] as Chunk
  }

  #drop(): void {
    this.#chunks.shift()
    this.first = this.#chunks[0]?.from ?? this.count
    this.#oldestTo = this.#chunks[1]?.from ?? this.#newestTo
  }

  #grow(): void {
    const { count } = this
    const bars = Math.min(MOST_BARS, Math.max(LEAST_BARS, count))
    this.#next = this.#store.take(bars)
    this.#doubles = this.#store.doubles
    this.#chunks.push({ doubles: this.#doubles, zero: this.#next - count * BAR_DOUBLES, from: count })
    this.#newestTo = count + bars
    if (this.#chunks.length === 1) this.#oldestTo = this.#newestTo
  }
}

import { BAR_DOUBLES, CLOSED } from './bar.ts'
import type { TokenId } from './block.ts'

/** Number of bars in a chunk; 1 if fewer than `KEPT_FOR_CHUNKS` bars are kept for a token. The chunks of tokens whose
 *  bars close together lie next to each other in memory. If each token had its own list with room for all of its bars,
 *  the distances between the newest bars of the tokens would be multiples of a power of two, and the processor's cache
 *  could hold only few of them. */
const CHUNK_BARS = 4
const KEPT_FOR_CHUNKS = 16
/** Number of chunks whose memory is allocated together. */
const SLAB_CHUNKS = 256

/** Size of a token's state in words, and the offsets of its fields: the number of bars so far, the number of the oldest
 *  kept bar, the oldest chunk, the number of the first bar in that chunk, and the newest chunk. Bar number n is in its
 *  chunk at the index n modulo the number of bars of a chunk. */
const WORDS = 8
const COUNT = 0
const FIRST = 1
const OLDEST = 2
const OLDEST_FIRST = 3
const NEWEST = 4

/** Memory that is allocated together for `SLAB_CHUNKS` chunks (groups of bars of one token) with consecutive
 *  numbers. */
interface Slab {
  readonly number: number
  /** `used`: number of chunks of this slab that have ever been given to a token. `free`: the chunks that tokens have
   *  given back. */
  used: number
  readonly free: number[]
  /** Number of chunks of this slab that are in use. */
  chunks: number
}

const FREED = new Float64Array(0)

/** Stores the last closed bars of one width for all tokens. The bars of a token are in a list of chunks. The memory of
 *  a chunk is used again for later bars, so strategies get copies of bars. A place is a number that identifies a stored
 *  bar; `memoryAt` and `offsetOf` return where the bar is. */
export class KeptBars {
  #words = new Uint32Array(0)
  /** Number of bars in a chunk, and number of doubles in it; 0 until the first bar. Both are powers of two. */
  #chunkBars = 0
  #chunkDoubles = 0
  /** Binary logarithm of the number of doubles in a slab (the memory of several chunks). */
  #slabBits = 0
  /** For each chunk: the number of the next chunk of the same token. */
  #next = new Uint32Array(0)
  /** The memory of each slab, by its number; `#slabs` are the slabs themselves. A slab is freed when none of its chunks
   *  is in use. */
  readonly #memory: Float64Array[] = []
  readonly #slabs: (Slab | undefined)[] = []
  readonly #freedNumbers: number[] = []
  /** Slabs with at least one chunk that is not in use. */
  readonly #open: Slab[] = []

  /** Returns the number of bars of a token so far. It is also the number of the next bar. */
  countOf(token: TokenId): number {
    return this.#words[token * WORDS + COUNT] ?? 0
  }

  /** Returns the number of the oldest kept bar of a token. The bars of each token are numbered from 0. */
  firstOf(token: TokenId): number {
    return this.#words[token * WORDS + FIRST] ?? 0
  }

  /** Returns the place of a kept bar, by the number of the bar. A bar outside of the newest chunk is found by a walk
   *  through the chunks. */
  placeOf(token: TokenId, number: number): number {
    const line = token * WORDS
    const words = this.#words
    const inChunk = number & (this.#chunkBars - 1)
    const last = (words[line + COUNT] as number) - 1
    let chunk = words[line + NEWEST] as number
    if (number < last - (last & (this.#chunkBars - 1))) {
      chunk = words[line + OLDEST] as number
      const start = number - inChunk
      for (let first = words[line + OLDEST_FIRST] as number; first < start; first += this.#chunkBars)
        chunk = this.#next[chunk] as number
    }
    return chunk * this.#chunkDoubles + inChunk * BAR_DOUBLES
  }

  /** Returns the place of the bar after the bar at `place`, of the same token. */
  placeAfter(place: number): number {
    const after = place + BAR_DOUBLES
    if ((after & (this.#chunkDoubles - 1)) !== 0) return after
    return (this.#next[after / this.#chunkDoubles - 1] as number) * this.#chunkDoubles
  }

  memoryAt(place: number): Float64Array {
    return this.#memory[place >>> this.#slabBits] as Float64Array
  }

  offsetOf(place: number): number {
    return place & ((1 << this.#slabBits) - 1)
  }

  /** End of the newest bar of a token; -Infinity without bars. */
  closedAt(token: TokenId): number {
    const count = this.countOf(token)
    if (count === 0) return Number.NEGATIVE_INFINITY
    const place = this.placeOf(token, count - 1)
    return this.memoryAt(place)[this.offsetOf(place) + CLOSED] as number
  }

  /** Whether the oldest bar of a token is dropped when the next one is added. */
  drops(token: TokenId, keep: number): boolean {
    const line = token * WORDS
    const words = this.#words
    return ((words[line + COUNT] ?? 0) as number) - ((words[line + FIRST] ?? 0) as number) >= keep
  }

  /** Adds a bar, whose numbers begin at `doubles[from]`. If `keep` bars are stored already, drops the oldest of
   *  them. */
  add(token: TokenId, doubles: Float64Array, from: number, keep: number): void {
    const line = token * WORDS
    if (line >= this.#words.length) this.#grow(token, keep)
    const words = this.#words
    const count = words[line + COUNT] as number
    if (count - (words[line + FIRST] as number) >= keep) words[line + FIRST] = (words[line + FIRST] as number) + 1
    const inChunk = count & (this.#chunkBars - 1)
    // A lone bar is overwritten. `#addChunk` would find the same chunk, but takes longer.
    if (keep === 1 && count > 0) words[line + OLDEST_FIRST] = count
    else if (inChunk === 0) this.#addChunk(line)
    words[line + COUNT] = count + 1
    const place = (words[line + NEWEST] as number) * this.#chunkDoubles + inChunk * BAR_DOUBLES
    const to = this.#memory[place >>> this.#slabBits] as Float64Array
    const at = place & ((1 << this.#slabBits) - 1)
    // `set` would need a new view, which takes memory and more time than this loop.
    for (let index = 0; index < BAR_DOUBLES; index++) to[at + index] = doubles[from + index] as number
  }

  /** Frees the bars of a token. */
  forget(token: TokenId): void {
    const line = token * WORDS
    const words = this.#words
    if (line >= words.length || words[line + COUNT] === 0) return
    const newest = words[line + NEWEST] as number
    for (let chunk = words[line + OLDEST] as number; chunk !== newest; chunk = this.#next[chunk] as number)
      this.#giveBack(chunk)
    this.#giveBack(newest)
    words.fill(0, line, line + WORDS)
  }

  /** Appends a chunk to a token's list: the token's oldest chunk if all bars in it were dropped, otherwise an unused
   *  chunk. */
  #addChunk(line: number): void {
    const words = this.#words
    const oldest = words[line + OLDEST] as number
    const second = (words[line + OLDEST_FIRST] as number) + this.#chunkBars
    const isEmpty = words[line + COUNT] === 0
    const isReused = !isEmpty && (words[line + FIRST] as number) >= second
    const chunk = isReused ? oldest : this.#take()
    const newest = words[line + NEWEST] as number
    if (isEmpty) words[line + OLDEST] = chunk
    else if (isReused) {
      words[line + OLDEST_FIRST] = second
      if (newest !== oldest) words[line + OLDEST] = this.#next[oldest] as number
    }
    if (!isEmpty) this.#next[newest] = chunk
    words[line + NEWEST] = chunk
  }

  #giveBack(chunk: number): void {
    const slab = this.#slabs[Math.floor(chunk / SLAB_CHUNKS)] as Slab
    const isOpen = hasChunk(slab)
    slab.chunks--
    slab.free.push(chunk)
    if (slab.chunks > 0) {
      if (!isOpen) this.#open.push(slab)
      return
    }
    if (isOpen) this.#open.splice(this.#open.indexOf(slab), 1)
    this.#memory[slab.number] = FREED
    this.#slabs[slab.number] = undefined
    this.#freedNumbers.push(slab.number)
  }

  /** Returns a chunk that is not in use. */
  #take(): number {
    if (this.#open.length === 0) this.#open.push(this.#newSlab())
    const slab = this.#open.at(-1) as Slab
    const chunk = slab.free.pop() ?? slab.number * SLAB_CHUNKS + slab.used++
    slab.chunks++
    if (!hasChunk(slab)) this.#open.pop()
    return chunk
  }

  #newSlab(): Slab {
    const number = this.#freedNumbers.pop() ?? this.#slabs.length
    const slab = { number, used: 0, free: [], chunks: 0 }
    this.#slabs[number] = slab
    this.#memory[number] = new Float64Array(SLAB_CHUNKS * this.#chunkDoubles)
    if ((number + 1) * SLAB_CHUNKS > this.#next.length) {
      const grown = new Uint32Array(Math.max(1024, 2 * this.#next.length))
      grown.set(this.#next)
      this.#next = grown
    }
    return slab
  }

  #grow(token: TokenId, keep: number): void {
    if (this.#chunkBars === 0) {
      this.#chunkBars = keep < KEPT_FOR_CHUNKS ? 1 : CHUNK_BARS
      this.#chunkDoubles = this.#chunkBars * BAR_DOUBLES
      this.#slabBits = Math.log2(SLAB_CHUNKS * this.#chunkDoubles)
    }
    const grown = new Uint32Array(Math.max(1024, 2 ** Math.ceil(Math.log2(token + 1))) * WORDS)
    grown.set(this.#words)
    this.#words = grown
  }
}

function hasChunk({ used, free }: Slab): boolean {
  return free.length > 0 || used < SLAB_CHUNKS
}

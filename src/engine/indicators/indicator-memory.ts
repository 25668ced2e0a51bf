import type { TokenId } from '../../market/block.ts'
import { addToRing, copyRing, doublesOfRing, estimateMean } from './value-ring.ts'

/** Bars of several tokens that are added in one step. Each bar is added to the states of its own token. */
export interface AddedBars {
  length: number
  /** For each bar: the offset of its token's states, and the number of earlier bars of the token. */
  readonly states: Uint32Array
  readonly counts: Uint32Array
  /** The memory that contains the bars, and for each bar its offset there. */
  bars: Float64Array
  readonly froms: Uint32Array
}

/** Number of bars that are added in one step. It is so small that the states of all their tokens stay in the
 *  processor's fastest cache while each indicator is updated. */
const BARS_AT_ONCE = 64

/** The mean of the last `length` values of a figure. All means of a figure share a ring of the token's last values; see
 *  value-ring.ts. */
export interface MeanOf {
  readonly figure: number
  readonly length: number
}

/** An indicator whose state consists only of numbers. The state of a token has `numbers` numbers, initially 0, followed
 *  by its windows of last values. A window that is longer than `room` has space for `room` values only, because the
 *  token has no more bars yet. For a mean, `room` is the size of its ring, and `ring` is where the ring begins in the
 *  memory. */
export interface StateInMemory {
  /** Number of numbers in a state, without the values in its windows. */
  readonly numbers: number
  /** Lengths of the windows of a state; none for a mean. */
  readonly windows: readonly number[]
  /** What the indicator is the mean of; undefined for any other indicator. */
  readonly meanOf: MeanOf | undefined
  /** Adds a bar to the state at `at`. `count`: the number of earlier bars. The bar begins at `bars[from]`. Not called
   *  for a mean, whose ring receives the bar. */
  add(memory: Float64Array, at: number, room: number, count: number, bars: Float64Array, from: number): void
  /** Adds bars to the states of their tokens, as `add` does. `offset`: where the state of this indicator begins,
   *  counted from the beginning of the token's states. Each indicator has its own loop over the tokens, so that V8
   *  optimizes each loop separately. */
  addAll(memory: Float64Array, offset: number, room: number, added: AddedBars): void
  /** Returns the value after `count` bars; undefined if the indicator needs more bars. */
  valueOf(memory: Float64Array, at: number, room: number, count: number, ring: number): unknown
  /** Returns the value after `count` bars if it is a number, or one field of the value, by the index of the field. NaN
   *  if the indicator needs more bars. */
  numberOf(memory: Float64Array, at: number, room: number, count: number, field: number, ring: number): number
}

/** Each token has a line: as much of the memory as one cache line, with this many doubles. The first four are the
 *  token's cursor, which the series that owns this memory writes. */
const LINE_DOUBLES = 8
/** Number of 32-bit words in a line, and the offsets of three of these words: the number of the token's bars, the
 *  number of its pool (counted from 1; 0 means none), and the offset of its states in that pool. The three are
 *  integers, because the index of a value in a window is a remainder, and remainders of doubles take several times as
 *  long to compute. */
const LINE_WORDS = 16
const COUNT = 8
const POOL = 9
const AT = 10

/** The windows of a token first have space for `LEAST_ROOM` values, because most tokens have few bars. When the space
 *  is used up, it is multiplied by `ROOM_FACTOR`. */
const LEAST_ROOM = 16
const ROOM_FACTOR = 4

/** Stores the states of several indicators for all tokens. The states of one token are contiguous. When a token has
 *  more bars than its windows have space for, its states move to a pool with larger windows. */
export class IndicatorMemory {
  /** The lines of all tokens, by token number. */
  lines = new Float64Array(0)
  /** The same memory as `lines`, read as integers. */
  #words = new Uint32Array(this.lines.buffer)
  /** The pools, ascending by the room of their windows. The first one has the number 1. */
  readonly #pools: readonly (StatePool | undefined)[]

  constructor(indicators: readonly StateInMemory[]) {
    const longest = Math.max(0, ...indicators.flatMap(({ windows, meanOf }) => [...windows, meanOf?.length ?? 0]))
    const rooms = [LEAST_ROOM]
    while ((rooms.at(-1) as number) < longest) rooms.push((rooms.at(-1) as number) * ROOM_FACTOR)
    this.#pools = [undefined, ...rooms.map((room) => new StatePool(indicators, room, room >= longest))]
  }

  /** Returns the offset of a token's line. */
  lineOf(token: TokenId): number {
    const line = token * LINE_DOUBLES
    if (line >= this.lines.length) {
      const grown = new Float64Array(2 ** Math.ceil(Math.log2(token + 1)) * LINE_DOUBLES)
      grown.set(this.lines)
      this.lines = grown
      this.#words = new Uint32Array(grown.buffer)
    }
    return line
  }

  /** Adds a bar to the states of a token. The bar's numbers begin at `bars[from]`. */
  add(token: TokenId, bars: Float64Array, from: number): void {
    const pool = this.#poolFor(token)
    const word = token * LINE_WORDS
    pool.add(this.#words[word + AT] as number, (this.#words[word + COUNT] as number) - 1, bars, from)
  }

  /** Like `add`, but may delay adding the bar until `addStaged` is called. Between two calls of `addStaged`, a token
   *  has at most one bar. The bar begins at `bars[from]`, where it must stay until then. */
  stage(token: TokenId, bars: Float64Array, from: number): void {
    const pool = this.#poolFor(token)
    const word = token * LINE_WORDS
    pool.stage(this.#words[word + AT] as number, (this.#words[word + COUNT] as number) - 1, bars, from)
  }

  addStaged(): void {
    for (let index = 1; index < this.#pools.length; index++) this.#pools[index]?.addStaged()
  }

  /** Counts one more bar of a token. Returns the pool of the token's states, which has room for this bar. */
  #poolFor(token: TokenId): StatePool {
    this.lineOf(token)
    const words = this.#words
    const word = token * LINE_WORDS
    const count = words[word + COUNT] as number
    let pool = this.#pools[words[word + POOL] as number]
    if (pool === undefined || (count >= pool.room && !pool.isLast)) pool = this.#move(word, pool)
    words[word + COUNT] = count + 1
    return pool
  }

  /** Returns the current value of an indicator of a token, by the indicator's index; undefined if the indicator needs
   *  more bars. */
  valueOf(token: TokenId, index: number): unknown {
    const words = this.#words
    const word = token * LINE_WORDS
    const pool = this.#pools[words[word + POOL] as number]
    if (pool === undefined) return undefined
    return pool.valueOf(index, words[word + AT] as number, words[word + COUNT] as number)
  }

  /** Writes one number of an indicator's current value to `to[place]`, by the indexes of the indicator and of the
   *  field; NaN if the indicator needs more bars. */
  load(token: TokenId, index: number, field: number, to: Float64Array, place: number): void {
    const words = this.#words
    const word = token * LINE_WORDS
    const pool = this.#pools[words[word + POOL] as number]
    if (pool === undefined) to[place] = Number.NaN
    else to[place] = pool.numberOf(index, words[word + AT] as number, words[word + COUNT] as number, field)
  }

  /** Writes the lowest and the highest possible value, or first field of the value, of several indicators, beginning at
   *  `to[place]`; see `Estimates`. Only the values of means are estimated. */
  estimateAll(token: TokenId, indexes: readonly number[], to: Float64Array, place: number): void {
    const words = this.#words
    const word = token * LINE_WORDS
    const pool = this.#pools[words[word + POOL] as number]
    if (pool === undefined) to.fill(Number.NaN, place, place + 2 * indexes.length)
    else pool.estimateAll(words[word + AT] as number, words[word + COUNT] as number, indexes, to, place)
  }

  /** Frees the states of a token and clears its line. */
  forget(token: TokenId): void {
    const line = token * LINE_DOUBLES
    if (line >= this.lines.length) return
    const word = token * LINE_WORDS
    this.#pools[this.#words[word + POOL] as number]?.free(this.#words[word + AT] as number)
    this.lines.fill(0, line, line + LINE_DOUBLES)
  }

  /** Moves the states of a token to the next pool, whose windows are larger. */
  #move(word: number, from: StatePool | undefined): StatePool {
    const words = this.#words
    const place = (words[word + POOL] as number) + 1
    const pool = this.#pools[place] as StatePool
    const at = pool.take()
    if (from !== undefined) pool.fill(at, from, words[word + AT] as number)
    words[word + POOL] = place
    words[word + AT] = at
    return pool
  }
}

/** A ring of the last values of a figure, at `place` within the states of a token. */
interface Ring {
  readonly figure: number
  readonly size: number
  readonly place: number
}

/** The states of all tokens whose windows have the same room. */
class StatePool {
  readonly room: number
  /** Whether this pool has space for windows of every length. */
  readonly isLast: boolean
  readonly #indicators: readonly StateInMemory[]
  /** Number of doubles of the states of one token. */
  readonly size: number
  /** For each indicator, the offset of its state within the states of a token. */
  readonly #places: readonly number[]
  /** For each indicator, the room of its windows or the size of its ring. */
  readonly #rooms: readonly number[]
  /** The rings, which follow the states of the indicators. */
  readonly #rings: readonly Ring[]
  /** For each indicator, the offset of its ring within the states of a token, and the length of the mean; 0 if it is no
   *  mean. */
  readonly #ringPlaces: Uint32Array
  readonly #lengths: Uint32Array
  /** The indexes of the indicators that are no means. */
  readonly #notMeans: readonly number[]
  #doubles = new Float64Array(0)
  #used = 0
  /** Freed places. */
  readonly #free: number[] = []
  readonly #staged: AddedBars = {
    length: 0,
    states: new Uint32Array(BARS_AT_ONCE),
    counts: new Uint32Array(BARS_AT_ONCE),
    bars: new Float64Array(0),
    froms: new Uint32Array(BARS_AT_ONCE),
  }

  constructor(indicators: readonly StateInMemory[], room: number, isLast: boolean) {
    this.#indicators = indicators
    this.room = room
    this.isLast = isLast
    let size = 0
    this.#places = indicators.map((indicator) => {
      size += sizeOf(indicator, room)
      return size - sizeOf(indicator, room)
    })
    this.#rings = [...Map.groupBy(indicators, ({ meanOf }) => meanOf?.figure)].flatMap(([figure, means]) => {
      if (figure === undefined) return []
      const longest = Math.max(...means.map(({ meanOf }) => meanOf?.length ?? 0))
      const ring = { figure, size: Math.min(room, 2 ** Math.ceil(Math.log2(longest))), place: size }
      size += doublesOfRing(ring.size)
      return [ring]
    })
    const ringOf = ({ meanOf }: StateInMemory) => this.#rings.find(({ figure }) => figure === meanOf?.figure)
    this.#rooms = indicators.map((indicator) => ringOf(indicator)?.size ?? room)
    this.#ringPlaces = Uint32Array.from(indicators, (indicator) => ringOf(indicator)?.place ?? 0)
    this.#lengths = Uint32Array.from(indicators, ({ meanOf }) => meanOf?.length ?? 0)
    this.#notMeans = [...indicators.keys()].filter((index) => indicators[index]?.meanOf === undefined)
    this.size = size
  }

  /** Reserves space for the states of a token, filled with zeros. Returns its offset. */
  take(): number {
    return this.#free.pop() ?? this.#grow()
  }

  #grow(): number {
    const at = this.#used
    this.#used += this.size
    if (this.#used > this.#doubles.length) {
      const grown = new Float64Array(Math.max(this.#used, 2 * this.#doubles.length))
      grown.set(this.#doubles)
      this.#doubles = grown
    }
    return at
  }

  /** Copies the states of a token from the pool `from`, whose windows are smaller, to this pool. The states begin at
   *  `fromAt` in `from`, and at `at` in this pool. */
  fill(at: number, from: StatePool, fromAt: number): void {
    let to = at
    let source = fromAt
    const copy = (size: number, next: number): void => {
      for (let place = 0; place < size; place++) this.#doubles[to + place] = from.#doubles[source + place] as number
      source += size
      to += next
    }
    for (const { numbers, windows } of this.#indicators) {
      copy(numbers, numbers)
      for (const length of windows) copy(Math.min(length, from.room), Math.min(length, this.room))
    }
    for (const [index, { place, size }] of this.#rings.entries()) {
      const smaller = from.#rings[index] as Ring
      copyRing(from.#doubles, fromAt + smaller.place, smaller.size, this.#doubles, at + place, size)
    }
    from.free(fromAt)
  }

  free(at: number): void {
    this.#doubles.fill(0, at, at + this.size)
    this.#free.push(at)
  }

  add(at: number, count: number, bars: Float64Array, from: number): void {
    const notMeans = this.#notMeans
    const doubles = this.#doubles
    for (let next = 0; next < notMeans.length; next++) {
      const index = notMeans[next] as number
      const state = at + (this.#places[index] as number)
      ;(this.#indicators[index] as StateInMemory).add(doubles, state, this.#rooms[index] as number, count, bars, from)
    }
    for (let index = 0; index < this.#rings.length; index++) {
      const { figure, size, place } = this.#rings[index] as Ring
      addToRing(doubles, at + place, size, count, figure, bars, from)
    }
  }

  /** Stores a bar, which `addStaged` adds later. */
  stage(at: number, count: number, bars: Float64Array, from: number): void {
    const staged = this.#staged
    const index = staged.length++
    staged.states[index] = at
    staged.counts[index] = count
    staged.froms[index] = from
    staged.bars = bars
    if (staged.length === BARS_AT_ONCE) this.addStaged()
  }

  addStaged(): void {
    const staged = this.#staged
    if (staged.length === 0) return
    for (const index of this.#notMeans) {
      const indicator = this.#indicators[index] as StateInMemory
      indicator.addAll(this.#doubles, this.#places[index] as number, this.#rooms[index] as number, staged)
    }
    for (let index = 0; index < this.#rings.length; index++) this.#addStagedToRing(this.#rings[index] as Ring)
    staged.length = 0
  }

  #addStagedToRing({ figure, size, place }: Ring): void {
    const { length, states, counts, bars, froms } = this.#staged
    const doubles = this.#doubles
    for (let bar = 0; bar < length; bar++) {
      const ring = (states[bar] as number) + place
      addToRing(doubles, ring, size, counts[bar] as number, figure, bars, froms[bar] as number)
    }
  }

  valueOf(index: number, at: number, count: number): unknown {
    const indicator = this.#indicators[index] as StateInMemory
    const [state, room] = [at + (this.#places[index] as number), this.#rooms[index] as number]
    return indicator.valueOf(this.#doubles, state, room, count, at + (this.#ringPlaces[index] as number))
  }

  estimateAll(at: number, count: number, indexes: readonly number[], to: Float64Array, place: number): void {
    const doubles = this.#doubles
    const lengths = this.#lengths
    const ringPlaces = this.#ringPlaces
    const rooms = this.#rooms
    for (let next = 0; next < indexes.length; next++) {
      const index = indexes[next] as number
      const length = lengths[index] as number
      const rangeAt = place + 2 * next
      if (length > 0 && length <= count)
        estimateMean(doubles, at + (ringPlaces[index] as number), rooms[index] as number, count, length, to, rangeAt)
      else to[rangeAt] = to[rangeAt + 1] = length > 0 ? Number.NaN : this.numberOf(index, at, count, 0)
    }
  }

  numberOf(index: number, at: number, count: number, field: number): number {
    const indicator = this.#indicators[index] as StateInMemory
    const [state, room] = [at + (this.#places[index] as number), this.#rooms[index] as number]
    return indicator.numberOf(this.#doubles, state, room, count, field, at + (this.#ringPlaces[index] as number))
  }
}

/** Returns the number of doubles that the states of a token take when its windows are full. */
export function statesDoubles(indicators: readonly StateInMemory[]): number {
  return new StatePool(indicators, Number.POSITIVE_INFINITY, true).size
}

/** Returns the number of doubles of one indicator's state. */
function sizeOf({ numbers, windows }: StateInMemory, room: number): number {
  return windows.reduce((size, length) => size + Math.min(length, room), numbers)
}

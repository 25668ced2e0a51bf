import { BAR_DOUBLES, CLOSED } from './bar.ts'
import type { TokenId } from './block.ts'

/** Number of bars for which a ring has room at first, and the factor by which the room grows. Most tokens have few
 *  bars. */
const LEAST_ROOM = 4
const ROOM_FACTOR = 2
/** Number of bars whose memory is taken at once. */
const SLAB_BARS = 256

/** Size of a token's state, and the offsets of its fields: number of bars so far, number of the oldest stored bar, and
 *  slab, place and room of the token's ring. Bar number n is at n modulo the room. */
const WORDS = 8
const COUNT = 0
const FIRST = 1
const SLAB = 2
const AT = 3
const ROOM = 4

/** Memory of rings with the same room. */
interface Slab {
  readonly number: number
  readonly doubles: Float64Array
  /** `used`: number of doubles given to rings so far. `free`: places of rings that were given back. */
  used: number
  readonly free: number[]
  /** Number of rings in use. */
  rings: number
}

const FREED = new Float64Array(0)

/** The last closed bars of all tokens, of one width. Each token has a ring, which is written again and again, so a bar
 *  that a strategy may keep is a copy. */
export class BarRings {
  #words = new Uint32Array(0)
  /** The memory of the slabs and, in the next field, the slabs themselves, both by slab number. A slab without a ring
   *  in use is freed. */
  readonly #memory: Float64Array[] = []
  readonly #slabs: (Slab | undefined)[] = []
  readonly #freedNumbers: number[] = []
  /** Slabs with room for a ring, by the room of the ring. */
  readonly #open = new Map<number, Slab[]>()

  /** Number of bars of a token so far. It is the number of the next bar. */
  countOf(token: TokenId): number {
    return this.#words[token * WORDS + COUNT] ?? 0
  }

  /** Number of the oldest stored bar of a token. */
  firstOf(token: TokenId): number {
    return this.#words[token * WORDS + FIRST] ?? 0
  }

  /** Memory of the bars of a token that has bars. */
  memoryOf(token: TokenId): Float64Array {
    return this.#memory[this.#words[token * WORDS + SLAB] as number] as Float64Array
  }

  /** Place of a bar in the memory of its token, by the bar's number. */
  placeOf(token: TokenId, number: number): number {
    const line = token * WORDS
    const words = this.#words
    return (words[line + AT] as number) + (number % (words[line + ROOM] as number)) * BAR_DOUBLES
  }

  /** End of the newest bar of a token; -Infinity without bars. */
  closedAt(token: TokenId): number {
    const count = this.countOf(token)
    if (count === 0) return Number.NEGATIVE_INFINITY
    return this.memoryOf(token)[this.placeOf(token, count - 1) + CLOSED] as number
  }

  /** Whether the oldest bar of a token is dropped when the next one is added. */
  drops(token: TokenId, keep: number): boolean {
    const line = token * WORDS
    const words = this.#words
    const room = words[line + ROOM] ?? 0
    return room >= keep && (words[line + COUNT] as number) - (words[line + FIRST] as number) === room
  }

  /** Adds the bar at `from` in `doubles`. Drops the oldest bar if there are `keep` bars. */
  add(token: TokenId, doubles: Float64Array, from: number, keep: number): void {
    const line = token * WORDS
    if (line >= this.#words.length) this.#grow(token)
    const words = this.#words
    const count = words[line + COUNT] as number
    if (count - (words[line + FIRST] as number) === words[line + ROOM]) {
      if ((words[line + ROOM] as number) < keep) this.#move(token, keep)
      else words[line + FIRST] = (words[line + FIRST] as number) + 1
    }
    const to = this.#memory[words[line + SLAB] as number] as Float64Array
    const at = (words[line + AT] as number) + (count % (words[line + ROOM] as number)) * BAR_DOUBLES
    copyBar(doubles, from, to, at)
    words[line + COUNT] = count + 1
  }

  /** Frees the bars of a token. */
  forget(token: TokenId): void {
    const line = token * WORDS
    if (line >= this.#words.length) return
    this.#giveBack(line)
    this.#words.fill(0, line, line + WORDS)
  }

  /** Moves the bars of a token to a ring with more room. */
  #move(token: TokenId, keep: number): void {
    const line = token * WORDS
    const words = this.#words
    const before = words[line + ROOM] as number
    const room = Math.min(keep, Math.max(LEAST_ROOM, before * ROOM_FACTOR))
    const [slab, at] = this.#take(room)
    const to = this.#memory[slab] as Float64Array
    const count = words[line + COUNT] as number
    for (let number = words[line + FIRST] as number; number < count; number++)
      copyBar(this.memoryOf(token), this.placeOf(token, number), to, at + (number % room) * BAR_DOUBLES)
    this.#giveBack(line)
    words[line + SLAB] = slab
    words[line + AT] = at
    words[line + ROOM] = room
  }

  #giveBack(line: number): void {
    const room = this.#words[line + ROOM] as number
    if (room === 0) return
    const slab = this.#slabs[this.#words[line + SLAB] as number] as Slab
    const open = this.#open.get(room) as Slab[]
    const isOpen = hasPlace(slab, room)
    slab.rings--
    slab.free.push(this.#words[line + AT] as number)
    if (slab.rings > 0) {
      if (!isOpen) open.push(slab)
      return
    }
    if (isOpen) open.splice(open.indexOf(slab), 1)
    this.#memory[slab.number] = FREED
    this.#slabs[slab.number] = undefined
    this.#freedNumbers.push(slab.number)
  }

  /** Returns slab and place of a free ring. */
  #take(room: number): [slab: number, at: number] {
    const open = this.#open.get(room) ?? []
    this.#open.set(room, open)
    if (open.length === 0) open.push(this.#newSlab(room))
    const slab = open.at(-1) as Slab
    let at = slab.free.pop()
    if (at === undefined) {
      at = slab.used
      slab.used += room * BAR_DOUBLES
    }
    slab.rings++
    if (!hasPlace(slab, room)) open.pop()
    return [slab.number, at]
  }

  #newSlab(room: number): Slab {
    const number = this.#freedNumbers.pop() ?? this.#slabs.length
    const doubles = new Float64Array(Math.max(room, SLAB_BARS - (SLAB_BARS % room)) * BAR_DOUBLES)
    const slab = { number, doubles, used: 0, free: [], rings: 0 }
    this.#slabs[number] = slab
    this.#memory[number] = doubles
    return slab
  }

  #grow(token: TokenId): void {
    const grown = new Uint32Array(Math.max(1024, 2 ** Math.ceil(Math.log2(token + 1))) * WORDS)
    grown.set(this.#words)
    this.#words = grown
  }
}

function hasPlace({ doubles, used, free }: Slab, room: number): boolean {
  return free.length > 0 || used + room * BAR_DOUBLES <= doubles.length
}

/** Copies a bar in a loop. `set` would need a typed-array view, which takes memory and more time than the copy. */
function copyBar(from: Float64Array, fromAt: number, to: Float64Array, at: number): void {
  for (let index = 0; index < BAR_DOUBLES; index++) to[at + index] = from[fromAt + index] as number
}

import type { Mints } from '../core/mints.ts'

const FREE = -1
const FIRST_SLOTS = 1 << 12
const lookups = new WeakMap<Mints, MintLookup>()

/** The numbers of the mints that a block lists, as JSON. */
export function numbersOf(mints: Mints, list: string): Uint32Array {
  // Whoever calls a mint something that needs an escape is read the slow way.
  if (list.includes('\\')) return Uint32Array.from(JSON.parse(list) as string[], (mint) => mints.intern(mint))
  const lookup = lookups.get(mints) ?? new MintLookup(mints)
  lookups.set(mints, lookup)
  return lookup.numbersOf(list)
}

/** Finds the mints of a list where they lie in it: the same ones come with every block, and a string of its own for each, hashed anew,
 *  would cost more than all else that is done with the block. Open addressing, at most half full. */
class MintLookup {
  readonly #mints: Mints
  #table = new Int32Array(FIRST_SLOTS).fill(FREE)
  #count = 0

  constructor(mints: Mints) {
    this.#mints = mints
  }

  numbersOf(list: string): Uint32Array {
    const numbers: number[] = []
    for (let at = 1; at < list.length - 1; ) {
      const end = list.indexOf('"', at + 1)
      numbers.push(this.#numberOf(list, at + 1, end))
      at = end + 2
    }
    return Uint32Array.from(numbers)
  }

  #numberOf(list: string, from: number, to: number): number {
    const { list: mints } = this.#mints
    const mask = this.#table.length - 1
    let slot = hashOf(list, from, to) & mask
    for (; this.#table[slot] !== FREE; slot = (slot + 1) & mask) {
      const number = this.#table[slot] as number
      const mint = mints[number] as string
      if (mint.length === to - from && list.startsWith(mint, from)) return number
    }
    const number = this.#mints.intern(list.slice(from, to))
    this.#table[slot] = number
    if (++this.#count * 2 > this.#table.length) this.#grow()
    return number
  }

  #grow(): void {
    const before = this.#table
    this.#table = new Int32Array(before.length * 2).fill(FREE)
    const mask = this.#table.length - 1
    for (const number of before) {
      if (number === FREE) continue
      const mint = this.#mints.list[number] as string
      let slot = hashOf(mint, 0, mint.length) & mask
      while (this.#table[slot] !== FREE) slot = (slot + 1) & mask
      this.#table[slot] = number
    }
  }
}

/** Over sixteen digits behind the first four, which are somebody's vanity as the last ones are; of a short text over all of it. */
function hashOf(text: string, from: number, to: number): number {
  let hash = to - from
  const start = hash > 20 ? from + 4 : from
  const end = Math.min(to, start + 16)
  for (let at = start; at < end; at++) hash = Math.imul(hash, 31) + text.charCodeAt(at)
  hash = Math.imul(hash ^ (hash >>> 15), 0x9e3779b1)
  return hash ^ (hash >>> 15)
}

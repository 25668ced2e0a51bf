/** A seeded generator. It is the only source of randomness in the pure layers of `src/`, in `simulation/`,
 *  in `sandbox/` and in `strategies/`. */
export interface Random {
  /** Returns a number that is uniform in [0, 1). */
  next(): number
  /** Returns an integer that is uniform in [0, below). */
  integer(below: number): number
}

/** Returns the generator mulberry32 (Tommy Ettinger, public domain). It has 32 bits of state and yields the same
 *  sequence on every machine. It must not be used for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return { next, integer: (below) => Math.floor(next() * below) }
}

/** Derives a seed from a seed and a name (FNV-1a), so that each bot has random numbers of its own, which do not change
 *  when another bot is added. */
export function deriveSeed(seed: number, name: string): number {
  let hash = (2_166_136_261 ^ seed) >>> 0
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 16_777_619) >>> 0
  return hash
}

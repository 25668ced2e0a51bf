import { figureAt } from './indicator.ts'

// A ring contains the last values of one figure of a token, and sums of these values. Its size is a power of two. The
// value of bar number n is at the index `n & (size - 1)`. A cycle is a series of `size` bars that begins at index 0.
//
// With the sums, the sum of any window of last values is one subtraction, so averages of all lengths can share a ring.
// A sum begins again at 0 in each cycle, because its rounding errors would otherwise grow without limit.

/** Offsets of the numbers in a ring. NOW: the sum of the values of this cycle. BEFORE: the same at the end of the
 *  previous cycle. For each value, the sum of the values before it follows, counted from the beginning of this cycle;
 *  it is negative for a value of the previous cycle. The values come last, because an estimate does not need them. */
const NOW = 0
const BEFORE = 1
const NUMBERS = 2

/** Largest relative error of one addition of doubles. */
const ROUNDING = 2 ** -53

/** Number of doubles of a ring. */
export function doublesOfRing(size: number): number {
  return NUMBERS + 2 * size
}

/** Adds a figure of bar number `count` to a ring. The bar begins at `bars[from]`. */
export function addToRing(
  memory: Float64Array,
  ring: number,
  size: number,
  count: number,
  figure: number,
  bars: Float64Array,
  from: number,
): void {
  const index = count & (size - 1)
  if (index === 0) beginCycle(memory, ring, size)
  const sum = memory[ring + NOW] as number
  const value = ring + NUMBERS + size + index
  memory[value] = figureAt(bars, from, figure)
  memory[value - size] = sum
  memory[ring + NOW] = sum + (memory[value] as number)
}

function beginCycle(memory: Float64Array, ring: number, size: number): void {
  const before = memory[ring + NOW] as number
  const sums = ring + NUMBERS
  for (let at = sums; at < sums + size; at++) memory[at] = (memory[at] as number) - before
  memory[ring + BEFORE] = before
  memory[ring + NOW] = 0
}

/** Returns the value of a bar, which must be one of the last `size` bars. */
export function valueInRing(memory: Float64Array, ring: number, size: number, bar: number): number {
  return memory[ring + NUMBERS + size + (bar & (size - 1))] as number
}

/** Writes the lowest and the highest possible mean of the last `length` values to `to[place]` and `to[place + 1]`. The
 *  mean is the one that results from adding the values one by one. `count`: number of bars; at least `length`, which is
 *  at most `size`. The values must not be negative.
 *
 *  At most 3 * `size` + 4 roundings separate the estimate from the mean. Each is at most `ROUNDING` times the sum of
 *  the values of both cycles. `error` is at least four times their total, because 4 * (3 * `size` + 4) <= 28 * `size`.
 */
export function estimateMean(
  memory: Float64Array,
  ring: number,
  size: number,
  count: number,
  length: number,
  to: Float64Array,
  place: number,
): void {
  const now = memory[ring + NOW] as number
  const both = now + (memory[ring + BEFORE] as number)
  const sum = now - (memory[ring + NUMBERS + ((count - length) & (size - 1))] as number)
  const error = both * (28 * size * ROUNDING)
  const factor = 1 / length
  to[place] = (sum - error) * factor
  to[place + 1] = (sum + error) * factor
}

/** Copies a ring of `size` values to a ring of `largerSize` values. If the sizes differ, the ring must contain no more
 *  than its first `size` bars. */
export function copyRing(
  from: Float64Array,
  ring: number,
  size: number,
  to: Float64Array,
  larger: number,
  largerSize: number,
): void {
  to[larger + NOW] = from[ring + NOW] as number
  to[larger + BEFORE] = from[ring + BEFORE] as number
  for (let sum = NUMBERS; sum < NUMBERS + size; sum++) {
    to[larger + sum] = from[ring + sum] as number
    to[larger + largerSize + sum] = from[ring + size + sum] as number
  }
}

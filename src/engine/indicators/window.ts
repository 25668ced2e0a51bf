// These functions read windows of last values. A window is a ring of `length` values in the state of an indicator; it
// begins at `at` and must be full.

export function sumOf(memory: Float64Array, at: number, length: number): number {
  let sum = 0
  for (let index = at; index < at + length; index++) sum += memory[index] as number
  return sum
}

export function meanOf(memory: Float64Array, at: number, length: number): number {
  return sumOf(memory, at, length) / length
}

/** Returns the standard deviation of the values as a population (divided by `length`, not by `length` - 1). */
export function deviationOf(memory: Float64Array, at: number, length: number, mean: number): number {
  let squares = 0
  for (let index = at; index < at + length; index++) {
    const distance = (memory[index] as number) - mean
    squares += distance * distance
  }
  return Math.sqrt(squares / length)
}

export function highestOf(memory: Float64Array, at: number, length: number): number {
  let highest = Number.NEGATIVE_INFINITY
  for (let index = at; index < at + length; index++) highest = Math.max(highest, memory[index] as number)
  return highest
}

export function lowestOf(memory: Float64Array, at: number, length: number): number {
  let lowest = Number.POSITIVE_INFINITY
  for (let index = at; index < at + length; index++) lowest = Math.min(lowest, memory[index] as number)
  return lowest
}

/** Returns the mean with weight 1 for the oldest value, 2 for the next, and so on. `oldest`: index of the oldest value
 *  in the ring. */
export function weightedMeanOf(memory: Float64Array, at: number, length: number, oldest: number): number {
  let sum = 0
  for (let index = 0; index < length; index++) sum += (memory[at + ((oldest + index) % length)] as number) * (index + 1)
  return sum / ((length * (length + 1)) / 2)
}

// Functions over windows of last values. A window is a ring in the memory of a state, which begins at `at`. The
// functions read a full ring of `length` values.

export function sumOf(memory: Float64Array, at: number, length: number): number {
  let sum = 0
  for (let index = at; index < at + length; index++) sum += memory[index] as number
  return sum
}

export function meanOf(memory: Float64Array, at: number, length: number): number {
  return sumOf(memory, at, length) / length
}

/** Standard deviation of the values as a whole population, not of a sample. */
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

/** Mean with the weights 1 for the oldest value, 2 for the next, and so on. `oldest`: index of the oldest value in the
 *  ring. */
export function weightedMeanOf(memory: Float64Array, at: number, length: number, oldest: number): number {
  let sum = 0
  for (let index = 0; index < length; index++) sum += (memory[at + ((oldest + index) % length)] as number) * (index + 1)
  return sum / ((length * (length + 1)) / 2)
}

/** The last values of a series, in a ring. It grows with its values, because most tokens have few bars. */
export class LastValues {
  readonly #most: number
  readonly #values: number[] = []
  /** Place of the oldest value once the ring is full. */
  #oldest = 0

  constructor(most: number) {
    this.#most = most
  }

  get isFull(): boolean {
    return this.#values.length === this.#most
  }

  add(value: number): void {
    if (!this.isFull) {
      this.#values.push(value)
      return
    }
    this.#values[this.#oldest] = value
    this.#oldest = this.#oldest + 1 === this.#most ? 0 : this.#oldest + 1
  }

  /** The oldest value; undefined without values. */
  get oldest(): number | undefined {
    return this.#values[this.#oldest]
  }

  get sum(): number {
    let sum = 0
    for (let index = 0; index < this.#values.length; index++) sum += this.#values[index] as number
    return sum
  }

  get mean(): number {
    return this.sum / this.#values.length
  }

  /** Standard deviation of all values (not of a sample). */
  get deviation(): number {
    const { mean } = this
    let squares = 0
    for (let index = 0; index < this.#values.length; index++) squares += ((this.#values[index] as number) - mean) ** 2
    return Math.sqrt(squares / this.#values.length)
  }

  get highest(): number {
    let highest = Number.NEGATIVE_INFINITY
    for (let index = 0; index < this.#values.length; index++) highest = Math.max(highest, this.#values[index] as number)
    return highest
  }

  get lowest(): number {
    let lowest = Number.POSITIVE_INFINITY
    for (let index = 0; index < this.#values.length; index++) lowest = Math.min(lowest, this.#values[index] as number)
    return lowest
  }

  /** Mean with the weights 1 for the oldest value, 2 for the next, and so on. */
  get weightedMean(): number {
    const { length } = this.#values
    let sum = 0
    for (let index = 0; index < length; index++)
      sum += (this.#values[(this.#oldest + index) % length] as number) * (index + 1)
    return sum / ((length * (length + 1)) / 2)
  }
}

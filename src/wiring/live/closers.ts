/** What was opened and has to be closed again, the last first. */
export class Closers {
  #steps: (() => unknown)[] = []

  readonly add = (close: () => unknown): void => {
    this.#steps.push(close)
  }

  /** Closes this one now. */
  async take(close: () => unknown): Promise<void> {
    this.#steps = this.#steps.filter((step) => step !== close)
    await close()
  }

  async closeAll(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) await step()
  }
}

/** Whose handler runs now. */
export class Activity {
  /** An index into the bots of the start; -1 for none. */
  running = -1
  readonly #cells: Int32Array | undefined

  /** `cells`: where a watchdog in another thread sees who it is, and a count that goes up with every handler. */
  constructor(cells?: Int32Array) {
    this.#cells = cells?.fill(-1, 0, 1)
  }

  /** A handler of this bot begins; who ran up to now, for `leave`. One within another is part of it, and not counted. */
  enter(bot: number): number {
    const before = this.running
    this.running = bot
    const cells = this.#cells
    if (cells !== undefined) {
      cells[0] = bot
      if (before < 0) cells[1] = (cells[1] as number) + 1
    }
    return before
  }

  leave(before: number): void {
    this.running = before
    if (this.#cells !== undefined) this.#cells[0] = before
  }
}

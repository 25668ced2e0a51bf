// Which keys are wanted, and which are confirmed, changes by one or two with every position and every mint that somebody watches. In full
// each time, these lists were more than the tape, and nothing drops them: so a row says what is another than in the row before.

/** Then a row has the whole list again, so that nobody has to go back further. */
const ROWS_BETWEEN = 64

/** What is another than in the row before. */
export interface KeyChange {
  readonly dropped: readonly string[]
  readonly added: readonly string[]
}

/** From one list to the next: those of it that stay come first, in their order. */
function changeOf(before: readonly string[], now: readonly string[]): KeyChange {
  let stays = 0
  const dropped = before.filter((key) => {
    if (key !== now[stays]) return true
    stays++
    return false
  })
  return { dropped, added: now.slice(stays) }
}

export function changedKeys(before: readonly string[], { dropped, added }: KeyChange): readonly string[] {
  const gone = new Set(dropped)
  return [...before.filter((key) => !gone.has(key)), ...added]
}

/** One list, as row after row writes it down. */
export class WrittenKeys {
  #last: readonly string[] = []
  /** Rows until the next with the whole list. */
  #left = 0

  /** Nothing is known of the rows before. */
  restart(): void {
    this.#left = 0
  }

  /** What has changed; undefined: all of it is to be written. */
  next(now: readonly string[]): KeyChange | undefined {
    const change = this.#left-- > 0 ? changeOf(this.#last, now) : undefined
    this.#last = now
    if (change !== undefined && change.dropped.length + change.added.length < now.length) return change
    this.#left = ROWS_BETWEEN
    return undefined
  }
}

import { decodeJson, encodeJson } from '../../base/json.ts'
import type { FeedStatus, Input, Output } from '../../engine/messages.ts'

/** The JSON of inputs and outputs, in the order in which they are written. */
export class RowWriter {
  readonly #confirmed = new WrittenKeys()
  readonly #wanted = new WrittenKeys()

  input(input: Input): string {
    if (input.kind === 'start') {
      this.#confirmed.restart()
      this.#wanted.restart()
    }
    const change = input.kind === 'feed' ? this.#confirmed.next(input.confirmed) : undefined
    if (input.kind !== 'feed' || change === undefined) return encodeJson(input)
    return encodeJson({ kind: input.kind, status: input.status, ...change })
  }

  output(output: Output): string {
    const change = output.kind === 'keys' ? this.#wanted.next(output.want) : undefined
    return encodeJson(change === undefined ? output : { kind: output.kind, ...change })
  }
}

type FeedRow = Extract<Input, { kind: 'feed' }> | ({ kind: 'feed'; status: FeedStatus } & KeyChange)
type KeysRow = Extract<Output, { kind: 'keys' }> | ({ kind: 'keys' } & KeyChange)

/** Inputs and outputs from their JSON, in the order in which they were written, from the start of a segment on or from
 *  a row with a whole list on. */
export class RowReader {
  #confirmed: readonly string[] = []
  #wanted: readonly string[] = []

  input<T extends Input>(json: string): T {
    const row = decodeJson<T>(json)
    if (row.kind !== 'feed') return row
    const feed = row as FeedRow
    this.#confirmed = 'confirmed' in feed ? feed.confirmed : changedKeys(this.#confirmed, feed)
    return { kind: feed.kind, status: feed.status, confirmed: this.#confirmed } as T
  }

  output(json: string): Output {
    const row = decodeJson<Output>(json)
    if (row.kind !== 'keys') return row
    const keys = row as KeysRow
    this.#wanted = 'want' in keys ? keys.want : changedKeys(this.#wanted, keys)
    return { kind: keys.kind, want: this.#wanted }
  }
}

// Which keys are wanted, and which are confirmed, changes by one or two with every position and every mint that
// somebody watches. In full each time, these lists were more than the tape, and nothing drops them: so a row says what
// is another than in the row before.
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

function changedKeys(before: readonly string[], { dropped, added }: KeyChange): readonly string[] {
  const gone = new Set(dropped)
  return [...before.filter((key) => !gone.has(key)), ...added]
}

/** One list, as row after row writes it down. */
class WrittenKeys {
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

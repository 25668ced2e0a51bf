import { decodeJson, encodeJson } from '../../base/json.ts'
import type { FeedStatus, Input, Output } from '../../engine/messages.ts'

/** Encodes inputs and outputs as JSON, in the order of writing. */
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

/** Parses inputs and outputs in the order of writing. Reading must begin at the start of a segment, or at a row with a
 *  complete list. */
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

// Each position and each watched mint changes the lists of wanted and confirmed subscription keys by one or two keys.
// Complete lists in each row would take more space than the tape, and unlike the tape these rows are never dropped. A
// row therefore contains only the change since the previous row.
/** Number of rows between two complete lists. A reader must go back at most this many rows. */
const ROWS_BETWEEN = 64

/** Change of a list of keys since the previous row. */
export interface KeyChange {
  readonly dropped: readonly string[]
  readonly added: readonly string[]
}

/** Returns the change from one list to the next. A key whose order changed is both dropped and added. */
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

/** State of one list of subscription keys while its rows are written. */
class WrittenKeys {
  #last: readonly string[] = []
  /** Number of rows that may still be written before a row must contain the complete list. Until then, a row may
   *  contain only the change. */
  #left = 0

  /** Makes the next row contain the complete list, because the earlier rows are unknown. */
  restart(): void {
    this.#left = 0
  }

  /** Returns the change to write; undefined if the complete list must be written. */
  next(now: readonly string[]): KeyChange | undefined {
    const change = this.#left-- > 0 ? changeOf(this.#last, now) : undefined
    this.#last = now
    if (change !== undefined && change.dropped.length + change.added.length < now.length) return change
    this.#left = ROWS_BETWEEN
    return undefined
  }
}

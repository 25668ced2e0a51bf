import { decodeJson, encodeJson } from '../core/json.ts'
import type { FeedStatus, Input, Output } from '../core/messages.ts'
import { changedKeys, type KeyChange, WrittenKeys } from './key-change.ts'

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

/** Inputs and outputs from their JSON, in the order in which they were written, from the start of a segment on or from a row with a whole
 *  list on. */
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

import type { Market } from './reader.ts'
import { chunksOf, type TapeChunk } from './shared-tape.ts'

/** What a whole tape may take to be kept, bytes: about a million rows. A longer one is read and decoded anew for every pass, so that the
 *  memory does not grow with it. */
const MOST_KEPT = 48 * 2 ** 20

/** A tape that is gone through several times, in chunks that other threads may see: a short one is decoded once. */
export class DecodedTape {
  readonly #market: Pick<Market, 'items'>
  readonly #mostKept: number
  #kept: TapeChunk[] | undefined

  constructor(market: Pick<Market, 'items'>, mostKept = MOST_KEPT) {
    this.#market = market
    this.#mostKept = mostKept
  }

  *chunks(): Generator<TapeChunk, void, undefined> {
    if (this.#kept !== undefined) yield* this.#kept
    else yield* this.#decoded()
  }

  *#decoded(): Generator<TapeChunk, void, undefined> {
    let kept: TapeChunk[] | undefined = []
    let bytes = 0
    for (const chunk of chunksOf(this.#market)) {
      bytes += chunk.buffer.byteLength
      if (bytes > this.#mostKept) kept = undefined
      kept?.push(chunk)
      yield chunk
    }
    this.#kept = kept
  }
}

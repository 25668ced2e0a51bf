import type { FeedStatus } from '../core/messages.ts'
import type { Sink } from '../core/ports.ts'
import type { Millis } from '../core/units.ts'

/** What the engine and the tape are told of the feed: whether rows can be relied on, for which keys, and since when they could not. */
export class Coverage {
  #sink: Sink | undefined
  /** null while live. */
  #gapFrom: Millis | null = null
  /** What was posted last; an engine takes a feed for down until it hears otherwise. */
  #posted = 'down'

  start(sink: Sink, now: Millis): void {
    this.#sink = sink
    this.#gapFrom = now
  }

  /** From `lastHeard` on nothing can be relied on. */
  openGap(lastHeard: Millis): void {
    this.#gapFrom ??= lastHeard
  }

  closeGap(to: Millis, keys: readonly string[]): void {
    if (this.#gapFrom !== null && keys.length > 0) this.#sink?.post({ kind: 'gap', from: this.#gapFrom, to, keys })
    this.#gapFrom = null
  }

  /** Posts what changed; nothing where nothing did. */
  report(status: FeedStatus, confirmed: readonly string[]): void {
    const posted = [status, ...confirmed].join(' ')
    if (posted === this.#posted) return
    this.#posted = posted
    this.#sink?.post({ kind: 'feed', status, confirmed })
  }
}

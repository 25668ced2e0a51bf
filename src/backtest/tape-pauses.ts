import type { Millis } from '../base/units.ts'
import { FIREHOSES } from '../engine/bots/subscription-router.ts'
import type { FeedNews, MarketItem } from '../journal/tape/market-tape.ts'

type Gap = Extract<FeedNews, { kind: 'gap' }>

/** Turns the pauses between the recorded parts of a tape (stretches) into events of the feed: at the end of a part the
 *  feed goes down, and the pause is a gap. */
export class Pauses {
  #endedAt: Millis | undefined

  /** Processes an item of the tape, in order. Returns the event that the item causes; undefined if there is none. */
  take(item: MarketItem): { readonly time: Millis; readonly news: FeedNews } | undefined {
    if (item.kind === 'ended') {
      this.#endedAt = item.stretch.to
      return { time: this.#endedAt, news: { kind: 'feed', status: 'down', confirmed: [] } }
    }
    if (item.kind !== 'began' || this.#endedAt === undefined) return undefined
    const { from: to } = item.stretch
    return { time: to, news: { kind: 'gap', from: this.#endedAt, to, keys: FIREHOSES } }
  }
}

/** Returns the gap. If it is a gap in the trades of all tokens, it also names the tokens that bots watch, because a bot
 *  that watches single tokens is notified only of gaps in its own keys. `wanted`: current subscription keys. */
export function withWatched({ keys, ...gap }: Gap, wanted: readonly string[]): Gap {
  const mints = wanted.filter((key) => !FIREHOSES.includes(key))
  return { ...gap, keys: keys.includes('trades') ? [...new Set([...keys, ...mints])] : keys }
}

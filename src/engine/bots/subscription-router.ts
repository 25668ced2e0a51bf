import { type Block, eventOf, type MarketEvent, RowKind, Trade } from '../../market/block.ts'
import { type ByToken, type Mints, setByToken } from '../../market/mints.ts'

/** Rows to look ahead; 4 and 16 were measured to take a tenth longer. */
const ROWS_AHEAD = 8

/** A bot that is shown market rows. */
export interface Subscriber {
  /** Whether its strategy keeps state for each token. */
  readonly keepsState: boolean
  /** Whether it has state for this token. Reads the state, which brings it into the processor's cache. */
  knows(token: number): boolean
  row(kind: RowKind, event: MarketEvent, token: number): void
}

/** Shows each market row to the bots whose own subscription keys cover it. */
export class SubscriptionRouter {
  readonly #mints: Mints
  /** Subscribers of every trade, every new token, every price update, by kind of row. */
  readonly #firehoses: Record<RowKind, Subscriber[]> = { 0: [], 1: [], 2: [], 3: [] }
  /** Subscribers of single tokens. */
  readonly #watchers: ByToken<Subscriber[]> = []
  #keepsState = false
  /** Number of subscribers with state for the rows of the last `lookAhead`. Only written: the optimizer would remove
   *  reads whose result is unused. */
  known = 0

  constructor(mints: Mints) {
    this.#mints = mints
  }

  /** `key`: `trades`, `newTokens`, `priceUpdates`, or a mint. */
  subscribe(subscriber: Subscriber, key: string): void {
    this.#keepsState ||= subscriber.keepsState
    if (key === 'trades') {
      this.#firehoses[RowKind.buy].push(subscriber)
      this.#firehoses[RowKind.sell].push(subscriber)
    } else if (key === 'newTokens') this.#firehoses[RowKind.newToken].push(subscriber)
    else if (key === 'priceUpdates') this.#firehoses[RowKind.priceUpdate].push(subscriber)
    else this.watch(subscriber, this.#mints.intern(key), true)
  }

  /** Prefetches the state that bots keep for the tokens of the next rows. Each read may miss the cache; when read
   *  together, the misses overlap. Returns the row at which to look ahead again. */
  lookAhead({ kind, token }: Block, from: number, to: number): number {
    if (!this.#keepsState) return to
    const end = from + ROWS_AHEAD < to ? from + ROWS_AHEAD : to
    let known = 0
    for (let row = from; row < end; row++) {
      const all = this.#firehoses[kind[row] as RowKind]
      for (let index = 0; index < all.length; index++)
        if ((all[index] as Subscriber).knows(token[row] as number)) known++
    }
    this.known = known
    return end
  }

  /** Shows the rows of one token to a subscriber, or no longer. Replaces the list of watchers, which `show` may be
   *  iterating. */
  watch(subscriber: Subscriber, token: number, on: boolean): void {
    const others = this.#watchers[token]?.filter((other) => other !== subscriber) ?? []
    const left = on ? [...others, subscriber] : others
    setByToken(this.#watchers, token, left.length === 0 ? undefined : left)
  }

  watches(token: number): boolean {
    return this.#watchers[token] !== undefined
  }

  /** All subscribers share one event, which is immutable. */
  show(block: Block, row: number, kind: RowKind, token: number): void {
    const all = this.#firehoses[kind]
    const watchers = this.#watchers[token]
    if (all.length === 0 && watchers === undefined) return
    // Most rows are trades: with a single subscriber, escape analysis removes this allocation.
    const event = kind <= RowKind.sell ? new Trade(block, row) : eventOf(block, row)
    for (let index = 0; index < all.length; index++) (all[index] as Subscriber).row(kind, event, token)
    if (watchers === undefined) return
    for (const watcher of watchers) if (!all.includes(watcher)) watcher.row(kind, event, token)
  }
}

import { type Block, eventOf, type MarketEvent, RowKind, Trade } from '../../market/block.ts'
import { type ByToken, type Mints, setByToken } from '../../market/mints.ts'
import type { QuietTokens } from './quiet-tokens.ts'
import type { ViewTable } from './view-table.ts'

/** Subscription keys that cover the rows of all tokens. */
export const FIREHOSES: readonly string[] = ['trades', 'newTokens', 'priceUpdates']

/** A bot that receives market rows. */
export interface Subscriber {
  /** Whether the subscriber's strategy keeps state for each token. */
  readonly keepsState: boolean
  trade(trade: Trade, token: number): void
  /** Takes a row that is not a trade. */
  row(kind: RowKind, event: MarketEvent, token: number): void
  /** Whether the subscriber has a handler of trades. */
  readonly handlesTrades: boolean
  /** Whether the subscriber has seen the token on this UTC day. If so, a further trade of the token changes nothing for
   *  a subscriber without a handler of trades. */
  hasSeen(token: number): boolean
}

/** Passes each market row to the bots whose own subscription keys cover it. */
export class SubscriptionRouter {
  readonly #mints: Mints
  readonly #quiet: QuietTokens
  readonly #table: ViewTable
  /** Subscribers of all trades, all new tokens or all price updates, by kind of row. */
  readonly #firehoses: Record<RowKind, Subscriber[]> = { 0: [], 1: [], 2: [], 3: [] }
  /** Subscribers of single tokens, by token. */
  readonly #watchers: ByToken<Subscriber[]> = []
  /** Whether a subscriber of all trades keeps state for each token. */
  #keepsState = false

  constructor(mints: Mints, quiet: QuietTokens, table: ViewTable) {
    this.#mints = mints
    this.#quiet = quiet
    this.#table = table
  }

  /** Subscribes to a key: `trades`, `newTokens`, `priceUpdates`, or a mint. */
  subscribe(subscriber: Subscriber, key: string): void {
    this.#quiet.clear()
    if (key === 'trades') {
      this.#keepsState ||= subscriber.keepsState
      this.#firehoses[RowKind.buy].push(subscriber)
      this.#firehoses[RowKind.sell].push(subscriber)
    } else if (key === 'newTokens') this.#firehoses[RowKind.newToken].push(subscriber)
    else if (key === 'priceUpdates') this.#firehoses[RowKind.priceUpdate].push(subscriber)
    else this.watch(subscriber, this.#mints.intern(key), true)
  }

  /** Loads the state that bots keep for the tokens of the next rows into the processor's cache. */
  lookAhead(block: Block, from: number, to: number): void {
    if (this.#keepsState) this.#table.lookAhead(block, from, to)
  }

  /** Starts or stops passing the rows of one token to a subscriber. Replaces the list of watchers instead of changing
   *  it, because `show` may be iterating over it. */
  watch(subscriber: Subscriber, token: number, on: boolean): void {
    this.#quiet.remove(token)
    const others = this.#watchers[token]?.filter((other) => other !== subscriber) ?? []
    const left = on ? [...others, subscriber] : others
    setByToken(this.#watchers, token, left.length === 0 ? undefined : left)
  }

  watches(token: number): boolean {
    return this.#watchers[token] !== undefined
  }

  /** Whether a subscriber of all trades has a handler of trades. */
  get showsTrades(): boolean {
    const all = this.#firehoses[RowKind.buy]
    for (let index = 0; index < all.length; index++) if ((all[index] as Subscriber).handlesTrades) return true
    return false
  }

  /** Whether a trade of the token changes nothing for the subscribers: no bot watches the token, and all subscribers of
   *  all trades have seen it on this day. Valid only while `showsTrades` is false. */
  isSeen(token: number): boolean {
    if (this.#watchers[token] !== undefined) return false
    const all = this.#firehoses[RowKind.buy]
    for (let index = 0; index < all.length; index++) if (!(all[index] as Subscriber).hasSeen(token)) return false
    return true
  }

  /** Passes a row that is not a trade to its subscribers. */
  show(block: Block, row: number, kind: RowKind, token: number): void {
    const all = this.#firehoses[kind]
    const watchers = this.#watchers[token]
    if (all.length === 0 && watchers === undefined) return
    const event = eventOf(block, row)
    for (const subscriber of all) subscriber.row(kind, event, token)
    if (watchers === undefined) return
    for (const watcher of watchers) if (!all.includes(watcher)) watcher.row(kind, event, token)
  }

  /** Passes a trade to its subscribers. All of them get the same object, which is immutable. Most rows are trades. With
   *  one subscriber whose handler is small, V8 compiles this method and the handler as one function, which needs no
   *  memory for the object. */
  showTrade(block: Block, row: number, token: number): void {
    const all = this.#firehoses[RowKind.buy]
    const watchers = this.#watchers[token]
    if (all.length === 0 && watchers === undefined) return
    if (!this.showsTrades && this.isSeen(token)) return
    const trade = new Trade(block, row)
    for (let index = 0; index < all.length; index++) (all[index] as Subscriber).trade(trade, token)
    if (watchers !== undefined) showOthers(trade, token, all, watchers)
  }
}

/** Passes a trade to the watchers of its token that do not subscribe to all trades. */
function showOthers(trade: Trade, token: number, all: readonly Subscriber[], watchers: readonly Subscriber[]): void {
  for (const watcher of watchers) if (!all.includes(watcher)) watcher.trade(trade, token)
}

import { type Block, eventOf, type MarketEvent, RowKind, Trade } from './block.ts'
import { type ByToken, setByToken } from './by-token.ts'
import type { Mints } from './mints.ts'
import type { Trader } from './trader.ts'

/** Who is shown which market rows: a row reaches a bot if one of its own keys covers it. */
export class Audience {
  readonly #mints: Mints
  /** Who is shown every trade, every new token, every price update. */
  readonly #firehoses: Record<RowKind, Trader[]> = { 0: [], 1: [], 2: [], 3: [] }
  /** Who watches a token beside that. */
  readonly #watchers: ByToken<Trader[]> = []
  /** How many kept something of the last token: nobody asks, but what nobody uses is not looked at either. */
  known = 0

  constructor(mints: Mints) {
    this.#mints = mints
  }

  /** `trades`, `newTokens`, `priceUpdates`, or a mint. */
  subscribe(trader: Trader, key: string): void {
    if (key === 'trades') {
      this.#firehoses[RowKind.buy].push(trader)
      this.#firehoses[RowKind.sell].push(trader)
    } else if (key === 'newTokens') this.#firehoses[RowKind.newToken].push(trader)
    else if (key === 'priceUpdates') this.#firehoses[RowKind.priceUpdate].push(trader)
    else this.watch(trader, this.#mints.intern(key), true)
  }

  /** Shows a trader the rows of one token, or no longer. Lists are replaced, not changed: one may be being gone through. */
  watch(trader: Trader, token: number, on: boolean): void {
    const others = this.#watchers[token]?.filter((other) => other !== trader) ?? []
    const left = on ? [...others, trader] : others
    setByToken(this.#watchers, token, left.length === 0 ? undefined : left)
  }

  watches(token: number): boolean {
    return this.#watchers[token] !== undefined
  }

  /** One event for all of them: it cannot be changed. */
  show(block: Block, row: number, kind: RowKind, token: number): void {
    const all = this.#firehoses[kind]
    const watchers = this.#watchers[token]
    if (all.length === 0 && watchers === undefined) return
    // Most rows are trades: where one bot looks at one, it need not be made at all.
    const event = kind <= RowKind.sell ? new Trade(block, row) : eventOf(block, row)
    if (all.length === 1) (all[0] as Trader).row(kind, event, token)
    else this.#showAll(all, kind, event, token)
    if (watchers === undefined) return
    for (const trader of watchers) if (!all.includes(trader)) trader.row(kind, event, token)
  }

  /** What each of many bots keeps of a token lies somewhere else in memory, and the processor would wait for it once a bot: looked at together
   *  beforehand, all of it comes while it waits once. */
  #showAll(all: readonly Trader[], kind: RowKind, event: MarketEvent, token: number): void {
    let known = 0
    for (let index = 0; index < all.length; index++) if ((all[index] as Trader).knows(token)) known++
    this.known = known
    for (let index = 0; index < all.length; index++) (all[index] as Trader).row(kind, event, token)
  }
}

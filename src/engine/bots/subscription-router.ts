import { type Block, eventOf, RowKind, Trade } from '../../market/block.ts'
import type { Mints } from '../../market/mints.ts'
import { type ByToken, setByToken } from '../../market/mints.ts'
import type { StrategyRunner } from './strategy-runner.ts'

/** Rows that are looked ahead: with 4 and with 16 of them they took a tenth longer. */
const ROWS_AHEAD = 8

/** Who is shown which market rows: a row reaches a bot if one of its own keys covers it. */
export class SubscriptionRouter {
  readonly #mints: Mints
  /** Who is shown every trade, every new token, every price update. */
  readonly #firehoses: Record<RowKind, StrategyRunner[]> = { 0: [], 1: [], 2: [], 3: [] }
  /** Who watches a token beside that. */
  readonly #watchers: ByToken<StrategyRunner[]> = []
  /** Whether a bot keeps something of tokens. */
  #keeps = false
  /** How many found something kept, of the last rows: nobody asks, but what nobody uses is not looked at either. */
  known = 0

  constructor(mints: Mints) {
    this.#mints = mints
  }

  /** `trades`, `newTokens`, `priceUpdates`, or a mint. */
  subscribe(trader: StrategyRunner, key: string): void {
    this.#keeps ||= trader.keepsState
    if (key === 'trades') {
      this.#firehoses[RowKind.buy].push(trader)
      this.#firehoses[RowKind.sell].push(trader)
    } else if (key === 'newTokens') this.#firehoses[RowKind.newToken].push(trader)
    else if (key === 'priceUpdates') this.#firehoses[RowKind.priceUpdate].push(trader)
    else this.watch(trader, this.#mints.intern(key), true)
  }

  /** What each bot keeps of a token lies somewhere in memory, and the processor would wait for it once a row and bot:
   *  looked at for the next rows together, all of it comes while it waits once. Where to look ahead from again. */
  lookAhead({ kind, token }: Block, from: number, to: number): number {
    if (!this.#keeps) return to
    const end = from + ROWS_AHEAD < to ? from + ROWS_AHEAD : to
    let known = 0
    for (let row = from; row < end; row++) {
      const all = this.#firehoses[kind[row] as RowKind]
      for (let index = 0; index < all.length; index++)
        if ((all[index] as StrategyRunner).knows(token[row] as number)) known++
    }
    this.known = known
    return end
  }

  /** Shows a trader the rows of one token, or no longer. Lists are replaced, not changed: one may be being gone
   *  through. */
  watch(trader: StrategyRunner, token: number, on: boolean): void {
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
    for (let index = 0; index < all.length; index++) (all[index] as StrategyRunner).row(kind, event, token)
    if (watchers === undefined) return
    for (const trader of watchers) if (!all.includes(trader)) trader.row(kind, event, token)
  }
}

import type { Liquidation } from '../accounting/liquidation.ts'
import type { TokenBars } from '../bars/token-bars.ts'
import type { EngineState } from '../engine-state.ts'
import type { ConditionalBook } from '../exits/conditional-book.ts'
import type { Exits } from '../exits/exit-execution.ts'
import type { BotResults } from '../limits/result-figures.ts'
import type { Client, OrderFactory } from '../order-factory.ts'
import type { DurableStates } from './durable-states.ts'
import type { SubscriptionRouter } from './subscription-router.ts'
import type { ViewTable } from './view-table.ts'
import type { TokenView } from './views.ts'

/** The parts of the engine that a bot uses. */
export interface BotContext {
  /** Index of this bot in the list of bots of the `start` input. */
  readonly index: number
  readonly state: EngineState
  readonly factory: OrderFactory
  readonly results: BotResults
  readonly liquidation: Liquidation
  readonly exits: Exits
  readonly conditionals: ConditionalBook
  readonly router: SubscriptionRouter
  readonly bars: TokenBars
  readonly table: ViewTable
}

/** The part of a strategy's runner that the strategy's handle (`BotHandle`) calls. */
export interface BotHost extends Client {
  /** Subscription keys of the bot: `trades`, `newTokens`, `priceUpdates` and mints. They decide which rows reach the
   *  bot. */
  readonly keys: Set<string>
  /** Whether `start` of the strategy is running. */
  readonly starting: boolean
  /** Values of `token.durable`. */
  readonly durable: DurableStates
  viewOf(token: number): TokenView
  /** The views of tokens that are not freed, in the order in which the bot first saw them. */
  viewsInOrder(): ReadonlySet<TokenView>
  /** Updates the position in the view of a token, after the position opened or closed. Returns the view. */
  refresh(mint: string): TokenView
  /** Starts or stops passing the rows of one token to this bot. */
  watchToken(token: number, on: boolean): void
}

import { Liquidation } from './accounting/liquidation.ts'
import { TokenBars } from './bars/token-bars.ts'
import type { BotContext } from './bots/bot-context.ts'
import { Bots, moneyIn, strategyOf } from './bots/bots.ts'
import { DurableStates } from './bots/durable-states.ts'
import { StrategyRunner } from './bots/strategy-runner.ts'
import { SubscriptionRouter } from './bots/subscription-router.ts'
import { ViewTable } from './bots/view-table.ts'
import type { EngineState } from './engine-state.ts'
import { EntryVetoes } from './entry-vetoes.ts'
import { ConditionalBook } from './exits/conditional-book.ts'
import { Exits } from './exits/exit-execution.ts'
import { ExitTriggers } from './exits/exit-triggers.ts'
import { ExitWatch } from './exits/exit-watch.ts'
import { PoolPolls } from './exits/pool-polls.ts'
import { LimitFigures } from './limits/limit-figures.ts'
import { LimitScopes } from './limits/limit-scope.ts'
import { BotResults } from './limits/result-figures.ts'
import type { StartInput } from './messages.ts'
import { OrderFactory } from './order-factory.ts'
import { moneyOf } from './recovered-money.ts'
import type { Strategy } from './strategy.ts'

/** The parts of a started engine. Each part is built from parts that are listed above it, so none of them is ever
 *  incomplete. */
export interface EngineParts {
  readonly state: EngineState
  readonly watch: ExitWatch
  readonly liquidation: Liquidation
  readonly results: BotResults
  readonly limits: LimitFigures
  readonly scopes: LimitScopes
  readonly factory: OrderFactory
  readonly polls: PoolPolls
  readonly exits: Exits
  readonly conditionals: ConditionalBook
  readonly triggers: ExitTriggers
  readonly router: SubscriptionRouter
  readonly bars: TokenBars
  readonly bots: Bots
}

/** Builds the parts of an engine. `strategies`: the strategies by the name that the settings of the bots use. Throws if
 *  one is missing. */
export function createParts(
  state: EngineState,
  start: StartInput,
  strategies: ReadonlyMap<string, Strategy>,
): EngineParts {
  const bots = new Bots()
  const bars = new TokenBars(state)
  const watch = new ExitWatch(state)
  const liquidation = new Liquidation(state, watch, ({ bot }) => bots.of(bot)?.settings.quoteFees)
  const results = new BotResults(state, liquidation)
  const limits = new LimitFigures(state, results, liquidation)
  const scopes = new LimitScopes(state, start.bots)
  const factory = new OrderFactory(state, watch, new EntryVetoes(state, limits))
  const polls = new PoolPolls(state, watch)
  const exits = new Exits(state, factory, watch, polls, (position) => bots.sellerOf(position))
  const conditionals = new ConditionalBook(state, factory, watch, exits, bots)
  const triggers = new ExitTriggers(state, watch, liquidation, exits, conditionals)
  const table = new ViewTable(start.bots.length)
  const router = new SubscriptionRouter(state.mints, state.quiet, table)
  const parts = { state, factory, results, liquidation, exits, conditionals, router, bars, table }
  for (const [index, settings] of start.bots.entries()) {
    const context: BotContext = { index, ...parts }
    const money = moneyOf(settings, moneyIn(start, settings))
    const wallet = scopes.wallet(settings.account.id)
    const durable = new DurableStates(state, settings, start.money.tokenStates ?? [])
    const runner = new StrategyRunner(
      context,
      settings,
      { money, wallet, durable },
      strategyOf(settings, start, strategies),
    )
    scopes.add(runner.scope)
    bots.add(runner)
  }
  return {
    state,
    watch,
    liquidation,
    results,
    limits,
    scopes,
    factory,
    polls,
    exits,
    conditionals,
    triggers,
    router,
    bars,
    bots,
  }
}

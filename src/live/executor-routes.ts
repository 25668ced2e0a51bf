import type { Clock } from '../base/machine.ts'
import type { Config } from '../config/config.ts'
import { DEFAULT_TOKEN_CHECKS, mintRefusal, type TokenChecks } from '../engine/limits/token-checks.ts'
import type { Order } from '../engine/order.ts'
import type { Attempt, CalledOff } from '../orders/attempt.ts'
import type { Executor, Outcome } from '../orders/ports.ts'
import type { Route } from '../orders/working-order.ts'
import type { PaperWorld } from '../runtime/paper-world.ts'
import type { MintFacts } from '../solana/mint.ts'
import type { LiveChain } from './live-chain.ts'
import type { Trading } from './trading.ts'

/** Routes of the orders of one live account. A route contains an executor, with its checks, and a limiter. */
interface AccountRoutes {
  readonly byBot: ReadonlyMap<string, Route>
  /** Route of the account's first bot. It is used for orders of bots that use another wallet now, or are no longer
   *  configured. */
  readonly first: Route
}

/** Selects the executor of an order: paper, cloud or local. */
export class Routes {
  readonly #paper: Pick<PaperWorld, 'route'>
  /** Routes of the live accounts. */
  readonly #live: ReadonlyMap<string, AccountRoutes>

  constructor(
    paper: Pick<PaperWorld, 'route'>,
    { bots }: Pick<Config, 'bots'>,
    { routes, chain }: Pick<Trading, 'routes' | 'chain'>,
    clock: Clock,
  ) {
    const looked = (route: Route): Route => (chain ? vetted(route, { bots }, chain, clock) : route)
    this.#paper = paper
    this.#live = new Map(
      [...routes].map(([account, { cloud, local }]) => {
        const executors = { cloud: looked(cloud), local: local && looked(local) }
        const name = chain?.wallets.get(account)?.name
        const own = bots.filter(({ mode, wallet = '' }) => mode === 'live' && wallet === name)
        const byBot = new Map(
          own.map((bot) => [bot.name, (bot.executor === 'local' && executors.local) || executors.cloud]),
        )
        return [account, { byBot, first: byBot.get(own[0]?.name ?? '') ?? executors.cloud }]
      }),
    )
  }

  of({ account, bot }: Pick<Order, 'account' | 'bot'>): Route {
    const live = this.#live.get(account)
    const route = this.#paper.route(account) ?? live?.byBot.get(bot) ?? live?.first
    if (route === undefined) throw new Error(`no executor for ${account}`)
    return route
  }
}

/** Adds the token checks of each bot to a route. */
export function vetted(
  route: Route,
  { bots }: Pick<Config, 'bots'>,
  chain: Pick<LiveChain, 'mints' | 'outgoing'>,
  clock: Clock,
): Route {
  const checks = new Map(bots.map(({ name, tokenChecks }) => [name, tokenChecks]))
  const executor = new VettedExecutor({
    ...{ clock, executor: route.executor },
    checksOf: (bot) => checks.get(bot) ?? DEFAULT_TOKEN_CHECKS,
    read: (mint, onFacts) => chain.mints.read(mint, onFacts),
    refusalOf: (orderId) => chain.outgoing.refusalOf(orderId),
  })
  return { ...route, executor }
}

export interface VettedParts {
  readonly clock: Clock
  readonly executor: Executor
  /** Returns the token checks of a bot. */
  readonly checksOf: (bot: string) => TokenChecks
  /** Reads a mint and calls `onFacts`, possibly before `read` returns. Calls it with undefined if no RPC answered in
   *  time. */
  readonly read: (mint: string, onFacts: (facts: MintFacts | undefined) => void) => void
  /** Reason why the order may no longer be sent; undefined if it may. */
  readonly refusalOf: (orderId: string) => CalledOff | 'TTL' | undefined
}

/** Forwards a buy to the executor once its mint has been read and passes the bot's token checks; forwards sales
 *  immediately. The engine also receives the facts about the mint, and itself refuses the next buy of a mint that fails
 *  the checks. */
export class VettedExecutor implements Executor {
  readonly #parts: VettedParts

  constructor(parts: VettedParts) {
    this.#parts = parts
  }

  execute(attempt: Attempt, done: (outcome: Outcome) => void): void {
    const { executor, checksOf, read } = this.#parts
    const checks = checksOf(attempt.bot)
    if (attempt.side === 'sell' || checks.when === 'off') executor.execute(attempt, done)
    else if (checks.when === 'after') {
      executor.execute(attempt, done)
      read(attempt.mint, () => {})
    } else read(attempt.mint, (facts) => this.#vet(attempt, checks, facts, done))
  }

  resume(attempt: Attempt, done: (outcome: Outcome) => void): void {
    this.#parts.executor.resume(attempt, done)
  }

  #vet(attempt: Attempt, checks: TokenChecks, facts: MintFacts | undefined, done: (outcome: Outcome) => void): void {
    const { clock, executor, refusalOf } = this.#parts
    const unread = { code: 'MINT_UNREAD', reason: `no RPC could read the mint ${attempt.mint} in time` } as const
    const refusal = facts === undefined ? unread : mintRefusal(facts, checks)
    if (refusal !== undefined) clock.after(0, () => done({ kind: 'refused', ...refusal, retry: 'never' }))
    else {
      const late = refusalOf(attempt.orderId)
      if (late === undefined) executor.execute(attempt, done)
      else clock.after(0, () => done(LATE[late]))
    }
  }
}

const LATE: Readonly<Record<CalledOff | 'TTL', Outcome>> = {
  TTL: { kind: 'unsent', reason: 'reading the mint took longer than the time to live of the order' },
  EXIT_UNPROVED: {
    ...{ kind: 'unsent', code: 'EXIT_UNPROVED' },
    reason: 'a full exit of the mint was accepted while the mint was being read',
  },
  HALTED: { kind: 'unsent', code: 'HALTED', reason: 'entries were halted while the mint of the order was being read' },
  DISK_LOW: {
    ...{ kind: 'unsent', code: 'DISK_LOW' },
    reason: 'the disk that holds the journal ran low on space while the mint of the order was being read',
  },
}

import { baseUnits, lamports, solToLamports } from '../../src/base/units.ts'
import { accountOf, type Mode } from '../../src/engine/account.ts'
import { NO_COSTS } from '../../src/engine/accounting/fill-costs.ts'
import { Engine } from '../../src/engine/engine.ts'
import { EXIT_PRICE, type ExitRules } from '../../src/engine/exits/exit-settings.ts'
import { type EntryFilters, NO_FILTERS } from '../../src/engine/limits/entry-filters.ts'
import { type Limits, NO_LIMITS, type WalletLimits } from '../../src/engine/limits/limit-rules.ts'
import { DEFAULT_TOKEN_CHECKS } from '../../src/engine/limits/token-checks.ts'
import type { Input, Output, StartInput } from '../../src/engine/messages.ts'
import type { ExecutionReport, Fill, Order } from '../../src/engine/order.ts'
import { NO_MONEY } from '../../src/engine/recovered-money.ts'
import type { BotSettings } from '../../src/engine/settings.ts'
import type { Strategy } from '../../src/engine/strategy.ts'
import { RowKind } from '../../src/market/block.ts'
import { LiveBlock } from '../../src/market/live-block.ts'
import { Mints } from '../../src/market/mints.ts'

export const MINT = '6Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump'
export const MINT_2 = '4XhP2o8jNYcenJFt3Y52dfPN7AbQmJWQzCbnLJGmpump'

export interface BotOptions {
  name?: string
  params?: BotSettings['params']
  limits?: Partial<Limits>
  orders?: Partial<BotSettings['orders']>
  walletLimits?: Partial<WalletLimits>
  filters?: Partial<EntryFilters>
  /** The exits of the bot. `windowPrints` is 5 unless it is set. */
  exits?: ExitRules | (Omit<ExitRules, 'windowPrints'> & { windowPrints: undefined })
  wallet?: string
  paperSol?: number
  /** Default paper. */
  mode?: Mode
}

export function botSettings(strategy: string, options: BotOptions = {}): BotSettings {
  const name = options.name ?? strategy
  return {
    name,
    strategy,
    params: options.params ?? {},
    account: accountOf(options.mode ?? 'paper', 'test', '', options.wallet ?? name),
    executor: 'paper',
    orders: {
      ...{ slippagePercent: 5, priorityFeeLamports: null, ttlMs: 2000, maxEventAgeMs: 3000, maxChasePercent: 5 },
      ...options.orders,
    },
    tokenChecks: DEFAULT_TOKEN_CHECKS,
    filters: { ...NO_FILTERS, ...options.filters },
    exitOrders: { slippageLadder: [5, 15, 30, 50], priorityFeeLadder: [], retryMs: 3000 },
    // The window of prints is small, so that a test needs few prints.
    exits: { windowPrints: 5, ...(options.exits as ExitRules) },
    limits: { ...NO_LIMITS, ...options.limits },
    walletLimits: { ...NO_LIMITS, ...options.walletLimits },
    paperLamports: solToLamports(options.paperSol ?? 10),
    seed: 1,
  }
}

export function startInput(bots: readonly BotSettings[], money = NO_MONEY): StartInput {
  return {
    kind: 'start',
    segment: 1,
    config: 'test',
    code: 'test',
    seed: 1,
    bots,
    plan: {
      name: 'standard',
      requestsPerMinute: 100,
      connections: 5,
      messagesPerSecond: 50,
      maxBuyLamports: solToLamports(100),
    },
    units: { tradePrice: 'auto', tradeAmount: 'sol' },
    exitPrice: EXIT_PRICE,
    money,
    warm: { from: 1, to: 0 },
  }
}

/** An engine for tests. The rig passes it rows and inputs, and counts their sequence numbers and their time. */
export class EngineRig {
  readonly mints = new Mints()
  readonly engine: Engine
  readonly outputs: Output[] = []
  /** Memory that the engine shares with a watchdog: the index of the bot that runs, and the number of handler calls. */
  readonly cells = new Int32Array(2)
  block: LiveBlock
  seq = 0
  now: number

  constructor(
    strategies: readonly Strategy<never, never>[],
    bots: readonly BotSettings[],
    money = NO_MONEY,
    now = 1_780_000_000_000,
  ) {
    this.now = now
    this.block = new LiveBlock(this.mints.list)
    this.engine = new Engine(
      this.mints,
      new Map(strategies.map((strategy) => [strategy.name, strategy as unknown as Strategy])),
      { cells: this.cells },
    )
    this.mints.addHolder(this.engine)
    this.input(startInput(bots, money))
    this.input({ kind: 'feed', status: 'live', confirmed: [] })
  }

  input(input: Input): Output[] {
    this.engine.input(++this.seq, this.now, input)
    return this.#drain()
  }

  /** Adds a trade of `sol` SOL at `price` SOL per token, `ms` after the previous row. */
  trade(
    price: number,
    options: { mint?: string; sol?: number; ms?: number; side?: 'buy' | 'sell'; lateMs?: number } = {},
  ): Output[] {
    this.now += options.ms ?? 100
    const sol = options.sol ?? 1
    const numbers = { price, amount: sol, size: sol / price, marketCap: price * 1e9, extra: 5, extra2: 0.0005 }
    const kind = options.side === 'sell' ? RowKind.sell : RowKind.buy
    this.#append(kind, options.mint ?? MINT, numbers, options.lateMs ?? 0)
    return this.#take()
  }

  /** Adds enough prints at one price for a robust price. */
  settle(price: number, mint = MINT): Output[] {
    return [1, 2, 3, 4, 5].flatMap(() => this.trade(price, { mint }))
  }

  /** Gives five prints to the strategies as their warm-up. */
  warm(price: number, mint = MINT): void {
    const numbers = { price, amount: 1, size: 1 / price, marketCap: price * 1e9, extra: 5, extra2: 0.0005 }
    for (let print = 0; print < 5; print++) {
      this.#append(RowKind.buy, mint, numbers, 0)
      this.engine.warm(this.block, this.block.length - 1)
    }
  }

  /** Continues in an empty block if the present block is full. */
  nextBlock(): void {
    this.block = new LiveBlock(this.mints.list)
  }

  /** Frees unused token numbers, as the feed does between two blocks. */
  giveBack(): void {
    this.mints.giveBack(() => false)
    this.nextBlock()
  }

  newToken(mint = MINT, initialLiquidity = 10, creator = ''): Output[] {
    this.now += 100
    const numbers = {
      price: Number.NaN,
      amount: initialLiquidity,
      size: Number.NaN,
      marketCap: 30,
      extra: Number.NaN,
      extra2: Number.NaN,
    }
    this.#append(RowKind.newToken, mint, numbers, 0, creator)
    return this.#take()
  }

  /** Executes an order at `price`, without fees. */
  fill(order: Order, price: number, options: { final?: boolean; signature?: string } = {}): Output[] {
    return this.report(order, 'filled', { fill: fillOf(order, price, this.now, options) })
  }

  report(order: Order, state: ExecutionReport['state'], more: Partial<ExecutionReport> = {}): Output[] {
    const report: ExecutionReport = {
      orderId: order.id,
      attemptId: `${order.id}.1`,
      state,
      code: '',
      reason: '',
      ...more,
    }
    return this.input({ kind: 'report', id: this.seq, report })
  }

  #append(kind: RowKind, mint: string, numbers: Parameters<LiveBlock['append']>[4], lateMs: number, trader = ''): void {
    if (!this.block.append(this.now, this.now - lateMs, kind, this.mints.intern(mint), numbers, '', trader))
      throw new Error('the block is full')
  }

  #take(): Output[] {
    this.engine.rows(++this.seq, this.block, this.block.length - 1, this.block.length)
    return this.#drain()
  }

  #drain(): Output[] {
    const drained = this.engine.outputs.splice(0)
    this.outputs.push(...drained)
    return drained
  }
}

/**
 * Returns the fill of an order at `price`. `tokens` is the number of whole tokens of a sale (default: all that a test
 * bought).
 */
export function fillOf(
  order: Order,
  price: number,
  time: number,
  options: { final?: boolean; signature?: string; tokens?: bigint } = {},
): Fill {
  const sol = order.size.kind === 'sol' ? order.size.lamports : 0
  const tokens =
    options.tokens ??
    (order.size.kind === 'sol'
      ? baseUnits(sol / 1e9 / price, 6)
      : order.size.kind === 'tokens'
        ? order.size.tokens
        : 1n)
  const trade = order.size.kind === 'sol' ? sol : Math.round((Number(tokens) / 1e6) * price * 1e9)
  const sign = order.side === 'buy' ? -1 : 1
  return {
    signature: options.signature ?? `signature-${order.id}`,
    orderId: order.id,
    attemptId: `${order.id}.1`,
    account: order.account,
    bot: order.bot,
    mint: order.mint,
    side: order.side,
    slot: 1,
    time,
    tokens,
    decimals: 6,
    tradeLamports: lamports(trade),
    feeLamports: lamports(5000),
    rentLamports: lamports(0),
    costs: NO_COSTS,
    walletLamports: lamports(sign * trade - 5000),
    final: options.final ?? true,
  }
}

export function orders(outputs: readonly Output[]): Order[] {
  return outputs.flatMap((output) => (output.kind === 'order' ? [output.order] : []))
}

export function refusals(outputs: readonly Output[]): string[] {
  return outputs.flatMap((output) => (output.kind === 'refused' ? [output.code] : []))
}

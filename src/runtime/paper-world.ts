import type { Clock } from '../base/machine.ts'
import { deriveSeed } from '../base/random.ts'
import { HOUR, type Lamports, type Millis, ZERO } from '../base/units.ts'
import type { Config } from '../config/config.ts'
import { DEFAULT_FILL_MODEL, type FillModel } from '../engine/accounting/fill-assumptions.ts'
import type { Position } from '../engine/accounting/position.ts'
import type { Input } from '../engine/messages.ts'
import type { Fill } from '../engine/order.ts'
import type { Sink } from '../engine/ports.ts'
import type { RecoveredMoney } from '../engine/recovered-money.ts'
import type { BotSettings } from '../engine/settings.ts'
import type { Block } from '../market/block.ts'
import { Mints } from '../market/mints.ts'
import { poolPrice } from '../market/pool-price.ts'
import type { Limiter } from '../orders/plan-limiter.ts'
import type { Route } from '../orders/working-order.ts'
import type { DepthUse, Measurements } from '../simulation/measurements.ts'
import { PaperExecutor } from '../simulation/paper-executor.ts'
import { PaperMarket } from '../simulation/paper-market.ts'

/** After a restart, fills of at most this age still affect the prices of an account's next orders. */
const RECALLED_MS: Millis = HOUR

/** Executors of paper bots. All of them share one market, and each account has a balance and a request budget of its
 *  own. */
export class PaperWorld {
  readonly market: PaperMarket
  readonly #config: Config
  readonly #clock: Clock
  readonly #adjust: (model: FillModel) => FillModel
  readonly #measured: Measurements | undefined
  readonly #routes = new Map<string, Route & { readonly executor: PaperExecutor }>()

  /** `adjust`: changes the assumptions of the fill model. `measured`: known outcomes of single attempts, which replace
   *  the model's. */
  constructor(
    config: Config,
    clock: Clock,
    mints: Mints,
    adjust: (model: FillModel) => FillModel = (model) => model,
    measured?: Measurements,
  ) {
    this.market = new PaperMarket(mints, config.service.units)
    mints.addHolder(this.market)
    this.#config = config
    this.#clock = clock
    this.#adjust = adjust
    this.#measured = measured
  }

  /** Creates the executors of the paper bots and restores their balances. Each paper account has its own request budget
   *  of the same plan, so paper orders use no requests of the live budget. `simulated`: whether live bots also get a
   *  simulated executor, for the replay of a run. */
  restore(
    bots: readonly BotSettings[],
    money: RecoveredMoney,
    limiterOf: (key: string) => Limiter,
    unreported: readonly Fill[] = [],
    simulated = false,
  ): void {
    const taken = new Set(money.fills.map(({ signature }) => signature))
    const landed = new Map(
      unreported.filter(({ signature }) => !taken.has(signature)).map((fill) => [fill.signature, fill]),
    )
    for (const { name, account, seed } of bots) {
      if (account.mode === 'live' && !simulated) continue
      const executorSeed = deriveSeed(seed, 'executor')
      const shared = this.#routes.get(account.id)
      if (shared !== undefined) {
        shared.executor.share(name, executorSeed)
        continue
      }
      const model = this.modelOf(name)
      const executor = new PaperExecutor(this.#clock, this.market, model, executorSeed, this.#measured)
      const mine = (record: { account: string }): boolean => record.account === account.id
      executor.restore(money.positions.filter(mine), money.fills.filter(mine), [...landed.values()].filter(mine))
      this.#routes.set(account.id, { kind: 'paper', executor, limiter: limiterOf(`paper ${account.id}`) })
    }
  }

  /** Restores the price impact that the fills of the last hour have on later orders of the same account. `tapeOf`
   *  returns the tape of at least the last hour. */
  recall(fills: readonly Fill[], tapeOf: (mints: Mints) => Iterable<Block>): void {
    const since = this.#clock.now() - RECALLED_MS
    const late = fills.filter(({ account, time }) => time >= since && this.#routes.has(account))
    if (late.length === 0) return
    late.sort((one, other) => one.time - other.time)
    const mints = new Mints()
    const market = new PaperMarket(mints, this.#config.service.units)
    for (const block of tapeOf(mints)) {
      let from = 0
      for (let row = 0; row < block.length; row++) {
        // A fill comes before the market rows that have the same time.
        if (late[0] === undefined || late[0].time > (block.time[row] as number)) continue
        if (row > from) market.observe(block, from, row)
        from = row
        this.#recallUntil(late, block.time[row] as number, market)
      }
      if (from < block.length) market.observe(block, from, block.length)
    }
    this.#recallUntil(late, Number.POSITIVE_INFINITY, market)
    for (const { executor } of this.#routes.values()) executor.recalled(market)
  }

  #recallUntil(fills: Fill[], time: Millis, market: PaperMarket): void {
    for (let fill = fills[0]; fill !== undefined && fill.time <= time; fill = fills[0]) {
      this.#routes.get(fill.account)?.executor.recall(fill, market)
      fills.shift()
    }
  }

  /** Returns the fill model of a bot's orders. */
  modelOf(bot: string): FillModel {
    const found = this.#config.bots.find(({ name }) => name === bot)
    if (found === undefined) return this.#adjust(DEFAULT_FILL_MODEL)
    const { lamports: _lamports, seed: _seed, ...assumed } = found.paper
    return this.#adjust(assumed)
  }

  /** Returns how much an account's fills depend on estimated pool depths; undefined if the account has no executor
   *  here. */
  depthOf(account: string): DepthUse | undefined {
    return this.#routes.get(account)?.executor.depth
  }

  /** Forwards gaps of the feed and pool readings to the paper market. */
  hear(input: Input): void {
    if (input.kind === 'gap') this.market.interrupted(input.keys)
    else if (input.kind === 'pool' && !('code' in input.answer))
      this.market.pooled(input.mint, poolPrice(input.answer), this.#clock.now())
  }

  /** Returns a sink that also passes inputs to the paper market. Only for an engine in this thread, which handles each
   *  input immediately. */
  withInputs(sink: Sink): Sink {
    return {
      rows: (block, from, to) => sink.rows(block, from, to),
      post: (input) => {
        this.hear(input)
        sink.post(input)
      },
    }
  }

  /** Returns the proceeds of selling a position now, without network fee and rent; see `PaperExecutor.valueOf`. */
  valueOf(position: Position, exitPrice: number | undefined): Lamports {
    return this.#routes.get(position.account)?.executor.valueOf(position, exitPrice) ?? ZERO
  }

  executorOf(account: string): PaperExecutor | undefined {
    return this.#routes.get(account)?.executor
  }

  route(account: string): Route | undefined {
    return this.#routes.get(account)
  }

  get limiters(): Limiter[] {
    return [...this.#routes.values()].map(({ limiter }) => limiter)
  }
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { DAY, dayOf, HOUR, solToLamports } from '../../../src/base/units.ts'
import { type WorstCase, worstCaseOf, worstTogether } from '../../../src/config/worst-case.ts'
import { type Limits, NO_LIMITS } from '../../../src/engine/limits/limit-rules.ts'
import { doesCount } from '../../../src/engine/limits/spending.ts'
import type { Output } from '../../../src/engine/messages.ts'
import { isOpen, ORDER_MOVES, type Order, type OrderState } from '../../../src/engine/order.ts'
import { NO_MONEY } from '../../../src/engine/recovered-money.ts'
import type { BotSettings } from '../../../src/engine/settings.ts'
import { type Bot, type BuyOptions, defineStrategy } from '../../../src/engine/strategy.ts'
import { botSettings, EngineRig, fillOf, startInput } from '../../support/engine-rig.ts'
import { RecordedMoney } from '../../support/recorded-money.ts'
import { runs } from '../../support/runs.ts'

const MINTS = ['6', '7', '8'].map((first) => `${first}Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump`)
const EVENING = 20_601 * DAY + 23 * HOUR // of the first day of a rig
const { plan } = startInput([])

const amount = (min: number, max: number) => fc.integer({ min: min * 1e3, max: max * 1e3 }).map((sol) => sol / 1e3)
const maybe = (sol: fc.Arbitrary<number>) => fc.option(sol.map(solToLamports), { freq: 3 })
const limits = fc.record({
  minLamportsPerOrder: maybe(fc.constantFrom(0.01, 0.02)),
  maxLamportsPerOrder: maybe(amount(0.05, 0.2)),
  maxSlippagePercent: fc.option(fc.constantFrom(5, 20), { freq: 3 }),
  maxLamportsPerHour: maybe(amount(0.1, 0.3)),
  maxLamportsPerDay: maybe(amount(0.1, 0.4)),
  maxOpenPositions: fc.option(fc.integer({ min: 2, max: 3 })),
  maxLamportsPerMint: maybe(amount(0.05, 0.3)),
  maxExposureLamports: maybe(amount(0.1, 0.2)),
})

const options: fc.Arbitrary<Partial<BuyOptions>> = fc.record(
  {
    slippagePercent: fc.constantFrom(0.1, 5, 5, 5, 20, 50, Number.NaN),
    priorityFeeSol: fc.constantFrom(0.00001, 0.001, 0.01, 0.01, 5),
    scaleIn: fc.constantFrom(true, true, true, false),
  },
  { requiredKeys: [] },
)
const step = fc.record({
  ms: fc.constantFrom(0, 100, 60_000, 20 * 60_000),
  mint: fc.constantFrom(...MINTS),
  bot: fc.constantFrom('a', 'b'),
  wish: fc.oneof(
    {
      weight: 16,
      arbitrary: fc.tuple(
        fc.constant('buy' as const),
        fc.constantFrom(0.001, 0.01, 0.02, 0.05, 0.05, 0.05, 0.1, 9),
        options,
      ),
    },
    { weight: 2, arbitrary: fc.tuple(fc.constant('sell' as const), fc.constantFrom(50, 100), fc.constant({})) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('restart' as const), fc.constant(0), fc.constant({})) },
  ),
  /** The outcome that the oldest open order gets, if there is one. */
  outcome: fc.constantFrom<OrderState | ''>('filled', 'filled', 'filled', 'filled', 'working', 'failed', 'held', ''),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Bots of one wallet that make random requests. Records all SOL that leaves the wallet. */
class Wallet {
  readonly bots: readonly BotSettings[]
  readonly #recorded = new RecordedMoney()
  #wish: ((bot: Bot<unknown>) => void) | undefined
  #rig!: EngineRig
  #now = EVENING

  constructor(bots: readonly BotSettings[]) {
    this.bots = bots
    this.#restart()
  }

  take({ ms, mint, bot, wish: [kind, size, more], outcome }: Step): void {
    this.#now += ms
    this.#rig.now = this.#now
    if (kind === 'restart') this.#restart()
    const reason = 'by chance'
    const percent = { percent: size, reason }
    this.#wish = (handle) => {
      if (handle.name !== bot) return
      if (kind === 'buy') handle.buy(mint, { sol: size, reason, ...more })
      if (kind === 'sell') handle.sell(mint, size === 100 ? { all: true, reason } : percent)
    }
    this.#note(this.#rig.trade(1e-6, { mint, ms: 1 }))
    this.#wish = undefined
    this.#now = this.#rig.now
    this.#settle(outcome)
  }

  /** Returns the buys of a bot, or of all bots if `bot` is null. */
  buys(bot: string | null): { order: Order; state: OrderState }[] {
    return [...this.#recorded.orders.values()].filter(
      ({ order }) => order.side === 'buy' && (bot === null || order.bot === bot),
    )
  }

  /** Returns the cost of the open positions of a bot, or of all bots if `bot` is null. */
  heldLamports(bot: string | null): number {
    return [...this.#recorded.positions.values()]
      .filter((position) => position.state !== 'closed' && (bot === null || position.bot === bot))
      .reduce((sum, { costLamports }) => sum + costLamports, 0)
  }

  #restart(): void {
    const strategy = defineStrategy({
      name: 'anything',
      about: '',
      params: z.object({}),
      keys: ['trades'],
      start: (_params, bot) => ({ onTrade: () => this.#wish?.(bot) }),
    })
    const money = this.#recorded.orders.size === 0 ? NO_MONEY : this.#recorded.money()
    this.#rig = new EngineRig([strategy as never], this.bots, money)
    this.#note(this.#rig.outputs)
    this.#rig.now = this.#now
    for (const mint of MINTS) this.#note(this.#rig.settle(1e-6, mint))
    this.#now = this.#rig.now
  }

  #settle(outcome: OrderState | ''): void {
    const open = [...this.#recorded.orders.values()].find(({ state }) => isOpen(state))
    if (open === undefined || outcome === '' || (open.state !== outcome && !ORDER_MOVES[open.state].includes(outcome)))
      return
    const { order } = open
    const held = this.#recorded.positions.get(`${order.account}|${order.mint}`)?.tokens ?? 0n
    const part = order.size.kind === 'percent' ? (held * BigInt(order.size.percent)) / 100n : held
    const tokens = order.side === 'sell' ? { tokens: part > 0n ? part : 1n } : {}
    const fill = outcome === 'filled' && { fill: fillOf(order, 1e-6, this.#now, tokens) }
    this.#note(this.#rig.report(order, outcome, { ...fill, ...(order.size.kind === 'all' && { unproved: 0 }) }))
  }

  #note(outputs: readonly Output[]): void {
    for (const output of outputs) this.#recorded.output(output)
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
const within = (used: number, bound: number | null, what: string): void => {
  if (bound !== null) expect(used, what).toBeLessThanOrEqual(bound)
}

/**
 * Checks that no amount of SOL exceeds the worst case that `sluice check` prints: neither that of one order, nor
 * that of an hour or a day, nor the total of the open orders and positions.
 */
function judge(wallet: Wallet, bot: string | null, worst: WorstCase, limits: readonly Limits[]): void {
  const all = wallet.buys(bot)
  for (const { order } of all) within(order.reserveLamports, worst.perOrder, 'one buy')
  const counted = all.filter(({ state }) => doesCount(state)).map(({ order }) => order)
  const asks = (orders: readonly Order[]): number =>
    sum(orders.map(({ size }) => (size.kind === 'sol' ? size.lamports : 0)))
  const least = (key: 'maxLamportsPerHour' | 'maxLamportsPerDay'): number =>
    Math.min(...limits.map((each) => each[key] ?? Infinity))
  const reserves = (orders: readonly Order[]): number => sum(orders.map(({ reserveLamports }) => reserveLamports))
  for (const { time } of counted) {
    const hour = counted.filter((other) => other.time <= time && other.time > time - HOUR)
    within(reserves(hour), worst.perHour, 'an hour')
    const day = counted.filter((other) => dayOf(other.time) === dayOf(time))
    within(reserves(day), worst.perDay, 'a day')
    within(asks(hour), least('maxLamportsPerHour'), 'SOL of the buys of an hour')
    within(asks(day), least('maxLamportsPerDay'), 'SOL of the buys of a day')
  }
  const open = all.filter(({ state }) => isOpen(state)).map(({ order }) => order)
  within(wallet.heldLamports(bot) + asks(open), worst.exposure, 'held at once')
  within(wallet.heldLamports(bot) + reserves(open), worst.loss, 'all to zero')
}

const numRuns = runs(30)

test('no sequence of requests spends more of a wallet than the worst case that `check` prints', () => {
  let orders = 0
  fc.assert(
    fc.property(
      limits,
      limits,
      limits,
      fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }),
      (a, b, shared, steps) => {
        const walletLimits = { ...NO_LIMITS, ...shared }
        const bots = [a, b].map((own, index) =>
          botSettings('anything', {
            name: 'ab'[index] as string,
            wallet: 'w',
            limits: own,
            walletLimits,
            paperSol: 50,
          }),
        )
        const wallet = new Wallet(bots)
        for (const one of steps) wallet.take(one)
        for (const settings of bots)
          judge(wallet, settings.name, worstCaseOf(settings, walletLimits, plan), [settings.limits, walletLimits])
        judge(wallet, null, worstTogether(bots, walletLimits, plan), [walletLimits])
        orders += wallet.buys(null).length
      },
    ),
    { numRuns },
  )
  expect(orders / numRuns, 'requests that pass').toBeGreaterThan(2)
})

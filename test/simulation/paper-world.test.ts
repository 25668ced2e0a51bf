import { expect, test } from 'vitest'
import { lamports, type TokenAmount } from '../../src/base/units.ts'
import { accountOf } from '../../src/engine/account.ts'
import { DEFAULT_FILL_MODEL } from '../../src/engine/accounting/fill-assumptions.ts'
import type { Fill } from '../../src/engine/order.ts'
import { NO_MONEY } from '../../src/engine/recovered-money.ts'
import { Mints } from '../../src/market/mints.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import type { Outcome } from '../../src/orders/ports.ts'
import { PaperWorld } from '../../src/runtime/paper-world.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { buyAttempt, sellAttempt } from '../support/attempts.ts'
import { botSettings, MINT } from '../support/engine-rig.ts'
import { fill } from '../support/journal-samples.ts'
import { blockOf, type MarketRow } from '../support/market-rows.ts'

const ACCOUNT = accountOf('paper', 's.example', '', 'dips')

test.each([
  ['a paper fill that the engine has not booked adds its tokens to the wallet', [], 'filled'],
  ['a paper fill that the engine has booked adds no tokens to the wallet', [1], 'reverted'],
])('at the start after a crash, %s', (_what, taken, sale) => {
  const mints = new Mints()
  const clock = new SimulatedClock(1_780_000_000_000)
  const paper = { ...DEFAULT_FILL_MODEL, lamports: lamports(1e9), seed: 1 }
  const config = { service: { units: { tradePrice: 'sol', tradeAmount: 'sol' } }, bots: [{ name: 'dips', paper }] }
  const world = new PaperWorld(config as never, clock, mints, (model) => ({ ...model, landingFailurePercent: 0 }))
  const landed: Fill = { ...fill(1), account: ACCOUNT.id, bot: 'dips', side: 'buy', attemptId: 'o1.1', final: false }
  const settings = { ...botSettings('dip-buyer'), name: 'dips', account: ACCOUNT }
  const money = { ...NO_MONEY, fills: taken.map(() => ({ ...landed, final: true })) }
  world.restore([settings], money, () => ({}) as never, [landed, landed])
  const rows = Array.from({ length: 5 }, () => ({ time: clock.now(), mint: landed.mint, price: 1e-7 }))
  world.market.observe(blockOf(rows, mints), 0, rows.length)
  mints.giveBack(() => false) // the price is still needed
  const outcomes: Outcome[] = []
  const executor = world.route(ACCOUNT.id)?.executor
  const buy = { ...buyAttempt(landed.mint, 0.1, { state: 'landed' }), id: 'o1.1', account: ACCOUNT.id }
  executor?.resume(buy, (outcome) => outcomes.push(outcome))
  clock.advanceTo(clock.now() + 20_000)
  expect(outcomes).toMatchObject([{ kind: 'filled', final: true }])
  executor?.execute(sellAttempt(landed.mint, { id: 'o2.1' }), (outcome) => outcomes.push(outcome))
  clock.advanceTo(clock.now() + 60_000)
  expect(outcomes.at(-1)?.kind).toBe(sale)
})

test("a sale of a token that the feed does not cover is filled at the pool's price, until prints follow", () => {
  const mints = new Mints()
  const clock = new SimulatedClock(1_780_000_000_000)
  const world = new PaperWorld({ service: { units: { tradePrice: 'sol', tradeAmount: 'sol' } } } as never, clock, mints)
  const print = (price: number, count: number): void => {
    const rows = Array.from({ length: count }, () => ({ time: clock.now(), mint: 'mint', price }))
    world.market.observe(blockOf(rows, mints), 0, count)
  }
  const pool = (answer: object): void => world.hear({ kind: 'pool', mint: 'mint', answer } as never)
  const seen = (): unknown[] => [
    world.market.salePrice('mint', DEFAULT_FILL_MODEL),
    world.market.printedAt('mint') - 1_780_000_000_000,
  ]
  print(1e-6, 5)
  clock.advanceTo(clock.now() + 900_000)
  pool({ code: 'POOL_SILENT', reason: '' })
  expect(seen()).toEqual([1e-6, 0])
  const path = world.market.follow('mint', DEFAULT_FILL_MODEL)
  pool({ slot: 1, time: clock.now(), lamports: 30_000_000_000n, tokens: 100_000_000_000_000n, decimals: 6 })
  expect([seen(), path?.low]).toEqual([[3e-7, 900_000], 3e-7])
  for (const price of [3e-7, 3e-7, 2e-7]) {
    print(2e-7, 1)
    expect(seen()).toEqual([price, 900_000])
  }
})

/** A paper process with one bot, for a token that has just been launched. */
class Process {
  readonly clock = new SimulatedClock(START)
  readonly mints = new Mints()
  readonly world: PaperWorld
  #orders = 0

  constructor(fills: readonly Fill[] = [], tape: readonly MarketRow[] = []) {
    const paper = { ...DEFAULT_FILL_MODEL, landingFailurePercent: 0, latencyMs: { p50: 100, p95: 100 } }
    const bots = [{ name: 'dips', paper: { ...paper, lamports: lamports(1e12), seed: 1 } }]
    const config = { service: { units: { tradePrice: 'sol', tradeAmount: 'sol' } }, bots }
    this.world = new PaperWorld(config as never, this.clock, this.mints)
    if (tape.length > 0) this.clock.advanceTo(tape.at(-1)?.time ?? START)
    const settings = { ...botSettings('dip-buyer'), name: 'dips', account: ACCOUNT }
    this.world.restore([settings], { ...NO_MONEY, fills }, () => undefined as never)
    if (tape.length > 0) this.world.recall(fills, (mints) => [blockOf(tape, mints)])
  }

  show(rows: readonly MarketRow[]): void {
    for (const row of rows) {
      this.clock.advanceTo(row.time)
      this.world.market.observe(blockOf([row], this.mints), 0, 1)
    }
  }

  /** Fills an order and returns the fill. */
  trade(attempt: Attempt): Fill {
    const ends: Outcome[] = []
    const id = `o${++this.#orders}`
    this.world
      .executorOf(ACCOUNT.id)
      ?.execute({ ...attempt, id: `${id}.1`, orderId: id, account: ACCOUNT.id }, (end) => ends.push(end))
    this.clock.advanceTo(this.clock.now() + 600)
    const filled = ends.find((end) => end.kind === 'filled')
    if (filled?.kind !== 'filled') throw new Error(`not filled: ${JSON.stringify(ends.at(-1))}`)
    return filled.fill
  }
}

const START = 1_780_000_000_000
const LAUNCH: MarketRow = { kind: 'newToken', time: START, mint: MINT }
const trades = (from: number, count: number): MarketRow[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ kind: at % 2 === 0 ? 'buy' : 'sell', time: START + from + at * 100, mint: MINT, price: 4e-8, sol: 0.5 },
  }))

test('after a restart on paper, our fills of the last hour still have price impact, reduced by trades of others since', () => {
  const sale = sellAttempt(MINT, { size: { kind: 'tokens', tokens: 1_000_000_000_000n as TokenAmount, decimals: 6 } })
  const before = [LAUNCH, ...trades(100, 10)]
  const between = trades(10_000, 40)
  const after = [{ ...LAUNCH, time: START + 20_000 }, ...trades(20_100, 10)]
  const whole = new Process()
  whole.show(before)
  const fills = [whole.trade(buyAttempt(MINT, 5)), whole.trade(buyAttempt(MINT, 1)), whole.trade(sale)]
  whole.show(between)
  const restarted = new Process(fills, [...before, ...between])
  const forgetful = new Process(fills, [LAUNCH])
  for (const one of [whole, restarted, forgetful]) one.show(after)
  const [expected, actual, fresh] = [whole, restarted, forgetful].map((one) => one.trade(buyAttempt(MINT, 1)).tokens)
  expect(Number(actual) / Number(expected)).toBeCloseTo(1, 6)
  expect(Number(fresh)).toBeLessThan(Number(expected))
})

test('after a restart on paper, our fills that are more than an hour old have no price impact', () => {
  const first = new Process()
  first.show([LAUNCH, ...trades(100, 10)])
  const fill = first.trade(buyAttempt(MINT, 5))
  const late = START + 2 * 3_600_000
  const bought = [fill, { ...fill, time: late - 1_000 }].map((one) => {
    const restarted = new Process([one], [{ ...LAUNCH, time: late }])
    restarted.show([{ ...LAUNCH, time: late + 100 }, ...trades(late - START + 200, 10)])
    return Number(restarted.trade(buyAttempt(MINT, 1)).tokens)
  })
  expect(bought[0]).toBeGreaterThan((bought[1] as number) * 1.05)
})

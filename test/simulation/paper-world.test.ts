import { expect, test } from 'vitest'
import { lamports } from '../../src/base/units.ts'
import { accountOf } from '../../src/engine/account.ts'
import { DEFAULT_FILL_MODEL } from '../../src/engine/accounting/fill-assumptions.ts'
import type { Fill } from '../../src/engine/order.ts'
import { NO_MONEY } from '../../src/engine/recovered-money.ts'
import { Mints } from '../../src/market/mints.ts'
import type { Outcome } from '../../src/orders/ports.ts'
import { PaperWorld } from '../../src/runtime/paper-world.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { buyAttempt, sellAttempt } from '../support/attempts.ts'
import { botSettings } from '../support/engine-rig.ts'
import { fill } from '../support/journal-samples.ts'
import { blockOf } from '../support/market-rows.ts'

const ACCOUNT = accountOf('paper', 's.example', '', 'dips')

test.each([
  ['that is in no position yet is held', [], 'filled'],
  ['that the engine has booked is not held twice', [1], 'reverted'],
])('after a crash a fill of an earlier process %s', (_what, taken, sale) => {
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

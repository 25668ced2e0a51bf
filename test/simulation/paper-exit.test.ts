import { expect, test } from 'vitest'
import { DEFAULT_FILL_MODEL } from '../../src/engine/accounting/fill-assumptions.ts'
import { newPosition } from '../../src/engine/accounting/position.ts'
import type { ExecutionReport } from '../../src/engine/order.ts'
import { Mints } from '../../src/market/mints.ts'
import { Gateway } from '../../src/orders/gateway.ts'
import { Limiter } from '../../src/orders/plan-limiter.ts'
import type { Journal } from '../../src/orders/ports.ts'
import { PaperExecutor } from '../../src/simulation/paper-executor.ts'
import { PaperMarket } from '../../src/simulation/paper-market.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { anOrder } from '../support/gateway-world.ts'
import { blockOf } from '../support/market-rows.ts'

const START = 1_700_000_000_000
const nothing = (): void => {}
const journal: Journal = { rows: nothing, input: nothing, output: nothing, write: nothing, commit: (then) => then() }

/** Returns the reports about a full exit on paper with a latency of 4 s and a loss rate of 100 % or 0 %. */
function sell(landingFailurePercent: number): ExecutionReport[] {
  const clock = new SimulatedClock(START)
  const mints = new Mints()
  const market = new PaperMarket(mints, { tradePrice: 'sol', tradeAmount: 'sol' })
  const model = { ...DEFAULT_FILL_MODEL, latencyMs: { p50: 4_000, p95: 4_000 }, landingFailurePercent }
  const executor = new PaperExecutor(clock, market, model, 1)
  const prints = [1, 2, 3, 4, 5].map(() => ({ time: START, mint: 'mint', price: 5e-8 }))
  market.observe(blockOf(prints, mints), 0, prints.length)
  const exit = anOrder({ mint: 'mint', repeatMs: 3_000, slippagePercents: [5, 15] })
  executor.restore([{ ...newPosition(exit, START, {}), tokens: 1_000_000_000n, state: 'open' }], [])
  const monotonicMs = () => clock.now()
  const slots = { key: 'k', boot: 'b', requestsPerMinute: 100, past: 'fresh', write: nothing } as const
  const route = { kind: 'paper' as const, executor, limiter: new Limiter({ ...slots, clock, monotonicMs }) }
  const said: ExecutionReport[] = []
  const gateway = new Gateway({
    clock,
    monotonicMs,
    journal,
    route: () => route,
    post: (input) => input.kind === 'report' && said.push(input.report),
    nextReport: 1,
  })
  gateway.submit(exit)
  clock.advanceTo(START + 90_000)
  return said
}

test('a slow full exit on paper is repeated as in live trading, and the second attempt has nothing to sell but pays its fee', () => {
  const said = sell(0)
  const [attempt, second] = [said[0]?.attemptId, said.find(({ feeLamports }) => feeLamports !== undefined)]
  expect(said.map(({ state, fill, unproved }) => [state, fill?.attemptId, unproved])).toEqual([
    ['working', undefined, 1],
    ['working', undefined, 2],
    ['filled', attempt, 2],
    ['filled', attempt, 1],
    ['filled', undefined, 0],
  ])
  expect(second).toMatchObject({ attemptId: attempt?.replace('.1', '.2'), reason: expect.stringContaining('REVERTED') })
})

test('a full exit on paper that never lands has five open attempts until the first one is proved absent', () => {
  const said = sell(100)
  expect(Math.max(...said.map(({ unproved = 0 }) => unproved))).toBe(5)
  expect(said.at(-1)?.state).toBe('working')
})

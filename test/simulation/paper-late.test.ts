import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEFAULT_FILL_MODEL } from '../../src/engine/accounting/fill-assumptions.ts'
import { Mints } from '../../src/market/mints.ts'
import { type Attempt, isUndecided } from '../../src/orders/attempt.ts'
import { advance } from '../../src/orders/attempt-moves.ts'
import { PaperExecutor } from '../../src/simulation/paper-executor.ts'
import { PaperMarket } from '../../src/simulation/paper-market.ts'
import { buyAttempt } from '../support/attempts.ts'
import { LateClock } from '../support/late-clock.ts'
import { blockOf } from '../support/market-rows.ts'

const START = 1_700_000_000_000
const ORDERS = 5

/** A time in which every attempt ends, ms. An attempt lasts at most the lifetime of a blockhash plus the maximum
 *  latency. */
const LONGEST_MS = 600_000

test('a paper attempt makes only allowed state changes, even if the event loop is late', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1e6 }),
      fc.array(fc.integer({ min: 1, max: 4_000 }), { minLength: 1, maxLength: 20 }),
      fc.boolean(),
      fc.boolean(),
      (seed, stalls, isLongestFirst, isLost) => {
        const clock = new LateClock(START)
        const mints = new Mints()
        const market = new PaperMarket(mints, { tradePrice: 'sol', tradeAmount: 'sol' })
        const rows = Array.from({ length: 5 }, () => ({ time: START, mint: 'mint', price: 5e-8 }))
        market.observe(blockOf(rows, mints), 0, rows.length)
        const model = { ...DEFAULT_FILL_MODEL, landingFailurePercent: isLost ? 100 : 0 }
        const executor = new PaperExecutor(clock, market, model, seed)
        const attempts: Attempt[] = Array.from({ length: ORDERS }, (_, index) =>
          buyAttempt('mint', 0.1, { id: `o${index}.1`, orderId: `o${index}`, armedAt: START + index }),
        )
        for (const attempt of attempts) executor.execute(attempt, (outcome) => advance(attempt, outcome, clock.now()))
        const first = (one: number, other: number): number => (isLongestFirst ? other - one : one - other)
        for (const ms of stalls) clock.stall(ms, first)
        for (let turn = 0; turn < 5 && !clock.isIdle; turn++) clock.stall(LONGEST_MS, first)
        for (const { state } of attempts) expect(isUndecided(state)).toBe(false)
      },
    ),
  )
})

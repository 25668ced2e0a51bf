import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dueExit } from '../../../src/engine/exits/due-exit.ts'
import { exitLevels, idleEnds, staleEnds } from '../../../src/engine/exits/exit-levels.ts'
import type { ExitRules } from '../../../src/engine/exits/exit-settings.ts'
import { stepsReached } from '../../../src/engine/exits/take-profit-steps.ts'

const percent = fc.integer({ min: 1, max: 90 })
const price = fc.integer({ min: 1, max: 400 }).map((cents) => cents / 100)
const rules: fc.Arbitrary<ExitRules> = fc.record(
  {
    stopPrice: price,
    stopLossPercent: percent,
    trailingPercent: percent,
    trailingArmPercent: percent,
    breakEvenAtPercent: percent,
    takeProfitPercent: percent,
    takeProfitByAge: percent.map((at) => ({ 0: at, 60: at / 2 })),
    takeProfitPrice: price,
    takeProfitSteps: percent.map((atPercent) => [
      { atPercent, sellPercent: 50 },
      { atPercent: atPercent + 5, sellPercent: 20 },
    ]),
    maxHoldSeconds: percent,
    idleSeconds: percent,
    whenStale: fc.record({ policy: fc.constantFrom('hold', 'flatten', 'poll'), afterSeconds: percent }),
  },
  { requiredKeys: [] },
)
const BELOW: ReadonlySet<string> = new Set(['stopPrice', 'stopLossPercent', 'trailingPercent', 'breakEvenAtPercent'])

test('the engine sells if and only if the price has reached one of the levels in the list of exits', () => {
  const taken = fc.integer({ min: 0, max: 2 })
  const averages = fc.oneof(fc.constant(0), price)
  fc.assert(
    fc.property(
      rules,
      averages,
      price,
      price,
      fc.nat(120_000),
      taken,
      (exits, averagePrice, high, now, ageMs, taken) => {
        const highPrice = Math.max(high, averagePrice)
        const steps = { taken, tokens: 0n, reason: '' }
        const position = { exits, averagePrice, openedAt: 1_000, steps, tokens: 1n, exiting: '' }
        const reading = { highPrice, printedAt: 2_000, pricedAt: 3_000 }
        const reached = exitLevels(position, reading, 1_000 + ageMs).filter(({ kind, price: level }) =>
          level === undefined ? false : BELOW.has(kind) ? now <= level : now >= level,
        )
        const isDue = dueExit(exits, averagePrice, highPrice, now, ageMs) !== undefined
        const isStepDue = stepsReached(exits, taken, averagePrice, now) > taken
        expect(reached.some(({ kind }) => kind !== 'takeProfitSteps')).toBe(isDue)
        expect(reached.some(({ kind }) => kind === 'takeProfitSteps')).toBe(isStepDue)
      },
    ),
    { numRuns: 500 },
  )
})

test('the list of exits contains the time of an exit by time, and is empty for a position that is being sold', () => {
  const exits: ExitRules = { maxHoldSeconds: 9, idleSeconds: 4, whenStale: { policy: 'flatten', afterSeconds: 7 } }
  const position = { exits, averagePrice: 1, openedAt: 1_000, tokens: 1n, exiting: '' }
  const reading = { highPrice: 1, printedAt: 2_000, pricedAt: 3_000 }
  expect(exitLevels(position, reading, 0)).toEqual([
    { kind: 'maxHoldSeconds', at: 10_000 },
    { kind: 'idleSeconds', at: idleEnds(2_000, exits) },
    { kind: 'whenStale', at: staleEnds(3_000, exits) },
  ])
  expect(exitLevels({ ...position, exiting: 'stop-loss' }, reading, 0)).toEqual([])
  expect(exitLevels({ ...position, tokens: 0n }, reading, 0)).toEqual([])
})

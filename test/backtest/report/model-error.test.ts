import { expect, test } from 'vitest'
import { EXACT_POOLS } from '../../../src/backtest/report/exact-pools.ts'
import { exactPoolsText, modelErrorLine } from '../../../src/backtest/report/model-error.ts'
import type { CalibrationReport, ExactPools } from '../../../src/backtest/report/report.ts'
import { DEFAULT_FILL_MODEL } from '../../../src/engine/accounting/fill-assumptions.ts'

const MEASURED: ExactPools = {
  ...{ date: '2026-11-23', code: 'c0de', seeds: 20, bots: 20, fills: 190_000 },
  ...{ flattered: [], upperPercent: -0.42, upperBot: 'whale-follower', randomPessimismPercent: 2.31 },
  ...{ refusedBot: '', refusedSol: 0 },
}
const CALIBRATION: CalibrationReport = {
  measured: {
    ...{ fills: 60, decided: 70, latencyMs: null, landingFailurePercent: null, autoPriorityFeeLamports: null },
    ...{ venueFeePercent: null, serviceFeePercent: null },
  },
  ...{ lossFactor: 1, compared: 54, unheard: 0, medianErrorPercent: 1.204, p10ErrorPercent: -1, p90ErrorPercent: 3 },
  flatteredPercent: 11.1,
}

test('if no simulated profit is too high, the report names the bot whose simulated profit is closest to the exact one', () => {
  expect(exactPoolsText(MEASURED)).toBe(
    'On exact pools (2026-11-23: 20 bots, 20 seeds, 190000 fills), the simulated profit was below the exact profit for every bot, by at least 0.4 % of the SOL traded (whale-follower, upper end of the 95 % interval), and the profit of random entries is too low by 2.3 % of the SOL traded.',
  )
})

test('if simulated profits may be too high, the report names the bot with the largest possible excess', () => {
  const flattering = { ...MEASURED, flattered: ['whale-follower', 'rug-rider'], upperPercent: 25.3 }
  expect(exactPoolsText(flattering)).toContain(
    'the simulated profit of 2 bots may be too high, by up to 25.3 % of the SOL traded (whale-follower, upper end of the 95 % interval)',
  )
})

test('the report names the losses that are missing because the model refuses buys that the pool fills', () => {
  expect(exactPoolsText({ ...MEASURED, refusedBot: 'whale-follower', refusedSol: -11.14 })).toMatch(
    / Buys that the model refuses because of slippage, but that the pool fills, would have lost up to 11\.1 SOL per seed \(whale-follower\)\.$/,
  )
})

test('the line of the report about the fill model contains the recorded figures and says that no real fill was compared', () => {
  expect(modelErrorLine([DEFAULT_FILL_MODEL], undefined)).toBe(
    `${exactPoolsText(EXACT_POOLS)} No real fill was compared (see --calibrate).`,
  )
})

test('the report lists settings for which the fill model was not measured', () => {
  const other = { ...DEFAULT_FILL_MODEL, latencyMs: { p50: 1, p95: 1 }, serviceFeePercent: 0 }
  expect(modelErrorLine([DEFAULT_FILL_MODEL, other], undefined)).toContain(
    'The error was not measured for the settings that these bots changed: latencyMs, serviceFeePercent.',
  )
})

test.each([
  [{}, 'In the median of 54 fills, the real fill was 1.20 % better than predicted; 11 % of the real fills were worse.'],
  [
    { medianErrorPercent: -2 },
    'In the median of 54 fills, the real fill was 2.00 % worse than predicted; 11 % of the real fills were worse.',
  ],
  [{ medianErrorPercent: null }, 'None of the real fills could be compared.'],
] as const)(
  'if a journal calibrates the fill model, the line about the model compares its real fills: %o',
  (part, sentence) => {
    expect(modelErrorLine([DEFAULT_FILL_MODEL], { ...CALIBRATION, ...part })).toContain(sentence)
  },
)

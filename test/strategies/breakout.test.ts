import { join } from 'node:path'
import { expect, test } from 'vitest'
import { matchGolden, type StrategyRig, testStrategy } from '../../src/testing.ts'
import breakout from '../../strategies/breakout.ts'
import { addBars, asked, bars, type ShortBar } from './bars.ts'

const params = { bars: 5, volumeFactor: 2, minVolumeSol: 2, sizeSol: 0.1 }
const FLAT = bars(7, 100, 1)
const BUY = 'buy 0.1: closed above 5 bars on 5.0 SOL, usual 1.0'

test.each<[string, ShortBar[], string[]]>([
  ['a flat price', [...FLAT, [100, 5]], []],
  ['a close above the bars on high volume', [...FLAT, [110, 5]], [BUY]],
  ['a close above the bars on the usual volume', [...FLAT, [110, 1.9]], []],
  ['a close above the bars on less than the minimum volume', [...bars(7, 100, 0.1), [110, 1.9]], []],
  ['a close below the high of one of the bars', [...FLAT, [112, 1], [100, 1], [111, 9]], []],
  ['a breakout before there were enough bars', [...bars(3, 100, 1), [110, 5]], []],
  ['a second breakout while the position is open', [...FLAT, [110, 5], [120, 9]], [BUY]],
])('breakout sends the expected orders after %s', (_what, rows, orders) => {
  const rig = testStrategy(breakout, { params })
  addBars(rig, '15s', rows)
  expect(asked(rig)).toEqual(orders)
})

test('breakout sells by its trailing stop', () => {
  const rig = testStrategy(breakout, { params })
  addBars(rig, '15s', [...FLAT, [110, 5], ...bars(20, 150, 5), ...bars(20, 120, 5)])
  expect(asked(rig)[1]).toMatch(/^sell all: trailing stop: -\d+\.\d % from the high/)
})

test('breakout does not buy after a bar that a gap of the feed interrupted', () => {
  const asksAfter = (pause: (rig: StrategyRig) => void): string[] => {
    const rig = testStrategy(breakout, { params })
    addBars(rig, '15s', FLAT)
    pause(rig) // until 2 s after the bar has begun
    addBars(rig, '15s', [[110, 9]])
    return asked(rig)
  }
  expect(asksAfter((rig) => rig.advance(2))).toEqual([expect.stringMatching(/^buy 0\.1: closed above 5 bars/)])
  expect(asksAfter((rig) => rig.gap(2))).toEqual([])
})

/**
 * An hour of two tokens from the market of the sandbox, recorded with `rig.randomMarket({ seed: 18, seconds: 3600,
 * launchesPerSecond: 0.05 })`, `rig.saveJournal`, and `sluice export --mint`.
 */
const HOUR = join(import.meta.dirname, 'golden/hour.csv')

test('the decisions of breakout in a recorded hour equal the golden file', async () => {
  const golden = join(import.meta.dirname, 'golden/breakout.jsonl')
  expect(await matchGolden(breakout, { tape: HOUR, golden })).toBeGreaterThan(1)
  const other = { tape: HOUR, golden, params: { volumeFactor: 4 }, update: false }
  await expect(matchGolden(breakout, other)).rejects.toThrow('decision 1 differs from the golden file')
})

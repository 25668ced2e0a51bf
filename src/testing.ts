// Everything that a test of a strategy may import from 'sluice/testing'.

export type { Command } from './engine/messages.ts'
export { decisionsOf, type GoldenOptions, matchGolden, type RecordingOptions } from './testing/golden.ts'
export type { TestBar } from './testing/prints-of-bar.ts'
export { holdsAtMost, isOutWithin, neverBuysTwice, type Property, type TestReadings } from './testing/properties.ts'
export {
  inRandomMarkets,
  type MarketsResult,
  type RandomMarketsOptions,
} from './testing/random-markets.ts'
export type { TestLine, TestOrder, TestPosition, TestRemark } from './testing/run-log.ts'
export {
  type RandomMarket,
  StrategyRig,
  type StrategyTestOptions,
  type TestRestart,
  testStrategy,
} from './testing/strategy-rig.ts'
export { MINT, OTHER_MINT, type TestNewToken, type TestPriceUpdate, type TestTrade } from './testing/test-rows.ts'

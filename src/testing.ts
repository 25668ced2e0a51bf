// Everything that a test of a strategy may import from 'sluice/testing'.

export type { Command } from './engine/messages.ts'
export { decisionsOf, type GoldenOptions, matchGolden, type RecordingOptions } from './testing/golden.ts'
export type { TestOrder, TestRemark } from './testing/run-log.ts'
export {
  StrategyRig,
  type StrategyTestOptions,
  type TestPosition,
  testStrategy,
} from './testing/strategy-rig.ts'
export { MINT, OTHER_MINT, type TestNewToken, type TestPriceUpdate, type TestTrade } from './testing/test-rows.ts'

// What a test of a strategy may import as 'sluice/testing'.

export type { TestOrder, TestRemark } from './testing/decision.ts'
export { MINT, OTHER_MINT, type TestNewToken, type TestPriceUpdate, type TestTrade } from './testing/test-rows.ts'
export { type GoldenOptions, matchGolden } from './wiring/testing/golden.ts'
export { decisionsOf, type RecordingOptions } from './wiring/testing/recorded-decisions.ts'
export {
  StrategyRig,
  type StrategyTestOptions,
  type TestPosition,
  testStrategy,
} from './wiring/testing/strategy-rig.ts'

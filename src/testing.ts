// What a test of a strategy may import as 'sluice/testing'.
export { type GoldenOptions, matchGolden } from './golden.ts'
export { decisionsOf, type RecordingOptions } from './recorded-decisions.ts'
export { StrategyRig, type StrategyTestOptions, type TestPosition, testStrategy } from './strategy-rig.ts'
export type { TestOrder, TestRemark } from './testing/decision.ts'
export { MINT, OTHER_MINT, type TestNewToken, type TestPriceUpdate, type TestTrade } from './testing/test-rows.ts'

// strategies/golden.test.ts
import { test } from 'node:test'
import { matchGolden } from 'sluice/testing'
import strategy from './my-strategy.ts'

test('the decisions equal the golden file', async () => {
  const params = { risePercent: 10 }
  await matchGolden(strategy, { tape: 'strategies/first.ndjson', golden: 'strategies/first.golden.jsonl', params })
})

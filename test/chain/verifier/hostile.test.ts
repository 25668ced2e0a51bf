import { expect, test } from 'vitest'
import { runs } from '../../support/runs.ts'
import { verifyDraft } from './draft.ts'
import { FAMILIES, spoiled } from './hostile.ts'

/**
 * The number of attacking transactions of each kind. `npm run properties -- --times 50 test/chain/verifier/hostile`
 * tests all 1,000.
 */
const EACH = runs(20)
const SEED = Number(process.env.SLUICE_SEED ?? 1)

test('there are at least 40 kinds of attacks', () => {
  expect(Object.keys(FAMILIES).length).toBeGreaterThanOrEqual(40)
})

test.each(Object.entries(FAMILIES))(`refused, ${EACH} times: %s`, (name, { code }) => {
  for (let count = 0; count < EACH; count++) {
    const seed = SEED * 100_003 + count
    const codes = verifyDraft(spoiled(name, seed)).refusals.map((refusal) => refusal.code)
    expect(codes, `seed ${seed}`).toContain(code)
  }
})

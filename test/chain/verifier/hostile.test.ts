import { expect, test } from 'vitest'
import { runs } from '../../support/runs.ts'
import { verifyDraft } from './draft.ts'
import { FAMILIES, spoiled } from './hostile.ts'

/** Number of mutants of each family. `npm run properties -- --times 50 test/chain/verifier/hostile` tests the full
 *  corpus of 1,000. */
const EACH = runs(20)
const SEED = Number(process.env.SLUICE_SEED ?? 1)

test('the corpus has at least 40 families', () => {
  expect(Object.keys(FAMILIES).length).toBeGreaterThanOrEqual(40)
})

test.each(Object.entries(FAMILIES))(`refused, ${EACH} times: %s`, (name, { code }) => {
  for (let count = 0; count < EACH; count++) {
    const seed = SEED * 100_003 + count
    const codes = verifyDraft(spoiled(name, seed)).refusals.map((refusal) => refusal.code)
    expect(codes, `seed ${seed}`).toContain(code)
  }
})

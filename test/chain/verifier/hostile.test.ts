import { expect, test } from 'vitest'
import { runs } from '../../support/runs.ts'
import { verifyDraft } from './draft.ts'
import { FAMILIES, spoiled } from './hostile.ts'

/**
 * The number of transactions with each kind of attack. `npm run properties -- --times 50 test/chain/verifier/hostile`
 * tests 1,000 of each kind.
 */
const EACH = runs(20)
const SEED = Number(process.env.SLUICE_SEED ?? 1)

test('there are at least 40 kinds of attacks', () => {
  expect(Object.keys(FAMILIES).length).toBeGreaterThanOrEqual(40)
})

test.each(Object.entries(FAMILIES))(
  `the verifier refuses each of ${EACH} transactions with this attack: %s`,
  (name, { code }) => {
    for (let count = 0; count < EACH; count++) {
      const seed = SEED * 100_003 + count
      const codes = verifyDraft(spoiled(name, seed)).refusals.map((refusal) => refusal.code)
      expect(codes, `seed ${seed}`).toContain(code)
    }
  },
)

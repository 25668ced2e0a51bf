import { expect, test } from 'vitest'
import { verifyDraft } from './draft.ts'
import { FAMILIES, spoiled } from './hostile.ts'

/** The whole corpus is 1,000 of each: SLUICE_MUTANTS=1000. */
const EACH = Number(process.env.SLUICE_MUTANTS ?? 60)
const SEED = Number(process.env.SLUICE_SEED ?? 1)

test('there are as many families as were promised', () => {
  expect(Object.keys(FAMILIES).length).toBeGreaterThanOrEqual(40)
})

test.each(Object.entries(FAMILIES))(`refused, ${EACH} times: %s`, (name, { code }) => {
  for (let count = 0; count < EACH; count++) {
    const seed = SEED * 100_003 + count
    const codes = verifyDraft(spoiled(name, seed)).refusals.map((refusal) => refusal.code)
    expect(codes, `seed ${seed}`).toContain(code)
  }
})

import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { check, NEVER_DECIDED } from './checker.ts'
import { MUTANTS } from './mutants.ts'
import { protocol } from './protocol.ts'
import type { Case } from './scenario.ts'
import { LARGE } from './scenarios.ts'

test.each(MUTANTS)('The checker detects the deliberate error %s.', (mutant, { breaks, in: scenario }) => {
  const { violation } = check(protocol({ ...scenario, mutant }))
  expect(violation?.property).toBe(breaks)
  expect(brokenBy({ ...scenario, mutant }, violation?.trace ?? [])).toBe(breaks)
})

test('In every scenario that detects a deliberate error, the protocol without the error is correct.', () => {
  const scenarios = [...MUTANTS.map(([, mutant]) => mutant.in), ...Object.values(LARGE)]
  const others = scenarios.filter((scenario, index) => {
    const first = scenarios.findLastIndex((other) => isDeepStrictEqual(other, scenario))
    return first === index && index < MUTANTS.length
  })
  expect(others.length).toBeGreaterThan(10)
  for (const scenario of others) expect(check(protocol(scenario)).violation, JSON.stringify(scenario)).toBeUndefined()
})

/** Returns the property that is broken at the end of the trace. */
function brokenBy(scenario: Case, trace: readonly string[]): string | undefined {
  const model = protocol(scenario)
  let state = model.initial()
  for (const name of trace) {
    const step = model.steps(state).find((one) => one.name === name)
    expect(step, name).toBeDefined()
    if (step !== undefined) state = step.next
  }
  return model.broken(state, model.steps(state)) ?? (model.isDecided(state) ? undefined : NEVER_DECIDED)
}

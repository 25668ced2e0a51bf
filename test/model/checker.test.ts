import { expect, test } from 'vitest'
import { check, type Model, NEVER_DECIDED, type Step } from './checker.ts'

/**
 * Returns a state machine whose states are words. Each step is written as its kind and its next state, for example
 * `duty:b`, `chance:c` or `fault:d`.
 */
function machine(steps: Readonly<Record<string, readonly string[]>>, broken: readonly string[] = []): Model<string> {
  return {
    initial: () => 'start',
    key: (state) => state,
    isDecided: (state) => state === 'decided',
    broken: (state) => (broken.includes(state) ? `in ${state}` : undefined),
    steps: (state) =>
      (steps[state] ?? []).map((step) => {
        const [kind, next] = step.split(':') as [Step<string>['kind'], string]
        return { kind, next, name: `to ${next}`, group: next }
      }),
  }
}

test('A state machine that reaches a decided state is correct, and every state is counted once.', () => {
  const steps = { start: ['duty:left', 'duty:right'], left: ['duty:decided'], right: ['duty:decided'] }
  expect(check(machine(steps))).toEqual({ states: 4, steps: 4 })
})

test('The trace to a state that breaks a property is the shortest one.', () => {
  const steps = { start: ['chance:a', 'chance:b'], a: ['chance:c'], c: ['fault:bad'], b: ['fault:bad'] }
  expect(check(machine(steps, ['bad'])).violation).toEqual({ property: 'in bad', trace: ['to b', 'to bad'] })
})

test('A state that only a fault can leave is never decided, which is a violation.', () => {
  const steps = { start: ['chance:decided', 'chance:stuck'], stuck: ['fault:decided'] }
  expect(check(machine(steps)).violation).toEqual({ property: NEVER_DECIDED, trace: ['to stuck'] })
})

test('An infinite cycle is a violation if no duty leads out of it.', () => {
  const steps = { start: ['duty:turn'], turn: ['duty:start', 'chance:decided'] }
  expect(check(machine(steps)).violation?.property).toBe(NEVER_DECIDED)
})

test('An infinite cycle is no violation if a duty stays possible in it, because that duty must happen.', () => {
  const steps = { start: ['duty:turn', 'duty:decided'], turn: ['duty:start', 'duty:decided'] }
  expect(check(machine(steps)).violation).toBeUndefined()
})

test('A duty that is possible only sometimes in a cycle need not happen.', () => {
  const steps = { start: ['duty:turn', 'duty:decided'], turn: ['duty:start'] }
  expect(check(machine(steps)).violation?.property).toBe(NEVER_DECIDED)
})

test('From a state after a fault, a decision must be reached without another fault.', () => {
  const steps = { start: ['duty:decided', 'fault:down'], down: ['duty:up'], up: ['duty:decided'] }
  expect(check(machine(steps)).violation).toBeUndefined()
})

test('Too many states are an error, not a result.', () => {
  const steps = { start: ['duty:a', 'duty:b', 'duty:decided'] }
  expect(() => check(machine(steps), 2)).toThrow('more than 2 states')
})

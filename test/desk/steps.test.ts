import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Steps } from '../../src/desk/steps.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Adds a step for each name, and returns the names of the steps that have run so far. */
function ran(steps: Steps, ...names: string[]): string[] {
  const seen: string[] = []
  for (const name of names) steps.add(() => void seen.push(name))
  return seen
}

test('each step runs after a pause of 1 ms', () => {
  const steps = new Steps()
  const seen = ran(steps, 'a', 'b')
  expect(seen).toEqual([])
  vi.advanceTimersByTime(1)
  expect(seen).toEqual(['a'])
  vi.advanceTimersByTime(1)
  expect(seen).toEqual(['a', 'b'])
  expect(vi.getTimerCount()).toBe(0)
  const later = ran(steps, 'c')
  expect(later).toEqual([])
  vi.advanceTimersByTime(1)
  expect(later).toEqual(['c'])
})

test('a step that another step adds runs after those that were added before', () => {
  const steps = new Steps()
  const seen: string[] = []
  steps.add(() => {
    seen.push('a')
    steps.add(() => void seen.push('c'))
  })
  steps.add(() => void seen.push('d'))
  steps.add(() => void seen.push('e'))
  vi.advanceTimersByTime(10)
  expect(seen).toEqual(['a', 'd', 'e', 'c'])
})

test('no step begins while an order waits for its commit, but each step waits for at most 5 ms', () => {
  const committing = new Int32Array(1)
  const steps = new Steps(committing)
  committing.fill(1)
  const seen = ran(steps, 'a', 'b')
  vi.advanceTimersByTime(5)
  expect(seen).toEqual([])
  vi.advanceTimersByTime(1)
  expect(seen).toEqual(['a'])
  vi.advanceTimersByTime(2)
  committing.fill(0)
  expect(seen).toEqual(['a'])
  vi.advanceTimersByTime(1)
  expect(seen).toEqual(['a', 'b'])
})

test('clear drops the steps that have not begun, and later steps run as usual', () => {
  const steps = new Steps()
  const seen = ran(steps, 'a', 'b', 'c')
  vi.advanceTimersByTime(1)
  steps.clear()
  vi.advanceTimersByTime(10)
  expect(seen).toEqual(['a'])
  const later = ran(steps, 'd')
  vi.advanceTimersByTime(1)
  expect(later).toEqual(['d'])
})

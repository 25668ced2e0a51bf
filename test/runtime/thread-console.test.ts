import { inspect } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { takeConsole } from '../../src/runtime/harden.ts'

const { ...own } = console
afterEach(() => void Object.assign(console, own))

test('each call of the console is one short line, at most 20 lines are written per second, and dropped lines are counted', () => {
  const said: string[] = []
  let now = 500
  takeConsole(
    (text) => void said.push(text),
    () => now,
  )
  const odd = {
    [inspect.custom]: () => {
      throw new Error()
    },
  }
  console.log('x'.repeat(10_000), 1)
  console.error({ a: [1n] })
  console.table(odd)
  for (let line = 3; line < 30; line++) console.info(`line ${line}`)
  now = 1_000
  console.warn('again')
  expect(said[0]).toBe('x'.repeat(500))
  expect(said.slice(1, 4)).toEqual(['{ a: [ 1n ] }', 'a value that cannot be shown', 'line 3'])
  expect(said.slice(19)).toEqual(['line 19', 'again (10 earlier lines were dropped)'])
})

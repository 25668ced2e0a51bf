import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineStrategy } from '../../../src/engine/strategy.ts'
import { StrategyRig } from '../../../src/testing/strategy-rig.ts'

const attempts: [string, (token: object) => void][] = [
  ['the state', (token) => Object.defineProperty(token, 'state', { get: () => ({}) })],
  [
    'the state in the prototype',
    (token) => Object.defineProperty(Object.getPrototypeOf(token), 'state', { get: () => 1 }),
  ],
  [
    'the state, by a computed key,',
    (token) => Object.defineProperty(token, ['sta', 'te'].join(''), { get: () => ({}) }),
  ],
  ['the mint', (token) => Object.defineProperty(token, 'mint', { get: () => '' })],
  ['the property `held`', (token) => Object.defineProperty(token, 'held', { get: () => undefined })],
  ['a new property', (token) => Object.defineProperty(token, 'mine', { get: () => 1 })],
]

test.each(attempts)('a strategy ends if it defines a getter or setter for %s of a token', (_what, define) => {
  const strategy = defineStrategy({
    ...{ name: 'defining', about: '', params: z.object({}), keys: ['trades'], token: () => ({}) },
    start: () => ({ onTrade: (_trade, token) => define(token) }),
  })
  const rig = new StrategyRig(strategy, {})
  expect(() => rig.trade({ price: 1e-7, sol: 1 })).toThrow(/TypeError: Cannot (re)?define property/)
})

test('a strategy may replace the state of a token, and the next event has the new state', () => {
  const seen: unknown[] = []
  const strategy = defineStrategy<unknown, { count: number }>({
    ...{ name: 'counting', about: '', params: z.object({}), keys: ['trades'], token: () => ({ count: 0 }) },
    start: () => ({
      onTrade(_trade, token) {
        seen.push(token.state.count)
        token.state = { count: token.state.count + 1 }
      },
    }),
  })
  const rig = new StrategyRig(strategy, {})
  for (let trade = 0; trade < 3; trade++) rig.trade({ price: 1e-7, sol: 1 })
  expect(seen).toEqual([0, 1, 2])
})

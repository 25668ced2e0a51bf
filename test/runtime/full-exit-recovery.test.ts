import { expect, test } from 'vitest'
import { anExit, DEAD, MINT, run } from '../support/exit-scripts.ts'
import { aBuy, anOrder, GatewayWorld } from '../support/gateway-world.ts'
import { FILL, only, refused } from '../support/outcomes.ts'

test('attempts that are out are looked up, and it goes on to five', () => {
  const exit = anExit()
  const world = run(exit, DEAD, DEAD, DEAD, DEAD, DEAD, FILL)
  world.settle(6_500)
  expect(world.executed).toHaveLength(3)
  world.crash(1, 500)
  world.settle(2_999)
  expect(world.executed).toHaveLength(3)
  world.settle(9_000)
  expect(world.executed.map(({ slippagePercent }) => slippagePercent)).toEqual([5, 15, 30, 50, 50])
  world.settle()
  expect(world.stateOf(exit)).toBe('filled')
  expect(world.unprovedOf(exit)).toBe(0)
})

test('one that is filled keeps the buy lane closed until the others are proved', () => {
  const exit = anExit()
  const world = run(exit, DEAD, FILL)
  world.settle(17_000) // the second is final
  expect(world.stateOf(exit)).toBe('filled')
  expect(world.unprovedOf(exit)).toBe(1)
  world.crash(1)
  world.settle(100_000)
  expect(() => world.submit(aBuy({ mint: MINT, notAfter: 1e9 }))).toThrow('buys what an exit may still sell')
  world.settle(100_000)
  expect(world.unprovedOf(exit)).toBe(0)
  world.submit(aBuy({ mint: MINT, notAfter: 1e9 }))
  expect(world.executed.filter(({ side }) => side === 'sell')).toHaveLength(2)
})

test('a partial sale and the full exit beside it hold the lane together', () => {
  const part = anOrder({ mint: MINT, size: { kind: 'percent', percent: 50 } })
  const world = run(part, DEAD)
  const exit = anExit()
  world.submit(exit)
  world.settle(1_000)
  world.crash(1)
  expect(() => world.submit(anExit())).toThrow('second open order')
  world.script = () => FILL
  world.settle()
  expect([world.stateOf(part), world.stateOf(exit)]).toEqual(['not_executed', 'filled'])
  world.submit(anExit())
})

test('a buy that waited while the exit went out is refused, though the process died before it could say so', () => {
  const world = new GatewayWorld()
  world.script = ({ side }) => (side === 'buy' ? only(refused('RATE_LIMIT', 'wait', 5_000)) : FILL)
  world.commitMs = 5
  const buy = aBuy({ mint: MINT, notAfter: 1e9 })
  world.submit(buy)
  world.settle(200) // between two tries
  world.submit(anExit())
  world.crash(0.5)
  world.settle()
  expect(world.told(buy)).toEqual(['working', 'accepted RATE_LIMIT', 'refused EXIT_UNPROVED'])
  expect(world.executed.map(({ side }) => side)).toEqual(['buy', 'sell'])
})

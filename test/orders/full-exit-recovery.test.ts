import { describe, expect, test } from 'vitest'
import type { Attempt } from '../../src/orders/attempt.ts'
import { anExit, DEAD, MINT, run } from '../support/exit-scripts.ts'
import { aBuy, anOrder, fillOf, GatewayWorld } from '../support/gateway-world.ts'
import { FILL, only, refused } from '../support/outcomes.ts'

test('after a restart, open attempts of a full exit are looked up, and it is repeated until it has five attempts', () => {
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

test('a filled full exit prevents buys of its mint until its other attempts are proved', () => {
  const exit = anExit()
  const world = run(exit, DEAD, FILL)
  world.settle(17_000) // the fill of the second attempt is final
  expect(world.stateOf(exit)).toBe('filled')
  expect(world.unprovedOf(exit)).toBe(1)
  world.crash(1)
  world.settle(100_000)
  expect(() => world.submit(aBuy({ mint: MINT, notAfter: 1e9 }))).toThrow(
    'buys a mint that an open full exit may still sell',
  )
  world.settle(100_000)
  expect(world.unprovedOf(exit)).toBe(0)
  world.submit(aBuy({ mint: MINT, notAfter: 1e9 }))
  expect(world.executed.filter(({ side }) => side === 'sell')).toHaveLength(2)
})

describe('an execution that any of several attempts may have made', () => {
  const outcome = (attempt: Attempt, final: boolean) => fillOf(attempt, final)

  test('if any of several attempts may have executed, the order is filled at once, no attempt ends, and buys are allowed once each attempt is proved', () => {
    const exit = anExit()
    const world = run(exit, DEAD, DEAD)
    world.settle(4_000)
    const { attempt, done } = world.gateway.standIn(world.executed[0] as Attempt)
    done(outcome(attempt, false))
    expect([world.stateOf(exit), world.unprovedOf(exit)]).toEqual(['filled', 3])
    done(outcome(attempt, true))
    expect([world.stateOf(exit), world.unprovedOf(exit)]).toEqual(['filled', 2])
    world.settle(150_000)
    expect(() => world.submit(aBuy({ mint: MINT, notAfter: 1e9 }))).toThrow(
      'buys a mint that an open full exit may still sell',
    )
    world.settle()
    expect([world.statesOf(exit).at(-1), world.unprovedOf(exit)]).toEqual(['filled', 0])
    expect(world.executed).toHaveLength(2)
    world.submit(aBuy({ mint: MINT, notAfter: 1e9 }))
  })

  test.each([false, true])(
    'an execution that several attempts may have made fills the full exit also after a crash (final before the crash: %s)',
    (final) => {
      const exit = anExit()
      const world = run(exit, DEAD, DEAD)
      world.settle(4_000)
      const { attempt, done } = world.gateway.standIn(world.executed[0] as Attempt)
      done(outcome(attempt, false))
      if (final) done(outcome(attempt, true))
      world.crash(1)
      world.settle(10_000)
      expect([world.stateOf(exit), world.executed.length]).toEqual(['filled', 2])
      world.settle()
      expect([world.stateOf(exit), world.unprovedOf(exit), world.executed.length]).toEqual(['filled', 0, 2])
    },
  )

  test('a fork that reverses the execution reopens the exit, which is then repeated', () => {
    const exit = anExit()
    const world = run(exit, DEAD, DEAD, FILL)
    world.settle(4_000)
    const { attempt, done } = world.gateway.standIn(world.executed[0] as Attempt)
    done(outcome(attempt, false))
    world.settle(2_000)
    done({ kind: 'unknown', reason: 'a fork reversed it', signature: `s${attempt.id}` })
    expect(world.statesOf(exit).at(-1)).toBe('working ANSWER_LOST')
    world.later(100_000, () => done({ kind: 'absent' }))
    world.settle()
    expect(world.executed).toHaveLength(3)
    expect([world.stateOf(exit), world.unprovedOf(exit)]).toEqual(['filled', 0])
  })
})

test('after a restart, a partial sale and the full exit that was sent after it may both be open', () => {
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

test('a waiting buy that a full exit overtook is refused after a restart, if the process died before it reported the refusal', () => {
  const world = new GatewayWorld()
  world.script = ({ side }) => (side === 'buy' ? only(refused('RATE_LIMIT', 'wait', 5_000)) : FILL)
  world.commitMs = 5
  const buy = aBuy({ mint: MINT, notAfter: 1e9 })
  world.submit(buy)
  world.settle(200) // the buy now waits for its next attempt
  world.submit(anExit())
  world.crash(0.5)
  world.settle()
  expect(world.statesOf(buy)).toEqual(['working', 'accepted RATE_LIMIT', 'refused EXIT_UNPROVED'])
  expect(world.executed.map(({ side }) => side)).toEqual(['buy', 'sell'])
})

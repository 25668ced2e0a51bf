import { describe, expect, test } from 'vitest'
import { lamports } from '../../src/base/units.ts'
import type { Order } from '../../src/engine/order.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import { anExit, attempts, DEAD, EMPTY, EXECUTED, MINT, run, SLIPPED } from '../support/exit-scripts.ts'
import { aBuy, anOrder, fillOf, GatewayWorld, type Script } from '../support/gateway-world.ts'
import { absent, acked, FILL, lost, only, refused, unsent } from '../support/outcomes.ts'

const poor = only(refused('INSUFFICIENT_BALANCE', 'never'))
const slippage = only(refused('SLIPPAGE_EXCEEDED', 'slippage'))
const throttled = only(refused('RATE_LIMIT', 'wait', 1_000))
const lateNo: Script = [[4_000, refused('SLIPPAGE_EXCEEDED', 'slippage')]]
const once = '5 % at 0'
const five = '5 % at 0, 15 % at 3000, 30 % at 6000, 50 % at 9000, 50 % at 12000'

describe('a full exit', () => {
  // biome-ignore format: a case a line
  test.each<[what: string, scripts: Script[], attempts: string, end: string]>([
    ['that fills in time goes once', [FILL], once, 'filled'],
    ['whose answer is lost goes again, a step further', [DEAD, FILL], '5 % at 0, 15 % at 3000', 'filled'],
    ['that is acked and not seen goes again', [[[100, acked], [200_000, absent]], FILL], '5 % at 0, 15 % at 3000', 'filled'],
    ['of which nothing is known has five attempts out, not more, and goes on when one is proved', [DEAD, DEAD, DEAD, DEAD, DEAD, FILL], `${five}, 50 % at 203000`, 'filled'],
    ['of which nothing is out any more has ended', [[[200, absent]]], once, 'not_executed'],
    ['that executed with its answer lost: the others find nothing to sell', [EXECUTED, EMPTY], '5 % at 0, 15 % at 3000, 30 % at 6000, 50 % at 9000', 'filled'],
    ['of which two execute has two fills', [EXECUTED, FILL], '5 % at 0, 15 % at 3000', 'filled'],
    ['that reverts for slippage goes again when that is seen, not when it is final', [SLIPPED, FILL], '5 % at 0, 15 % at 1500', 'filled'],
    ['that reverts for slippage on top of its ladder goes again after a while', [SLIPPED, SLIPPED, SLIPPED, SLIPPED, FILL], '5 % at 0, 15 % at 1500, 30 % at 3000, 50 % at 4500, 50 % at 7500', 'filled'],
    ['that reverts, and reverts: each proof doubles the wait, then it ends', [EMPTY], `${five}, 50 % at 19000`, 'failed'],
    ['that is refused while another is unknown goes again, later each time', [DEAD, poor], '5 % at 0, 15 % at 3000, 30 % at 6000, 50 % at 12000, 50 % at 24000, 50 % at 48000, 50 % at 96000, 50 % at 192000', 'not_executed'],
    ['that is refused for slippage while another is unknown climbs at once', [DEAD, slippage, FILL], '5 % at 0, 15 % at 3000, 30 % at 3100', 'filled'],
    ['that is refused after another has followed leaves it at that one', [lateNo, DEAD, FILL], '5 % at 0, 15 % at 3000, 30 % at 6000', 'filled'],
    ['that is not sent while another is unknown is sent again', [DEAD, only(unsent), FILL], '5 % at 0, 15 % at 3000, 15 % at 3600', 'filled'],
    ['that is throttled while another is unknown waits as it is told', [DEAD, throttled, FILL], '5 % at 0, 15 % at 3000, 15 % at 4100', 'filled'],
    ['that is refused and has nothing out ends as every other order', [poor], once, 'failed'],
  ])('%s', (_what, scripts, expected, end) => {
    const exit = anExit()
    const world = run(exit, ...scripts)
    world.settle()
    expect(attempts(world)).toBe(expected)
    expect(world.stateOf(exit)).toBe(end)
    expect(world.unprovedOf(exit)).toBe(0)
    expect(world.limiter.status()).toMatchObject({ held: 0, waiting: 0 })
    world.submit(anExit()) // its lane is free
  })

  test('with tokens in the wallet that are not the position waits for proof', () => {
    const world = run(anExit({ repeatMs: null }), DEAD, FILL)
    world.settle()
    expect(attempts(world)).toBe(once)
  })

  test('of a part waits for proof, whatever it asks for', () => {
    const world = run(anExit({ size: { kind: 'percent', percent: 99 } }), DEAD, FILL)
    world.settle()
    expect(attempts(world)).toBe(once)
  })

  test('pays the fee of its step, the last one from then on', () => {
    const fees = [100_000, 300_000].map((fee) => lamports(fee))
    const world = run(anExit({ priorityFeeLadder: fees }), DEAD, DEAD, DEAD, FILL)
    world.settle(10_000)
    expect(world.executed.map(({ priorityFeeLamports }) => priorityFeeLamports)).toEqual([
      100_000, 300_000, 300_000, 300_000,
    ])
  })

  test('says how many attempts are not proved with everything that it says, and each of its fills', () => {
    const exit = anExit()
    const world = run(exit, EXECUTED, FILL)
    world.settle()
    const said = world.heard.map(({ state, code, fill, unproved }) =>
      [state, code, fill && `${fill.attemptId.split('.')[1]} ${fill.final ? 'final' : 'seen'}`, unproved].filter(
        (part) => part !== undefined && part !== '',
      ),
    )
    expect(said.map((parts) => parts.join(' '))).toEqual([
      'working 1',
      'working 2',
      'filled 2 seen 2',
      'filled 1 seen 2',
      'filled 2 final 1',
      'filled 1 final 0',
    ])
  })

  test('makes each attempt durable before it is sent, with a slot of its own, ahead of entries', () => {
    const world = new GatewayWorld(3)
    world.commitMs = 40
    world.script = ({ mint }) => (mint === MINT ? DEAD : FILL)
    for (const order of [anExit(), anOrder(), anOrder()]) world.submit(order)
    world.settle(59_000)
    world.submit(aBuy({ notAfter: 1e9 }))
    world.settle(1_179)
    expect(world.executed).toHaveLength(3)
    world.settle(1) // two slots are free and durable
    expect(world.executed.slice(3).map(({ side }) => side)).toEqual(['sell', 'buy'])
  })

  test('that waits for a slot when the fill is seen is not sent', () => {
    const world = new GatewayWorld(1)
    world.script = () => EXECUTED
    world.submit(anExit())
    world.settle()
    expect(attempts(world)).toBe(once)
  })

  test('whose repetition is being made durable when the fill is seen is not sent', () => {
    const world = run(anExit(), [[3_020, (attempt) => fillOf(attempt, true)]])
    world.settle(2_000)
    world.commitMs = 40
    world.settle()
    expect(attempts(world)).toBe(once)
    expect(world.limiter.status().held).toBe(0)
  })

  test('whose fill a fork takes back goes again, unless another has executed', () => {
    const forked: Script = [...FILL.slice(0, 2), [2_500, lost], [200_000, absent]]
    const alone = anExit()
    const world = run(alone, forked, FILL)
    world.settle()
    expect(attempts(world)).toBe('5 % at 0, 15 % at 5500')
    expect(world.told(alone).slice(0, 4)).toEqual(['working', 'filled', 'working REVERSED', 'working ANSWER_LOST'])
    const both = anExit()
    const other = run(both, EXECUTED, [...FILL.slice(0, 2), [8_500, lost], [200_000, absent]])
    other.settle()
    expect(other.told(both).filter((state) => state.startsWith('working'))).toEqual(['working', 'working'])
    expect(other.stateOf(both)).toBe('filled')
  })

  test('of which an attempt executed late has sold: it goes no more, and the others are waited for', () => {
    const exit = anExit()
    const world = run(exit, DEAD, poor, DEAD)
    world.settle(3_200)
    const [first, refusedOne] = world.executed
    expect(refusedOne?.id).toBe(`${exit.id}.2`)
    const outcome = fillOf({ ...(refusedOne as Attempt), state: 'refused' }, true)
    if (outcome.kind !== 'filled') throw new Error('no fill')
    world.gateway.lateFill({ ...(refusedOne as Attempt), state: 'refused' }, outcome.fill, 'LATE_FILL')
    expect([world.stateOf(exit), world.unprovedOf(exit)]).toEqual(['filled', 1])
    world.settle()
    expect(world.executed.map(({ id }) => id)).toEqual([first?.id, refusedOne?.id])
    expect([world.stateOf(exit), world.unprovedOf(exit)]).toEqual(['filled', 0])
    world.submit(aBuy({ mint: MINT, notAfter: 1e9 }))
  })

  test('is held only when nothing else of it can decide', () => {
    const undecided: Script = [
      [1_000, lost],
      [2_000, { kind: 'undecided', reason: 'the balance contradicts the list' }],
    ]
    const exit = anExit()
    const world = run(exit, undecided)
    world.settle(13_900)
    expect(world.told(exit)).not.toContain('held HELD')
    world.settle()
    expect(world.executed).toHaveLength(5)
    expect(world.stateOf(exit)).toBe('held')
  })
})

describe('the buy lane of a full exit', () => {
  test('is closed until all of its attempts are proved: what is bought in it is a bug', () => {
    const world = run(anExit(), EXECUTED, FILL)
    world.settle(19_999) // both were seen, one is not final
    expect(() => world.submit(aBuy({ mint: MINT, notAfter: 1e9 }))).toThrow('buys what an exit may still sell')
    world.settle(1)
    world.submit(aBuy({ mint: MINT, notAfter: 1e9 }))
  })

  test('ends the buys that wait in it', () => {
    const world = new GatewayWorld()
    const buy = aBuy({ mint: MINT, notAfter: 1e9 })
    world.script = ({ side }) => (side === 'buy' ? throttled : FILL)
    world.submit(buy)
    world.settle(200) // between two tries
    world.submit(anExit())
    expect(world.told(buy)).toEqual(['working', 'accepted RATE_LIMIT', 'refused EXIT_UNPROVED'])
  })

  test('ends a buy that was out and is refused', () => {
    const world = new GatewayWorld()
    const buy = aBuy({ mint: MINT, notAfter: 1e9 })
    world.script = ({ side }) => (side === 'buy' ? throttled : FILL)
    world.submit(buy)
    world.submit(anExit())
    world.settle()
    expect(world.told(buy)).toEqual(['working', 'refused EXIT_UNPROVED'])
  })

  test('ends a buy whose commit is under way: it is not sent', () => {
    const world = new GatewayWorld()
    world.commitMs = 5
    world.script = () => FILL
    const buy = aBuy({ mint: MINT, notAfter: 1e9 })
    world.submit(buy)
    world.submit(anExit())
    world.settle()
    expect(world.told(buy)).toEqual(['working', 'refused EXIT_UNPROVED'])
    expect(world.executed.map(({ side }) => side)).toEqual(['sell'])
    expect(world.attempts[0]).toMatchObject({ state: 'unsent', code: 'EXIT_UNPROVED' })
  })

  test('ends a buy that is refused once the exit is over', () => {
    const world = new GatewayWorld()
    const buy = aBuy({ mint: MINT, notAfter: 1e9, time: 1_000 })
    world.script = ({ side }) => (side === 'buy' ? [[40_000, refused('RATE_LIMIT', 'wait')]] : FILL)
    world.submit(buy)
    const exit = anExit()
    world.submit(exit)
    world.settle(30_000)
    expect(world.unprovedOf(exit)).toBe(0)
    world.settle()
    expect(world.told(buy)).toEqual(['working', 'refused EXIT_UNPROVED'])
    expect(world.executed).toHaveLength(2)
  })
})

describe('the sell lane', () => {
  const part = (): Order => anOrder({ mint: MINT, size: { kind: 'percent', percent: 50 } })

  test('a full exit that reverts because a partial sale in doubt lands first is told, and goes again 3 s after it went, once', () => {
    const world = new GatewayWorld()
    const sold: Script = [[2_000, lost], ...FILL.slice(1)]
    world.script = ({ size }, number) => (size.kind === 'percent' ? sold : number === 1 ? EMPTY : FILL)
    const [first, exit] = [part(), anExit()]
    world.submit(first)
    world.submit(exit)
    world.settle()
    const times = world.executed.map(({ orderId, armedAt }) => [orderId, armedAt - 1_000])
    expect(times).toEqual([
      [first.id, 0],
      [exit.id, 0],
      [exit.id, 3_000],
    ])
    expect(world.told(exit)).toContain('working REVERTED')
    expect([world.stateOf(first), world.stateOf(exit), world.unprovedOf(exit)]).toEqual(['filled', 'filled', 0])
  })

  test('takes a full exit beside a partial sale, and nothing else', () => {
    const world = run(part(), DEAD, FILL)
    world.submit(anExit())
    expect(() => world.submit(anExit())).toThrow('second open order')
    expect(() => world.submit(part())).toThrow('second open order')
    world.settle(1_500) // the exit is filled, the partial sale is not decided
    expect(() => world.submit(part())).toThrow('second open order')
    world.settle()
    world.submit(part())
  })

  test('does not take a partial sale beside a full exit', () => {
    const world = run(anExit(), DEAD)
    expect(() => world.submit(part())).toThrow('second open order')
  })
})

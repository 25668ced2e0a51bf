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
  // biome-ignore format: one case on each line
  test.each<[what: string, scripts: Script[], attempts: string, end: string]>([
    ['a full exit that fills before its repeat is due is sent once', [FILL], once, 'filled'],
    ['a full exit whose answer was lost is repeated with the next slippage', [DEAD, FILL], '5 % at 0, 15 % at 3000', 'filled'],
    ['a full exit that the service acknowledged, but that is not seen on the chain, is repeated', [[[100, acked], [200_000, absent]], FILL], '5 % at 0, 15 % at 3000', 'filled'],
    ['a full exit without evidence has at most five open attempts, and is repeated again when one of them is proved absent', [DEAD, DEAD, DEAD, DEAD, DEAD, FILL], `${five}, 50 % at 203000`, 'filled'],
    ['a full exit ends when its only attempt is proved absent', [[[200, absent]]], once, 'not_executed'],
    ['if a full exit executed and its answer was lost, its repeats find no tokens to sell', [EXECUTED, EMPTY], '5 % at 0, 15 % at 3000, 30 % at 6000, 50 % at 9000', 'filled'],
    ['a full exit with two executions has two fills', [EXECUTED, FILL], '5 % at 0, 15 % at 3000', 'filled'],
    ['a full exit that reverts for slippage is repeated when the revert is confirmed, before it is final', [SLIPPED, FILL], '5 % at 0, 15 % at 1500', 'filled'],
    ['a full exit that reverts for slippage at its last slippage is repeated after a delay', [SLIPPED, SLIPPED, SLIPPED, SLIPPED, FILL], '5 % at 0, 15 % at 1500, 30 % at 3000, 50 % at 4500, 50 % at 7500', 'filled'],
    ['a full exit without tokens to sell ends after the reverts of its attempts are final', [EMPTY], `${five}, 50 % at 19000`, 'failed'],
    ['a full exit that is refused while another attempt is unknown is repeated with growing delays', [DEAD, poor], '5 % at 0, 15 % at 3000, 30 % at 6000, 50 % at 12000, 50 % at 24000, 50 % at 48000, 50 % at 96000, 50 % at 192000', 'not_executed'],
    ['a full exit that is refused for slippage while another attempt is unknown is retried at once with the next slippage', [DEAD, slippage, FILL], '5 % at 0, 15 % at 3000, 30 % at 3100', 'filled'],
    ['a full exit that is refused after its repeat was sent is not retried for that refusal', [lateNo, DEAD, FILL], '5 % at 0, 15 % at 3000, 30 % at 6000', 'filled'],
    ['a full exit whose attempt was not sent is retried while another attempt is unknown', [DEAD, only(unsent), FILL], '5 % at 0, 15 % at 3000, 15 % at 3600', 'filled'],
    ['a full exit that gets a 429 while another attempt is unknown waits for the Retry-After', [DEAD, throttled, FILL], '5 % at 0, 15 % at 3000, 15 % at 4100', 'filled'],
    ['a full exit that is refused without other open attempts ends like any order', [poor], once, 'failed'],
  ])('%s', (_what, scripts, expected, end) => {
    const exit = anExit()
    const world = run(exit, ...scripts)
    world.settle()
    expect(attempts(world)).toBe(expected)
    expect(world.stateOf(exit)).toBe(end)
    expect(world.unprovedOf(exit)).toBe(0)
    expect(world.limiter.status()).toMatchObject({ held: 0, waiting: 0 })
    world.submit(anExit()) // the lane of the exit is free, so another exit is accepted
  })

  test('a full exit is not repeated without proof if the wallet holds tokens outside of the position', () => {
    const world = run(anExit({ repeatMs: null }), DEAD, FILL)
    world.settle()
    expect(attempts(world)).toBe(once)
  })

  test('an exit of a part of the balance is not repeated without proof', () => {
    const world = run(anExit({ size: { kind: 'percent', percent: 99 } }), DEAD, FILL)
    world.settle()
    expect(attempts(world)).toBe(once)
  })

  test('each attempt of a full exit pays the next priority fee, and after the last one the last fee again', () => {
    const fees = [100_000, 300_000].map((fee) => lamports(fee))
    const world = run(anExit({ priorityFeeLadder: fees }), DEAD, DEAD, DEAD, FILL)
    world.settle(10_000)
    expect(world.executed.map(({ priorityFeeLamports }) => priorityFeeLamports)).toEqual([
      100_000, 300_000, 300_000, 300_000,
    ])
  })

  test('each report of a full exit contains the number of its unproved attempts, and each fill is reported', () => {
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

  test('each attempt of a full exit is durable before it is sent, and gets its request slot before entries', () => {
    const world = new GatewayWorld(3)
    world.commitMs = 40
    world.script = ({ mint }) => (mint === MINT ? DEAD : FILL)
    for (const order of [anExit(), anOrder(), anOrder()]) world.submit(order)
    world.settle(59_000)
    world.submit(aBuy({ notAfter: 1e9 }))
    world.settle(1_179)
    expect(world.executed).toHaveLength(3)
    world.settle(1) // two request slots are free, and their records are durable
    expect(world.executed.slice(3).map(({ side }) => side)).toEqual(['sell', 'buy'])
  })

  test('a repeat of a full exit that waits for a request slot is not sent after a fill was seen', () => {
    const world = new GatewayWorld(1)
    world.script = () => EXECUTED
    world.submit(anExit())
    world.settle()
    expect(attempts(world)).toBe(once)
  })

  test('a repeat of a full exit that waits for its commit is not sent after a fill was seen', () => {
    const world = run(anExit(), [[3_020, (attempt) => fillOf(attempt, true)]])
    world.settle(2_000)
    world.commitMs = 40
    world.settle()
    expect(attempts(world)).toBe(once)
    expect(world.limiter.status().held).toBe(0)
  })

  test('a full exit whose fill is reversed is repeated, unless another attempt has executed', () => {
    const forked: Script = [...FILL.slice(0, 2), [2_500, lost], [200_000, absent]]
    const alone = anExit()
    const world = run(alone, forked, FILL)
    world.settle()
    expect(attempts(world)).toBe('5 % at 0, 15 % at 5500')
    expect(world.statesOf(alone).slice(0, 4)).toEqual(['working', 'filled', 'working REVERSED', 'working ANSWER_LOST'])
    const both = anExit()
    const other = run(both, EXECUTED, [...FILL.slice(0, 2), [8_500, lost], [200_000, absent]])
    other.settle()
    expect(other.statesOf(both).filter((state) => state.startsWith('working'))).toEqual(['working', 'working'])
    expect(other.stateOf(both)).toBe('filled')
  })

  test('a full exit that executes late is filled and not repeated, and the outcomes of its other attempts are awaited', () => {
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

  test('contradictory evidence about an attempt holds a full exit for the operator only if no other attempt can decide it', () => {
    const undecided: Script = [
      [1_000, lost],
      [2_000, { kind: 'undecided', reason: 'the balance contradicts the list of transactions' }],
    ]
    const exit = anExit()
    const world = run(exit, undecided)
    world.settle(13_900)
    expect(world.statesOf(exit)).not.toContain('held HELD')
    world.settle()
    expect(world.executed).toHaveLength(5)
    expect(world.stateOf(exit)).toBe('held')
  })
})

describe('buys of the mint of a full exit', () => {
  test('submitting a buy of the mint fails an assertion until all attempts of the full exit are proved', () => {
    const world = run(anExit(), EXECUTED, FILL)
    world.settle(19_999) // both fills were seen, but one is not final
    expect(() => world.submit(aBuy({ mint: MINT, notAfter: 1e9 }))).toThrow(
      'buys a mint that an open full exit may still sell',
    )
    world.settle(1)
    world.submit(aBuy({ mint: MINT, notAfter: 1e9 }))
  })

  test('waiting buys of a mint are refused once a full exit of the mint is accepted', () => {
    const world = new GatewayWorld()
    const buy = aBuy({ mint: MINT, notAfter: 1e9 })
    world.script = ({ side }) => (side === 'buy' ? throttled : FILL)
    world.submit(buy)
    world.settle(200) // the buy now waits for its next attempt
    world.submit(anExit())
    expect(world.statesOf(buy)).toEqual(['working', 'accepted RATE_LIMIT', 'refused EXIT_UNPROVED'])
  })

  test('a buy that the service refuses is not retried once a full exit of its mint is accepted', () => {
    const world = new GatewayWorld()
    const buy = aBuy({ mint: MINT, notAfter: 1e9 })
    world.script = ({ side }) => (side === 'buy' ? throttled : FILL)
    world.submit(buy)
    world.submit(anExit())
    world.settle()
    expect(world.statesOf(buy)).toEqual(['working', 'refused EXIT_UNPROVED'])
  })

  test('a buy that waits for its commit is not sent once a full exit of its mint is accepted', () => {
    const world = new GatewayWorld()
    world.commitMs = 5
    world.script = () => FILL
    const buy = aBuy({ mint: MINT, notAfter: 1e9 })
    world.submit(buy)
    world.submit(anExit())
    world.settle()
    expect(world.statesOf(buy)).toEqual(['working', 'refused EXIT_UNPROVED'])
    expect(world.executed.map(({ side }) => side)).toEqual(['sell'])
    expect(world.attempts[0]).toMatchObject({ state: 'unsent', code: 'EXIT_UNPROVED' })
  })

  test('a buy that a full exit overtook is not retried after a refusal, even if the exit has ended', () => {
    const world = new GatewayWorld()
    const buy = aBuy({ mint: MINT, notAfter: 1e9, time: 1_000 })
    world.script = ({ side }) => (side === 'buy' ? [[40_000, refused('RATE_LIMIT', 'wait')]] : FILL)
    world.submit(buy)
    const exit = anExit()
    world.submit(exit)
    world.settle(30_000)
    expect(world.unprovedOf(exit)).toBe(0)
    world.settle()
    expect(world.statesOf(buy)).toEqual(['working', 'refused EXIT_UNPROVED'])
    expect(world.executed).toHaveLength(2)
  })
})

describe('the sell lane', () => {
  const part = (): Order => anOrder({ mint: MINT, size: { kind: 'percent', percent: 50 } })

  test('if a partial sale with an unknown outcome lands first and makes a full exit revert, the revert is reported, and the exit is repeated once, after 3 s', () => {
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
    expect(world.statesOf(exit)).toContain('working REVERTED')
    expect([world.stateOf(first), world.stateOf(exit), world.unprovedOf(exit)]).toEqual(['filled', 'filled', 0])
  })

  test('the gateway accepts a full exit during a partial sale, and no other order', () => {
    const world = run(part(), DEAD, FILL)
    world.submit(anExit())
    expect(() => world.submit(anExit())).toThrow('second open order')
    expect(() => world.submit(part())).toThrow('second open order')
    world.settle(1_500) // the exit is filled, the partial sale is undecided
    expect(() => world.submit(part())).toThrow('second open order')
    world.settle()
    world.submit(part())
  })

  test('the gateway rejects a partial sale during a full exit', () => {
    const world = run(anExit(), DEAD)
    expect(() => world.submit(part())).toThrow('second open order')
  })
})

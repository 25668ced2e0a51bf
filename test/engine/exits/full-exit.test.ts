import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Output } from '../../../src/engine/messages.ts'
import type { Order, OrderState } from '../../../src/engine/order.ts'
import { NO_MONEY, type RecoveredMoney } from '../../../src/engine/recovered-money.ts'
import { type BuyOptions, defineStrategy, type SellOptions } from '../../../src/engine/strategy.ts'
import { botSettings, EngineRig, fillOf, orders, refusals } from '../../support/engine-rig.ts'

type Wish = BuyOptions | SellOptions
const BUY: BuyOptions = { sol: 0.1, reason: 'told to' }
const HALF: SellOptions = { percent: 50, reason: 'half' }
const ALL: SellOptions = { all: true, reason: 'all' }

/** Returns a strategy that makes the requests `wishes` in turn: one at each print with a price. */
function puppet(wishes: Wish[]) {
  return defineStrategy({
    name: 'puppet',
    about: 'makes the requests of the test',
    params: z.object({}),
    keys: ['trades'],
    start: (_params, bot) => ({
      onTrade(_trade, token) {
        const wish = token.price === undefined ? undefined : wishes.shift()
        if (wish === undefined) return
        if ('sol' in wish) bot.buy(token, wish)
        else bot.sell(token, wish)
      },
    }),
  })
}

function rigOf(wishes: Wish[], money: RecoveredMoney = NO_MONEY): EngineRig {
  return new EngineRig([puppet(wishes) as never], [botSettings('puppet', { exits: { stopLossPercent: 20 } })], money)
}

/** Returns a bot that holds tokens bought with 0.1 SOL, and then makes these requests. */
function holding(...then: Wish[]): { rig: EngineRig; tokens: bigint; wishes: Wish[] } {
  const wishes: Wish[] = [BUY]
  const rig = rigOf(wishes)
  const [buy] = orders(rig.settle(1e-6)) as [Order]
  rig.fill(buy, 1e-6)
  wishes.push(...then)
  return { rig, tokens: fillOf(buy, 1e-6, rig.now).tokens, wishes }
}

const sold = (rig: EngineRig, order: Order, tokens: bigint): Output[] =>
  rig.report(order, 'filled', { fill: fillOf(order, 0.5e-6, rig.now, { tokens }) })
const states = (outputs: readonly Output[]): string[] =>
  outputs.flatMap((output) => (output.kind === 'position' ? [output.position.state] : []))
const cancels = (outputs: readonly Output[]): string[] =>
  outputs.flatMap((output) => (output.kind === 'cancel' ? [output.orderId] : []))

it('only a full exit may be sent again without proof about its last attempt, and it reserves the fees of five attempts', () => {
  const { rig } = holding(HALF)
  const [half] = orders(rig.trade(1e-6))
  const [exit] = orders(rig.settle(0.5e-6))
  expect(exit).toMatchObject({ repeatMs: 3_000, reserveLamports: 5 * (10_000_000 + 5_000 + 6) })
  expect(half).toMatchObject({ repeatMs: null, reserveLamports: 10_000_000 + 5_000 + 6 })
  expect(orders(rig.outputs)[0]).toMatchObject({ side: 'buy', repeatMs: null })
})

describe('a full exit and a partial sale', () => {
  /** Returns a position with an open sale of one half. */
  function halved(): { rig: EngineRig; half: Order; tokens: bigint } {
    const { rig, tokens } = holding(HALF)
    const [half] = orders(rig.trade(1e-6)) as [Order]
    expect(half.size).toEqual({ kind: 'percent', percent: 50 })
    return { rig, half, tokens }
  }

  it.each<[state: OrderState, isCalledOff: boolean]>([
    ['accepted', true],
    ['working', false],
    ['held', false],
  ])('while a partial sale is %s, a full exit is sent at once', (state, isCalledOff) => {
    const { rig, half } = halved()
    if (state !== 'accepted') rig.report(half, state)
    const outputs = rig.settle(0.5e-6)
    expect(orders(outputs)).toMatchObject([{ size: { kind: 'all' }, class: 'exit' }])
    expect(cancels(outputs)).toEqual(isCalledOff ? [half.id] : [])
  })

  it('the fills of a full exit and of a partial sale close the position, in any order', () => {
    for (const order of ['half first', 'exit first']) {
      const { rig, half, tokens } = halved()
      rig.report(half, 'working')
      const [exit] = orders(rig.settle(0.5e-6)) as [Order]
      const both = [() => sold(rig, half, tokens / 2n), () => sold(rig, exit, tokens - tokens / 2n)]
      const [one, other] = (order === 'half first' ? both : both.reverse()) as [() => Output[], () => Output[]]
      expect(states(one()).at(-1)).toBe('closing')
      const last = other()
      expect(states(last).at(-1)).toBe('closed')
      expect(orders(last)).toEqual([])
    }
  })

  it('a full exit that fails while a partial sale is undecided is retried', () => {
    const { rig, half } = halved()
    rig.report(half, 'working')
    let [exit] = orders(rig.settle(0.5e-6)) as [Order]
    for (const ladder of [
      [15, 30, 50],
      [30, 50],
    ]) {
      rig.report(exit, 'working', { unproved: 1 })
      rig.report(exit, 'working', { unproved: 2, code: 'ANSWER_LOST' })
      const timer = rig.report(exit, 'not_executed', { unproved: 0 }).find((output) => output.kind === 'timer')
      if (timer?.kind !== 'timer') throw new Error('no retry')
      rig.now = timer.timer.at
      ;[exit] = orders(rig.input({ kind: 'timer', id: timer.timer.id })) as [Order]
      expect(exit.slippagePercents).toEqual(ladder)
    }
  })

  it('a second full exit and a second partial sale are refused', () => {
    const { rig } = holding(HALF, ALL, ALL, HALF)
    const outputs = [1, 2, 3, 4].flatMap(() => rig.trade(1e-6))
    expect(orders(outputs).map(({ size }) => size.kind)).toEqual(['percent', 'all'])
    expect(refusals(outputs)).toContain('LANE_BUSY')
  })
})

it.each([
  [false, 'EXIT_UNPROVED'],
  [true, ''],
])('after a partial sale that is final (%s), a buy with scaleIn is accepted (%s)', (final, code) => {
  const { rig, tokens, wishes } = holding(HALF)
  const [half] = orders(rig.trade(1e-6)) as [Order]
  rig.report(half, 'filled', { fill: fillOf(half, 1e-6, rig.now, { tokens: tokens / 2n, final }) })
  wishes.push({ ...BUY, scaleIn: true })
  const outputs = rig.trade(1e-6)
  expect(refusals(outputs).join()).toBe(code)
  expect(orders(outputs)).toHaveLength(code === '' ? 1 : 0)
})

describe('a full exit with undecided attempts', () => {
  /** Returns a position that a fill of its exit has closed, while this many attempts of the exit are undecided. */
  function closed(unproved: number) {
    const { rig, tokens, wishes } = holding()
    const [exit] = orders(rig.settle(0.5e-6)) as [Order]
    const fill = fillOf(exit, 0.5e-6, rig.now, { tokens, final: unproved === 0 })
    expect(states(rig.report(exit, 'filled', { fill, unproved })).at(-1)).toBe('closed')
    return { rig, exit, fill, wishes }
  }

  it.each([
    [0, 1],
    [1, 0],
    [4, 0],
  ])('after a full exit with %i undecided attempts, %i buys of its mint are accepted', (unproved, buys) => {
    const { rig, wishes } = closed(unproved)
    wishes.push(BUY)
    const outputs = rig.trade(0.5e-6)
    expect(orders(outputs)).toHaveLength(buys)
    expect(refusals(outputs)).toEqual(buys === 0 ? ['EXIT_UNPROVED'] : [])
  })

  it('a full exit prevents buys of its mint, also after a restart, until the outcomes of all its attempts are proved', () => {
    const { rig: before, exit, fill } = closed(2)
    const accounts = before.outputs.flatMap((output) => (output.kind === 'account' ? [output.money] : [])).slice(-1)
    const money: RecoveredMoney = { ...NO_MONEY, nextOrder: 10, orders: [{ order: exit, state: 'filled' }], accounts }
    const rig = rigOf(Array(50).fill(BUY), money)
    expect(orders(rig.settle(0.5e-6))).toEqual([])
    rig.report(exit, 'filled', { fill: { ...fill, final: true }, unproved: 1 })
    expect(orders(rig.settle(0.5e-6))).toEqual([])
    rig.report(exit, 'filled', { unproved: 0 })
    expect(orders(rig.trade(0.5e-6))).toHaveLength(1)
  })

  it('a second fill of the same order is booked with its proceeds', () => {
    const { rig, exit, fill } = closed(1)
    const again = { ...fill, signature: 'another', attemptId: `${exit.id}.2` }
    const outputs = rig.report(exit, 'filled', { fill: again, unproved: 0 })
    const account = outputs.findLast((output) => output.kind === 'account')
    expect(account).toMatchObject({ money: { lamports: 10e9 - 0.1e9 - 5000 + 2 * (0.05e9 - 5000) } })
    expect(outputs.findLast((output) => output.kind === 'position')).toMatchObject({
      position: { state: 'closed', tokens: 0n, realizedLamports: 50_000_000 },
    })
  })
})

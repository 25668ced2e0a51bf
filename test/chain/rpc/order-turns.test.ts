import { expect, test } from 'vitest'
import { Turns } from '../../../src/chain/rpc/order-turns.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { settled } from '../scripted-chain.ts'

/** `going`: the orders that got a turn, in the sequence of their turns. `ends`: for each order, the end of its turn. */
function world() {
  const clock = new SimulatedClock()
  const turns = new Turns(clock)
  const going: string[] = []
  const ends = new Map<string, () => void>()
  const ask = (order: string, isExit: boolean): void => {
    void turns.take(order, isExit).then((end) => {
      going.push(order)
      ends.set(order, end)
    })
  }
  const pass = async (ms: number): Promise<void> => {
    await settled()
    clock.advanceTo(clock.now() + ms)
    await settled()
  }
  return { going, ends, ask, pass }
}

test('orders are sent one after another, exits before entries', async () => {
  const { going, ends, ask, pass } = world()
  for (const [order, isExit] of [
    ['buy 1', false],
    ['buy 2', false],
    ['sale', true],
  ] as const)
    ask(order, isExit)
  await pass(0)
  expect(going).toEqual(['buy 1'])
  ends.get('buy 1')?.()
  await pass(0)
  expect(going).toEqual(['buy 1', 'sale'])
  ends.get('sale')?.()
  ends.get('sale')?.()
  await pass(0)
  expect(going).toEqual(['buy 1', 'sale', 'buy 2'])
})

test('an order whose transaction does not land delays each other order by at most 3 s', async () => {
  const { going, ask, pass } = world()
  for (const [order, isExit] of [
    ['buy 1', false],
    ['buy 2', false],
    ['sale 1', true],
    ['sale 2', true],
  ] as const)
    ask(order, isExit)
  await pass(2_999)
  expect(going).toEqual(['buy 1'])
  await pass(1)
  expect(going.toSorted()).toEqual(['buy 1', 'sale 1', 'sale 2'])
  await pass(3_000)
  expect(going.at(-1)).toBe('buy 2')
})

test('attempts of one order share a turn, which ends when the last attempt ends', async () => {
  const { going, ends, ask, pass } = world()
  ask('sale', true)
  ask('other', false)
  await pass(0)
  ends.get('sale')?.()
  await pass(0)
  expect(going).toEqual(['sale', 'other'])
  ask('other', false)
  ask('third', false)
  const first = ends.get('other')
  await pass(0)
  first?.()
  await pass(0)
  expect(going).toEqual(['sale', 'other', 'other'])
  ends.get('other')?.()
  await pass(0)
  expect(going.at(-1)).toBe('third')
})

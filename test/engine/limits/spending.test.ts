import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lamports, solToLamports } from '../../../src/base/units.ts'
import { type Spend, Spending } from '../../../src/engine/limits/spending.ts'
import type { Order, OrderState } from '../../../src/engine/order.ts'

const HOUR = 3_600_000
const BOT = { account: 'a', bot: 'b' }
/** Reports a new state of an order that is no longer in the book. */
const follow = (spending: Spending, id: string, state: OrderState): void =>
  spending.follow(id, state, undefined, undefined)
const ask = (spending: Spending, id: string, time: number, sol: number, of = BOT): void =>
  spending.ask({ id, time, ...of } as Order, solToLamports(sol))

test('a spent amount counts for 60 minutes, and no longer', () => {
  const spending = new Spending()
  const bot = spending.of(BOT)
  ask(spending, 'o1', 0, 1)
  ask(spending, 'o2', 1, 2)
  ask(spending, 'o3', HOUR - 1, 4)
  expect(bot.hour(HOUR - 1)).toBe(solToLamports(7))
  expect(bot.hour(HOUR)).toBe(solToLamports(6))
  expect(bot.hour(HOUR + 1)).toBe(solToLamports(4))
  expect(bot.hour(3 * HOUR)).toBe(0)
})

test('the amount of an order that did not execute stops counting, and counts once if the order executes late', () => {
  const spending = new Spending()
  const bot = spending.of(BOT)
  ask(spending, 'o1', 0, 1)
  const after = (state: OrderState): number => {
    follow(spending, 'o1', state)
    return bot.hour(10)
  }
  expect(
    (['working', 'failed', 'failed', 'filled', 'filled', 'working', 'held', 'not_executed'] as const).map(after),
  ).toEqual([1, 0, 0, 1, 1, 1, 1, 0].map(solToLamports))
  follow(spending, 'o99', 'filled')
  expect(bot.hour(HOUR)).toBe(0)
  follow(spending, 'o1', 'filled') // the order is more than an hour old, so it no longer counts
  expect(bot.hour(HOUR)).toBe(0)
})

test('the amounts of each bot count separately, and still count after a restart', () => {
  const before = new Spending()
  ask(before, 'o1', 0, 1)
  ask(before, 'o2', 5, 2, { account: 'a', bot: 'c' })
  const spend = (orderId: string, sol: number, more: Partial<Spend> = {}): Spend => {
    return { orderId, ...BOT, time: 0, lamports: solToLamports(sol), counts: true, ...more }
  }
  const after = new Spending()
  after.restore([spend('o1', 1), spend('o2', 2, { bot: 'c', time: 5 }), spend('o3', 4, { time: 6, counts: false })], [])
  for (const spending of [before, after]) {
    expect(spending.of(BOT).hour(10)).toBe(solToLamports(1))
    expect(spending.of({ account: 'a', bot: 'c' }).hour(10)).toBe(solToLamports(2))
  }
  follow(after, 'o3', 'filled')
  expect(after.of(BOT).hour(10)).toBe(solToLamports(5))
})

test('the running sum equals the sum of all entries after any sequence of events', () => {
  const step = fc.record({
    ms: fc.integer({ min: 0, max: HOUR / 3 }),
    bot: fc.constantFrom('b', 'c'),
    lamports: fc.integer({ min: 1, max: 1e9 }),
    about: fc.nat(40),
    state: fc.constantFrom<OrderState>('working', 'failed', 'filled', 'cancelled'),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const spending = new Spending()
      const asked: { id: string; time: number; bot: string; lamports: number; state: OrderState }[] = []
      let now = 0
      for (const { ms, bot, lamports: amount, about, state } of steps) {
        now += ms
        const id = `o${asked.length}`
        asked.push({ id, time: now, bot, lamports: amount, state: 'accepted' })
        spending.ask({ id, time: now, account: 'a', bot } as Order, lamports(amount))
        const other = asked[about]
        if (other !== undefined) {
          other.state = state
          follow(spending, other.id, state)
        }
        for (const one of ['b', 'c']) {
          const counted = asked.filter(
            ({ bot, time, state }) => bot === one && time > now - HOUR && !['failed', 'cancelled'].includes(state),
          )
          const sum = counted.reduce((total, { lamports }) => total + lamports, 0)
          expect(spending.of({ account: 'a', bot: one }).hour(now)).toBe(sum)
        }
      }
    }),
  )
})

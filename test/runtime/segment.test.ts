import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { lamports } from '../../src/base/units.ts'
import { accountOf } from '../../src/engine/account.ts'
import { NO_MONEY } from '../../src/engine/recovered-money.ts'
import { defineStrategy } from '../../src/engine/strategy.ts'
import { Mints } from '../../src/market/mints.ts'
import { Limiter } from '../../src/orders/plan-limiter.ts'
import type { Executor, Journal, JournalRecord } from '../../src/orders/ports.ts'
import { Segment, takeUp } from '../../src/runtime/segment.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { botSettings, MINT, startInput } from '../support/engine-rig.ts'
import { anOrder } from '../support/gateway-world.ts'
import { attempt, fill, report } from '../support/journal-values.ts'

const account = accountOf('live', 'test', 'genesis', 'wallet')
const still = defineStrategy({
  ...{ name: 'still', about: 'does nothing', params: z.object({}), keys: ['trades', MINT], start: () => ({}) },
})

/** Starts a process from a journal with one open order. The order's only attempt was refused because of its slippage,
 *  but the order allows a higher slippage. `breached`: whether a refused order has executed before. Returns the ids of
 *  the attempts that the process sends, its reports, and its mints. */
function startOn(breached: boolean): { sent: string[]; told: string[]; mints: Mints } {
  const clock = new SimulatedClock(1_000)
  const sent: string[] = []
  const told: string[] = []
  const executor: Executor = { execute: ({ id }) => void sent.push(id), resume: () => {} }
  const write = (record: JournalRecord): void => {
    if (record.kind === 'report') told.push(`${record.report.state} ${record.report.code}`.trim())
  }
  const journal: Journal = {
    ...{ rows: () => {}, input: () => {}, output: () => {}, write, commit: (then) => then() },
  }
  const monotonicMs = (): number => clock.now()
  const limiter = new Limiter({
    ...{ key: 'k', boot: 'b', requestsPerMinute: 60, past: 'fresh', clock, monotonicMs, write: () => {} },
  })
  const order = anOrder({
    id: 'o1',
    account: account.id,
    bot: 'still',
    mint: MINT,
    size: { kind: 'percent', percent: 50 },
  })
  const money = {
    ...NO_MONEY,
    nextOrder: 2,
    accounts: [{ account: account.id, lamports: lamports(1e9), slot: 1, halted: false, breached }],
    orders: [{ order, state: 'accepted' as const }],
  }
  const refused = { ...attempt(1), account: account.id, mint: MINT, side: 'sell', size: order.size } as const
  const mints = new Mints()
  const segment = new Segment({
    ...{ machine: { clock, monotonicMs, boot: 'b' }, journal, mints },
    strategies: new Map([['still', still as never]]),
    past: {
      ...{ money, nextSeq: 10, nextReport: 1, untaken: [], orders: money.orders, slots: [], watches: [], wallets: [] },
      attempts: [{ ...refused, state: 'refused', code: 'SLIPPAGE_EXCEEDED' }],
      ...{ learned: [], lastSegment: 1, lastTime: 900, clean: false },
    },
    route: () => ({ kind: 'cloud', executor, limiter }),
    ...{ want: () => {}, observe: () => {}, alarm: () => {} },
  })
  const start = startInput([{ ...botSettings('still'), account }], money)
  segment.begin(start, [])
  segment.resume(start)
  clock.advanceTo(60_000)
  return { sent, told, mints }
}

test('after a restart, a refused order is retried if no refused order was ever executed', () => {
  const { sent, told } = startOn(false)
  expect([sent, told]).toEqual([['o1.2'], ['working']])
})

test('after a restart, a halt takes effect before open orders are resumed', () => {
  const gateway = { trust: vi.fn(), halt: vi.fn(), resume: vi.fn() }
  const money = {
    ...NO_MONEY,
    accounts: [{ account: account.id, lamports: lamports(1e9), slot: 1, halted: true }],
  }
  takeUp(gateway as never, { orders: [], attempts: [], untaken: [] } as never, startInput([], money))
  expect(gateway.halt).toHaveBeenCalledExactlyOnceWith(account.id, true)
  expect(gateway.halt).toHaveBeenCalledBefore(gateway.resume)
})

test('reports about a wallet that no bot uses any more stay in the journal', () => {
  const gateway = { resume: vi.fn() }
  const [own, other] = [account.id, accountOf('live', 'test', 'genesis', 'removed').id]
  const orders = [own, other].map((of, index) => ({
    order: anOrder({ id: `o${index + 1}`, account: of }),
    state: 'working',
  }))
  const untaken = [
    { kind: 'report', id: 1, report: report(1) },
    { kind: 'report', id: 2, report: report(2) },
    { kind: 'report', id: 3, report: report(3, { fill: fill(3, { account: other }) }) },
    { kind: 'report', id: 4, report: report(4, { fill: fill(4, { account: own }) }) },
  ]
  const start = startInput([{ ...botSettings('still'), account }], NO_MONEY)
  takeUp(gateway as never, { orders, attempts: [], untaken } as never, start)
  const [[resumed]] = gateway.resume.mock.calls as [[{ untaken: { id: number }[]; fills: { account: string }[] }]]
  expect(resumed.untaken.map(({ id }) => id)).toEqual([1, 4])
  expect(resumed.fills.map((one) => one.account)).toEqual([own])
})

test("a mint that the segment's engine needs keeps its number", () => {
  const { mints } = startOn(false)
  const [number] = [mints.find(MINT), mints.intern('nobody needs it')]
  mints.giveBack(() => false)
  expect([mints.find(MINT), mints.list[number as number]]).toEqual([number, MINT])
  expect(mints.list).not.toContain('nobody needs it')
})

test('after a restart, a refused order ends if the journal contains the execution of another refused order', () => {
  const { sent, told } = startOn(true)
  expect([sent, told]).toEqual([[], ['failed SLIPPAGE_EXCEEDED']])
})

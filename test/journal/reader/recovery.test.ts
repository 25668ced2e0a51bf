import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { lamports } from '../../../src/base/units.ts'
import { Book } from '../../../src/engine/accounting/book.ts'
import type { Position } from '../../../src/engine/accounting/position.ts'
import type { ConditionalOrder } from '../../../src/engine/exits/conditional-order.ts'
import type { Output } from '../../../src/engine/messages.ts'
import type { Fill, Order, OrderState } from '../../../src/engine/order.ts'
import { type BotMoney, NO_MONEY, NO_RESULTS } from '../../../src/engine/recovered-money.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { type Recovered, recover } from '../../../src/journal/reader/recovery.ts'
import type { OpenJournal } from '../../../src/journal/writer/gathering-journal.ts'
import { openJournal } from '../../../src/journal/writer/journal.ts'
import type { Attempt } from '../../../src/orders/attempt.ts'
import type { JournalRecord } from '../../../src/orders/ports.ts'
import {
  ACCOUNT,
  attempt,
  fill,
  JOURNAL_OPTIONS,
  journalPath,
  keyOf,
  order,
  position,
  report,
  start,
  timeOf,
} from '../../support/journal-samples.ts'

/** Returns the state that a start restores after these writes. */
async function after(write: (journal: OpenJournal) => void): Promise<Recovered> {
  const path = journalPath()
  const journal = openJournal(path, JOURNAL_OPTIONS)
  write(journal)
  await journal.close()
  const reader = openReader(path)
  const recovered = reader.recover()
  reader.close()
  return recovered
}

let seq = 1000

function outputs(journal: OpenJournal, ...all: Output[]): void {
  for (const output of all) journal.output(++seq, timeOf(seq), 0, output)
}

test('a start on a new journal restores an empty state', async () => {
  expect(await after(() => {})).toEqual({
    money: NO_MONEY,
    ...{ nextSeq: 1, nextReport: 1, untaken: [], orders: [], attempts: [], slots: [], watches: [], wallets: [] },
    ...{ learned: [], lastSegment: 0, lastTime: 0, clean: true },
  })
})

test('accounts, results of bots and timers are restored from their last outputs', async () => {
  const bot = (sum: number): BotMoney => ({
    ...{ bot: 'dips', account: ACCOUNT, status: 'active', state: { seen: sum } },
    ...{ ...NO_RESULTS, day: 20_600, dayRealizedLamports: lamports(sum), losses: 2, pausedUntil: 7 },
  })
  const account = (sum: number) => ({ account: ACCOUNT, lamports: lamports(sum), slot: 7, halted: true })
  const timer = (id: number) => ({ id, bot: 'dips', name: `t${id}`, owner: 'strategy', at: 5, everyMs: 0 }) as const
  const { money } = await after((journal) => {
    journal.input(1, timeOf(0), start(1, { money: { ...NO_MONEY, nextOrder: 40, nextTimer: 9 } }))
    outputs(
      journal,
      ...[1, 2].map((sum) => ({ kind: 'bot', money: bot(sum) }) as const),
      ...[1, 2].map((sum) => ({ kind: 'account', money: account(sum) }) as const),
      ...[9, 10, 11].map((id) => ({ kind: 'timer', timer: timer(id) }) as const),
      { kind: 'timerCleared', id: 11 },
      { kind: 'timerCleared', id: 9 },
    )
  })
  expect(money).toMatchObject({
    nextOrder: 40,
    nextTimer: 12,
    accounts: [account(2)],
    bots: [bot(2)],
    timers: [timer(10)],
  })
})

test('a repeating timer is restored with its last firing; a cleared timer is not restored', async () => {
  const timer = (id: number) => ({ id, bot: 'dips', name: `t${id}`, owner: 'strategy', at: 5, everyMs: 50 }) as const
  const { money } = await after((journal) => {
    journal.input(1, timeOf(0), start(1))
    outputs(journal, ...[1, 2, 3].map((id) => ({ kind: 'timer', timer: timer(id) }) as const))
    journal.input(2, timeOf(1), { kind: 'timer', id: 1 })
    journal.input(3, timeOf(2), { kind: 'timer', id: 1 })
    journal.input(4, timeOf(3), { kind: 'timer', id: 3 })
    journal.output(4, timeOf(3), 0, { kind: 'timerCleared', id: 3 })
    journal.input(5, timeOf(4), { kind: 'timer', id: 3 })
  })
  expect(money.timers).toEqual([{ ...timer(1), fired: timeOf(2) }, timer(2)])
})

test('open conditional orders are restored, and new ones continue the numbering', async () => {
  const conditional = (number: number, state: ConditionalOrder['state']): ConditionalOrder => ({
    ...{ id: `c${number}`, time: 5, account: ACCOUNT, bot: 'dips', mint: 'm', reason: 'told to', oneCancelsOther: '' },
    ...{ when: { kind: 'below', price: 1e-6 }, action: { side: 'buy', options: { sol: 0.1, reason: 'told to' } } },
    ...{ expiresAt: null, state, code: '', orderId: '', tries: 0, notBefore: 0 },
  })
  const { money } = await after((journal) =>
    outputs(
      journal,
      ...[
        conditional(2, 'waiting'),
        conditional(10, 'waiting'),
        conditional(3, 'waiting'),
        conditional(4, 'waiting'),
      ].map((one) => ({ kind: 'conditional', order: one }) as const),
      { kind: 'conditional', order: conditional(3, 'working') },
      { kind: 'conditional', order: conditional(10, 'done') },
      { kind: 'conditional', order: conditional(4, 'cancelled') },
    ),
  )
  expect(money.conditionals).toEqual([conditional(2, 'waiting'), conditional(3, 'working')])
  expect(money.nextConditional).toBe(11)
})

test('orders that are open or may still execute are restored with their states', async () => {
  const recovered = await after((journal) => {
    for (const number of [1, 2, 3, 10]) outputs(journal, { kind: 'order', order: order(number) })
    const state = (number: number, to: 'working' | 'failed' | 'filled') =>
      ({ kind: 'orderState', orderId: `o${number}`, state: to, code: '', reason: '' }) as const
    outputs(journal, state(1, 'failed'), state(2, 'filled'), state(10, 'working'))
    journal.write({ kind: 'attempt', attempt: attempt(1, { state: 'refused' }) })
    journal.write({ kind: 'attempt', attempt: attempt(2, { state: 'landed' }) })
    for (let n = 1; n <= 11; n++)
      journal.write({ kind: 'attempt', attempt: attempt(10, { id: `o10.${n}`, state: n < 11 ? 'refused' : 'armed' }) })
  })
  expect(recovered.orders.map(({ order: { id }, state }) => `${id} ${state}`)).toEqual([
    'o2 filled', // a fork may still take the fill back
    'o3 accepted', // waits for a slot
    'o10 working',
  ])
  expect(recovered.money.orders).toEqual(recovered.orders)
  expect(recovered.attempts.map(({ id }) => id)).toEqual([
    'o2.1',
    ...Array.from({ length: 11 }, (_, n) => `o10.${n + 1}`),
  ])
  expect(recovered.money.nextOrder).toBe(11)
})

test('the amounts that buys of the last hour requested are restored, and no older amounts', async () => {
  const HOUR = 3_600_000
  const asked = (number: number, time: number, more: Partial<Order> = {}): Output => {
    return { kind: 'order', order: order(number, { time, ...more }) }
  }
  const state = (number: number, to: OrderState): Output => {
    return { kind: 'orderState', orderId: `o${number}`, state: to, code: '', reason: '' }
  }
  const { money } = await after((journal) => {
    const write = (time: number, ...all: Output[]): void => {
      for (const output of all) journal.output(++seq, time, 0, output)
    }
    write(1_000, asked(1, 1_000), state(1, 'filled'))
    write(1_001, asked(2, 1_001), state(2, 'filled'), asked(3, 1_001), asked(4, 1_001), state(4, 'failed'))
    write(2_000, asked(5, 2_000, { side: 'sell', class: 'exit', size: { kind: 'all' } }))
    write(HOUR + 1_000, asked(10, HOUR + 1_000, { bot: 'other' }), state(10, 'held'))
  })
  const half = { account: ACCOUNT, bot: 'dips', time: 1_001, lamports: lamports(50_000_000) }
  expect(money.daySpends).toEqual([
    { account: ACCOUNT, bot: 'dips', day: 0, lamports: lamports(150_000_000) },
    { account: ACCOUNT, bot: 'other', day: 0, lamports: lamports(50_000_000) },
  ])
  expect(money.spends).toEqual([
    { ...half, orderId: 'o2', counts: true },
    { ...half, orderId: 'o3', counts: true },
    { ...half, orderId: 'o4', counts: false },
    { ...half, orderId: 'o10', bot: 'other', time: HOUR + 1_000, counts: true },
  ])
})

test('a position is restored with its highest price, and a closed position is only history, so its mint may be bought again', async () => {
  const { money } = await after((journal) => {
    outputs(journal, { kind: 'position', position: position(1) }, { kind: 'position', position: position(2) })
    journal.write({ kind: 'mark', mark: { account: ACCOUNT, mint: keyOf(1), highPrice: 0.09 } })
    journal.write({ kind: 'mark', mark: { account: ACCOUNT, mint: keyOf(2), highPrice: 0.01, ...MARKS } })
    outputs(journal, { kind: 'position', position: position(1, { state: 'closed', tokens: 0n }) })
    outputs(journal, { kind: 'position', position: position(1, { openedAt: 99 }) })
  })
  expect(money.positions).toEqual([position(1, { openedAt: 99 }), position(2, MARKS)])
})

test('a recorded mark (highest price and profits) never reduces the best profit or raises the worst profit of a position', async () => {
  const wide = { best: { lamports: 90, percent: 9 }, worst: { lamports: -90, percent: -9 } }
  const { money } = await after((journal) => {
    outputs(journal, { kind: 'position', position: position(1, wide) })
    journal.write({ kind: 'mark', mark: { account: ACCOUNT, mint: keyOf(1), highPrice: 0.01, ...MARKS } })
  })
  expect(money.positions).toEqual([position(1, wide)])
})

const MARKS = { best: { lamports: 50, percent: 5.5 }, worst: { lamports: -20, percent: -2 } }

const sale = (number: number, more: Partial<Fill> = {}): Fill =>
  fill(number, { side: 'sell', tokens: 1_500_000n, decimals: 6, ...more })
const sold =
  (final: boolean, more: Partial<Attempt> = {}) =>
  (journal: OpenJournal) => {
    const signature = sale(1).signature
    outputs(journal, { kind: 'order', order: order(1, { side: 'sell', class: 'exit', size: { kind: 'all' } }) })
    outputs(journal, { kind: 'position', position: position(1) }, { kind: 'position', position: position(2) })
    const landed = attempt(1, { side: 'sell', state: final ? 'filled' : 'landed', signature, ...more })
    journal.write({ kind: 'attempt', attempt: landed })
    const told = report(1, { state: 'filled', fill: sale(1, { final }) })
    journal.input(++seq, timeOf(seq), { kind: 'report', id: 1, report: told })
    const ended = { kind: 'orderState', orderId: 'o1', state: 'filled', code: '', reason: '' } as const
    journal.output(seq, timeOf(seq), 0, ended)
    journal.output(seq, timeOf(seq), 1, { kind: 'position', position: closedOne })
    outputs(journal, { kind: 'position', position: position(2, { state: 'closed', tokens: 0n }) })
  }
const closedOne = position(1, { state: 'closed', tokens: 0n, realizedLamports: lamports(7) })

test('a position closed by a provisional sale is restored as closed', async () => {
  const { money } = await after(sold(false))
  expect(money.positions).toEqual([closedOne])
  expect(money.fills).toEqual([sale(1)])
})

test('a position closed by a sale that became final is not restored', async () => {
  expect((await after(sold(true))).money.positions).toEqual([])
})

test('a position reopened by a fork before the restart is restored as open', async () => {
  const { money } = await after((journal) => {
    sold(false)(journal)
    const back = report(1, { reversed: sale(1).signature })
    journal.input(++seq, timeOf(seq), { kind: 'report', id: 2, report: back })
    outputs(journal, { kind: 'position', position: position(1) })
  })
  expect(money.positions).toEqual([position(1)])
})

test('a position is restored as closed if the reversal of its closing sale is in a report that the engine had not taken', async () => {
  const { money } = await after((journal) => {
    sold(false)(journal)
    journal.write({
      kind: 'attempt',
      attempt: attempt(1, { side: 'sell', state: 'reverted', signature: sale(1).signature }),
    })
    journal.write({ kind: 'report', id: 2, report: report(1, { reversed: sale(1).signature }) })
  })
  expect(money.positions).toEqual([closedOne])
})

test('a position closed twice by provisional sales is restored in its last closed state', async () => {
  const again = position(1, { state: 'closed', tokens: 0n, realizedLamports: lamports(9) })
  const { money } = await after((journal) => {
    sold(false)(journal)
    outputs(journal, { kind: 'position', position: position(1) }, { kind: 'position', position: again })
  })
  expect(money.positions).toEqual([again])
})

for (const owed of [{ oversold: 5n }, { soldEarly: { tokens: 5n, slot: 9 } }])
  test(`a position that was closed by a sale of more than the booked tokens is restored with its last value of ${Object.keys(owed)[0]}`, async () => {
    const owing = position(1, { state: 'closed', tokens: 0n, ...owed })
    const { money } = await after((journal) => outputs(journal, ...closings(owing)))
    expect(money.positions).toEqual([owing])
    const nothingOwed = await after((journal) => outputs(journal, ...closings(owing), ...closings(closedOne)))
    expect(nothingOwed.money.positions).toEqual([])
  })

function closings(closed: Position): Output[] {
  return [
    { kind: 'position', position: position(1) },
    { kind: 'position', position: closed },
  ]
}

test('a position closed by a provisional sale is reopened by the engine with its cost, exits and price, as without a restart', async () => {
  const { money } = await after(sold(false))
  const book = new Book()
  book.restore(money)
  expect(book.positions.all().length).toBe(0)
  const reversal = book.unbook(sale(1).signature)
  expect(reversal).toMatchObject({ isNew: false, position: { exits: position(1).exits, averagePrice: 0.03 } })
  expect(book.positions.all()).toEqual([expect.objectContaining({ tokens: sale(1).tokens })])
})

test('a fill that was reported again with other amounts is restored with the amounts that the engine took', async () => {
  const filled = report(1, { state: 'filled', fill: fill(1) })
  const other = fill(1, { tokens: 2_000_000n, walletLamports: lamports(-7) })
  const write = (journal: OpenJournal): void => {
    journal.input(1, timeOf(1), { kind: 'report', id: 1, report: filled })
    journal.write({ kind: 'fill', fill: other })
    journal.write({ kind: 'report', id: 2, report: report(1, { reversed: fill(1).signature }) })
    journal.write({ kind: 'report', id: 3, report: report(1, { state: 'filled', fill: other }) })
  }
  expect((await after(write)).money.fills).toEqual([fill(1)])
  const told = await after((journal) => {
    write(journal)
    for (const [id, what] of [
      [2, { reversed: fill(1).signature }],
      [3, { state: 'filled', fill: other }],
    ] as const)
      journal.input(id, timeOf(id), { kind: 'report', id, report: report(1, what) })
  })
  expect(told.money.fills).toEqual([other])
})

test('a fill whose reversal the engine took is not restored', async () => {
  const filled = report(1, { state: 'filled', fill: fill(1, { final: true }) })
  const later = report(2, { state: 'filled', fill: fill(2) })
  const recovered = await after((journal) => {
    journal.input(1, timeOf(1), { kind: 'report', id: 1, report: filled })
    journal.input(2, timeOf(2), { kind: 'report', id: 2, report: later })
    journal.input(3, timeOf(3), { kind: 'report', id: 3, report: report(1, { reversed: fill(1).signature }) })
  })
  expect(recovered.money.fills).toEqual([fill(2)])
  expect(recovered).toMatchObject({ untaken: [], nextReport: 4 })
})

test('the requests of the last two minutes since the boot of the machine are restored with exact times', async () => {
  const slot = (id: number, takenAt: bigint, boot = 'this') => ({ key: 'k', id, boot, takenAt, doneAt: takenAt + 5n })
  const minute = 60_000_000_000n
  const { slots } = await after((journal) => {
    journal.write({ kind: 'slot', slot: slot(60, 900n * minute, 'before') })
    journal.write({ kind: 'slot', slot: slot(61, minute) })
    journal.write({ kind: 'slot', slot: slot(62, 4n * minute) })
    journal.write({ kind: 'slot', slot: slot(63, 9_007_199_254_740_993n) })
    journal.write({ kind: 'slot', slot: { ...slot(64, 5n * minute), doneAt: null } }) // the 64th deletes old ones
  })
  expect(slots.map(({ id }) => id)).toEqual([62, 63, 64])
  expect(slots[1]).toEqual(slot(63, 9_007_199_254_740_993n))
  expect(slots[2]?.doneAt).toBe(null)
})

test('the cost of a recovery grows with the open orders and positions, not with the age of the journal', async () => {
  const path = journalPath()
  const journal = openJournal(path, { ...JOURNAL_OPTIONS, durable: false })
  for (let number = 1; number <= 6_000; number++) {
    const end = { kind: 'orderState', orderId: `o${number}`, state: 'filled', code: '', reason: '' } as const
    outputs(journal, { kind: 'order', order: order(number) }, end)
    journal.write({ kind: 'attempt', attempt: attempt(number, { state: 'filled' }) })
  }
  const nextDay = timeOf(seq) + 86_400_000
  journal.output(++seq, nextDay, 0, { kind: 'order', order: order(6_001, { time: nextDay }) })
  await journal.close()
  const reader = openReader(path)
  expect(reader.recover()).toMatchObject({
    ...{ attempts: [], money: { nextOrder: 6_002 }, orders: [{ order: { id: 'o6001' } }] },
  })
  reader.close()
  const db = new Database(path, { readonly: true })
  const asked = new Set<string>()
  let rows = 0
  const counting = new Proxy(db, {
    get: (_db, name) => {
      const member = db[name as keyof typeof db] as unknown
      if (typeof member !== 'function') return member
      return (...args: unknown[]): unknown => {
        const made: unknown = member.apply(db, args)
        if (name !== 'prepare') return made
        asked.add(String(args[0]))
        return counted(made as Database.Statement, (more) => {
          rows += more
        })
      }
    },
  })
  recover(counting)
  expect(rows).toBeLessThan(50)
  const steps = [...asked].flatMap((sql) => planOf(db, sql))
  expect(steps.filter((step) => /^SCAN (order|attempt|fill|report)$/.test(step))).toEqual([])
  db.close()
})

/** Counts the rows that a statement returns. */
function counted(statement: Database.Statement, count: (rows: number) => void): Database.Statement {
  return new Proxy(statement, {
    get: (_statement, name) => {
      const member = statement[name as keyof typeof statement] as unknown
      if (typeof member !== 'function') return member
      return (...args: unknown[]): unknown => {
        const found: unknown = member.apply(statement, args)
        if (found === statement) return counted(statement, count)
        if (name === 'all') count((found as unknown[]).length)
        else if (name === 'get') count(1)
        else if (name === 'iterate') return eachCounted(found as Iterable<unknown>, count)
        return found
      }
    },
  })
}

function* eachCounted(rows: Iterable<unknown>, count: (rows: number) => void): Generator<unknown> {
  for (const row of rows) {
    count(1)
    yield row
  }
}

/** Returns the steps of SQLite's plan for a query. */
function planOf(db: Database.Database, sql: string): string[] {
  const parameters = Array.from({ length: sql.split('?').length - 1 }, () => 1)
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[]
  return plan.map(({ detail }) => detail)
}

test('if several findings about a service have the same name, a start restores the newest one', async () => {
  const learned = (name: string, time: number, value: number): JournalRecord => {
    return { kind: 'learned', learned: { about: ACCOUNT, name, time, value: { value } } }
  }
  const { learned: found } = await after((journal) => {
    for (const record of [learned('proof', 1, 1), learned('portfolio', 2, 2), learned('proof', 3, 3)])
      journal.write(record)
  })
  expect(found).toEqual([
    { about: ACCOUNT, name: 'portfolio', time: 2, value: { value: 2 } },
    { about: ACCOUNT, name: 'proof', time: 3, value: { value: 3 } },
  ])
})

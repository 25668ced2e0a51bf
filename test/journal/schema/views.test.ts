import { execFileSync, spawnSync } from 'node:child_process'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { lamports } from '../../../src/base/units.ts'
import type { Command } from '../../../src/engine/messages.ts'
import { SEEN_TO } from '../../../src/journal/schema/stretches.ts'
import { STATE_BEFORE, STATUS_BEFORE } from '../../../src/journal/tape/market-tape.ts'
import { openJournal } from '../../../src/journal/writer/journal.ts'
import { RowKind } from '../../../src/market/block.ts'
import { LiveBlock } from '../../../src/market/live-block.ts'
import { Mints } from '../../../src/market/mints.ts'
import {
  attempt,
  fill,
  JOURNAL_OPTIONS,
  journalPath,
  keyOf,
  order,
  position,
  start,
  timeOf,
  trades,
} from '../../support/journal-samples.ts'
import { runs } from '../../support/runs.ts'

type Row = Record<string, unknown>

const CLI = 'sqlite3'

/** SQLite clients that are independent of Sluice. Each returns the rows of a query as objects, through JSON. */
const clients: { name: string; query: (path: string, sql: string) => Row[]; missing: boolean }[] = [
  {
    name: 'better-sqlite3',
    missing: false,
    query: (path, sql) => {
      const db = new Database(path, { readonly: true })
      const rows = db.prepare(sql).all() as Row[]
      db.close()
      return rows
    },
  },
  {
    name: 'the command-line program sqlite3',
    missing: spawnSync(CLI, ['--version']).status !== 0,
    query: (path, sql) => JSON.parse(execFileSync(CLI, ['-json', path, sql], { encoding: 'utf8' }) || '[]'),
  },
  {
    name: "python's sqlite3",
    missing: spawnSync('python3', ['-c', 'import sqlite3']).status !== 0,
    query: (path, sql) => {
      const program =
        'import sqlite3,sys,json;db=sqlite3.connect(sys.argv[1]);db.row_factory=sqlite3.Row;print(json.dumps([dict(r) for r in db.execute(sys.argv[2])]))'
      return JSON.parse(execFileSync('python3', ['-c', program, path, sql], { encoding: 'utf8' }))
    },
  },
]

let path: string

beforeAll(async () => {
  path = journalPath()
  const journal = openJournal(path, JOURNAL_OPTIONS)
  const mints = new Mints()
  const block = trades(200, 0, mints)
  journal.input(1, timeOf(0), start(1))
  journal.rows(block, 0, 150, 2)
  journal.input(152, timeOf(149), {
    kind: 'gap',
    from: timeOf(10),
    to: timeOf(110),
    keys: ['trades'],
  })
  journal.rows(block, 150, 200, 153)
  journal.rows(launches(mints), 0, 2, 203)
  journal.output(203, timeOf(200), 0, { kind: 'order', order: order(1) })
  journal.output(203, timeOf(200), 1, { kind: 'note', bot: 'dips', mint: keyOf(9), code: '', reason: 'no depth' })
  journal.output(203, timeOf(200), 2, { kind: 'position', position: position(1) })
  journal.write({ kind: 'attempt', attempt: attempt(1, { priorityFeeLamports: lamports(100_000) }) })
  journal.write({ kind: 'fill', fill: fill(1, { tokens: 1_500_000n, decimals: 6 }) })
  await journal.close()
})

function launches(mints: Mints): LiveBlock {
  const block = new LiveBlock(mints.list, 10)
  const numbers = { price: NaN, amount: 31.5, size: NaN, marketCap: 28, extra: NaN, extra2: NaN }
  const metadata = { description: 'a "dog"\n', image: '', website: 'https://a.example', twitter: '' }
  const details = { symbol: 'DOG', name: "Dog's", metadata }
  block.append(timeOf(201), 5.5, RowKind.newToken, mints.intern(keyOf(9)), numbers, '', keyOf(77), details)
  block.append(timeOf(202), 5.5, RowKind.buy, mints.intern(keyOf(9)), numbers, 'sim-1', 'nobody')
  return block
}

describe.each(clients)('the SQL client $name', ({ name, missing, query }) => {
  if (missing) test.skip(`${name} is not installed`)
  const ask = (sql: string) => query(path, sql)

  test.skipIf(missing)('the SQL view trades shows each trade', () => {
    const rows = ask('SELECT * FROM trades WHERE seq < 203')
    expect(rows).toHaveLength(200)
    for (const n of [0, 1, 63, 64, 149, 150, 199])
      expect(rows[n]).toEqual({
        ...{ seq: n < 150 ? n + 2 : n + 3, segment: 1, time: timeOf(n), mint: keyOf(n % 3) },
        ...{ at: new Date(timeOf(n)).toISOString().replace('T', ' ').replace('Z', '') },
        ...{ side: n % 2 === 0 ? 'buy' : 'sell', price: n / 3, amount: n, tokens_traded: n * 7, market_cap: n * 1e6 },
        ...{ slippage: n % 4, priority_fee: 0.001, timestamp: timeOf(n) - 120 },
        ...{ trader: keyOf(n % 5), signature: keyOf(n, 64) },
      })
    expect(ask('SELECT * FROM trades WHERE seq > 203')).toMatchObject([
      { seq: 204, price: null, timestamp: 5.5, trader: 'nobody', signature: 'sim-1' },
    ])
  })

  test.skipIf(missing)('the SQL view tokens shows each announced token', () => {
    expect(ask('SELECT * FROM tokens')).toMatchObject([
      {
        ...{ seq: 203, mint: keyOf(9), symbol: 'DOG', name: "Dog's", creator: keyOf(77) },
        ...{ initial_liquidity: 31.5, market_cap: 28, description: 'a "dog"\n', website: 'https://a.example' },
      },
    ])
  })

  test.skipIf(missing)('the SQL views show gaps, orders, attempts, fills, positions and decisions', () => {
    expect(ask('SELECT * FROM gaps')).toMatchObject([
      { seq: 152, from: timeOf(10), to: timeOf(110), seconds: 1, keys: '["trades"]', cause: 'feed' },
    ])
    expect(ask('SELECT * FROM orders')).toMatchObject([{ id: 'o1', state: 'accepted', sol: 0.05, reserve_sol: 0.06 }])
    expect(ask('SELECT * FROM attempts')).toMatchObject([
      { id: 'o1.1', order_id: 'o1', state: 'armed', slippage_percent: 5, priority_fee_sol: 0.0001 },
    ])
    expect(ask('SELECT * FROM fills')).toMatchObject([
      {
        ...{
          order_id: 'o1',
          sol: 0.05,
          tokens: 1.5,
          fee_sol: 0.000105,
          wallet_sol: -0.05214428,
          final: 0,
          reversed: 0,
        },
        ...{ trade_sol: 0.049, venue_fee_sol: 0.0006, service_fee_sol: 0.0004, base_fee_sol: 0.000005 },
        ...{ priority_fee_sol: 0.0001, rent_paid_sol: 0.00203928, remainder_sol: 0, withheld: '7', unknown: '[]' },
      },
    ])
    expect(ask('SELECT * FROM positions')).toMatchObject([{ bot: 'dips', state: 'open', tokens: 1.5, cost_sol: 0.05 }])
    expect(ask('SELECT kind, reason FROM decisions')).toEqual([
      { kind: 'order', reason: 'fell 15 %' },
      { kind: 'note', reason: 'no depth' },
    ])
  })
})

test('the SQL views decode every double exactly, and NaN as NULL', async () => {
  const double = fc.oneof(fc.double(), fc.constantFrom(5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -0))
  await fc.assert(
    fc.asyncProperty(fc.array(double, { minLength: 1, maxLength: 200 }), async (values) => {
      const file = journalPath()
      const journal = openJournal(file, JOURNAL_OPTIONS)
      const mints = new Mints()
      const block = new LiveBlock(mints.list, values.length)
      for (const [row, value] of values.entries()) {
        const numbers = { price: value, amount: 1, size: 1, marketCap: 1, extra: value, extra2: value > 0 ? 1 : 2 }
        block.append(timeOf(row), value, RowKind.buy, mints.intern('m'), numbers, '', '')
      }
      journal.rows(block, 0, values.length, 1)
      await journal.close()
      const db = new Database(file, { readonly: true })
      const rows = db.prepare('SELECT price, slippage, timestamp FROM trades ORDER BY seq').raw().all()
      db.close()
      expect(rows).toEqual(values.map((value) => Array(3).fill(Number.isNaN(value) ? null : value)))
    }),
    { numRuns: runs(8) },
  )
})

test('a command is listed with its wallet, also in a journal whose view has no such column yet', async () => {
  const file = journalPath()
  const journal = openJournal(file, JOURNAL_OPTIONS)
  const bots = [
    { name: 'dips', wallet: 'main', account: { id: 'a' } },
    { name: 'rises', wallet: 'side', account: { id: 'b' } },
    { name: 'idea', account: { id: 'c' } },
  ]
  journal.input(1, timeOf(0), { ...start(1), bots: bots as never })
  const commands: Command[] = [
    { name: 'halt' },
    { name: 'halt', account: 'b' },
    { name: 'buy', bot: 'dips', mint: keyOf(1), sol: 1 },
    { name: 'buy', bot: 'idea', mint: keyOf(1), sol: 1 },
    { name: 'sell', mint: keyOf(1), account: 'c' },
  ]
  for (const [index, command] of commands.entries())
    journal.input(index + 2, timeOf(0), { kind: 'command', command, by: 'terminal' })
  await journal.close()
  const older = new Database(file)
  older.exec('DROP VIEW commands; CREATE VIEW commands AS SELECT seq FROM input')
  older.close()
  await openJournal(file, JOURNAL_OPTIONS).close()
  const db = new Database(file, { readonly: true })
  const listed = db.prepare('SELECT command, bot, wallet FROM commands ORDER BY seq').raw().all()
  db.close()
  expect(listed).toEqual([
    ['halt', null, null],
    ['halt', null, 'side'],
    ['buy', 'dips', 'main'],
    ['buy', 'idea', null],
    ['sell', null, null],
  ])
})

test.each([
  [1, 'the view `gaps`', 'SELECT * FROM gaps', []],
  [2, 'the query for the state of the feed before a row', STATE_BEFORE, [{ segment: 1, seq: 9 }]],
  [1, 'the query for the last status of the feed', STATUS_BEFORE, [1, 9]],
  [2, 'the query for the end of the recorded market', SEEN_TO, []],
])(
  'all %i searches for states or gaps of the feed in %s use an index, because a journal has millions of other inputs',
  (searches, _what, sql, values) => {
    const db = new Database(path, { readonly: true })
    const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[]
    db.close()
    expect(steps.filter(({ detail }) => detail.startsWith('SEARCH input USING INDEX input_feed'))).toHaveLength(
      searches,
    )
  },
)

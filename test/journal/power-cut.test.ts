import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { NO_COSTS } from '../../src/engine/accounting/fill-costs.ts'
import { openForWriting } from '../../src/journal/database.ts'
import { lockJournal } from '../../src/journal/lock.ts'
import { bringUpToDate } from '../../src/journal/migrate.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { SCHEMA_VERSION } from '../../src/journal/schema/migrations.ts'
import { openJournal } from '../../src/journal/writer/journal.ts'
import {
  attempt,
  fill,
  JOURNAL_OPTIONS,
  journalPath,
  order,
  report,
  start,
  timeOf,
  trades,
} from '../support/journal-samples.ts'
import { forgetLedger } from '../support/old-journal.ts'
import { runs } from '../support/runs.ts'

const ORDERS = 12
/** The distance between two places at which the log is cut, bytes. It is less than a page of the journal. */
const STEP = 3_000
/**
 * The log can end in three ways at each place where it is cut. `npm test` tries only one of them at each place, in
 * turn; CI tries all three.
 */
const STRIDE = runs(1) > 1 ? 1 : 3

/** Returns a journal whose log was never checkpointed, and the length of its log when each order became durable. */
function written(): { db: Buffer; log: Buffer; lengths: number[] } {
  const path = journalPath()
  const journal = openJournal(path, JOURNAL_OPTIONS)
  const lengths: number[] = []
  journal.input(1, timeOf(0), start(1))
  let seq = 2
  for (let number = 1; number <= ORDERS; number++) {
    const block = trades(5, number * 5)
    journal.rows(block, 0, 5, seq)
    seq += 5
    journal.output(seq - 1, timeOf(number * 5), 0, { kind: 'order', order: order(number) })
    journal.write({ kind: 'attempt', attempt: attempt(number) })
    journal.write({ kind: 'report', id: number, report: report(number) })
    journal.commit(() => lengths.push(statSync(`${path}-wal`).size))
  }
  return { db: readFileSync(path), log: readFileSync(`${path}-wal`), lengths }
}

describe('a power cut during a write of the log', () => {
  test.each<[what: string, first: number, rest: (log: Buffer, at: number) => Buffer]>([
    ['a journal whose log is cut off', 0, (log, at) => log.subarray(0, at)],
    [
      'a journal whose log ends with zero bytes',
      1,
      (log, at) => Buffer.concat([log.subarray(0, at), Buffer.alloc(log.length - at)]),
    ],
    [
      'a journal whose log ends with old bytes',
      2,
      (log, at) => Buffer.concat([log.subarray(0, at), log.subarray(at).fill(0x5a)]),
    ],
  ])('after a power cut, %s has every durable order complete and no partial order', (_what, first, rest) => {
    const { db, log, lengths } = written()
    expect(lengths).toHaveLength(ORDERS)
    const path = journalPath()
    mkdirSync(dirname(path), { recursive: true })
    const found = new Set<number>()
    const begin = (lengths[0] as number) + (first % STRIDE) * STEP
    for (let at = begin; at <= log.length + STRIDE * STEP; at += STRIDE * STEP) {
      writeFileSync(path, db)
      writeFileSync(`${path}-wal`, rest(Buffer.from(log), Math.min(at, log.length)))
      writeFileSync(`${path}-shm`, '')
      const reader = openReader(path)
      const { orders, attempts, untaken, clean } = reader.recover()
      reader.checkIntegrity()
      reader.close()
      const ids = Array.from({ length: orders.length }, (_, index) => `o${index + 1}`)
      expect(orders.map(({ order: { id } }) => id)).toEqual(ids)
      expect(attempts.map(({ orderId }) => orderId)).toEqual(ids)
      expect(untaken.map(({ id }) => `o${id}`)).toEqual(ids)
      expect(orders.length).toBeGreaterThanOrEqual(lengths.filter((length) => length <= at).length)
      expect(clean).toBe(false)
      found.add(orders.length)
    }
    expect(found.size).toBe(ORDERS)
  })
})

test('a journal without its log is undamaged, and has the state of the last checkpoint', async () => {
  const path = journalPath()
  const journal = openJournal(path, JOURNAL_OPTIONS)
  journal.input(1, timeOf(0), start(1))
  journal.output(2, timeOf(1), 0, { kind: 'order', order: order(1) })
  await journal.close()
  const again = openJournal(path, JOURNAL_OPTIONS)
  again.output(3, timeOf(2), 0, { kind: 'order', order: order(2) })
  again.commit(() => {})
  const copy = journalPath()
  mkdirSync(dirname(copy), { recursive: true })
  copyFileSync(path, copy) // without its log
  const reader = openReader(copy)
  reader.checkIntegrity()
  expect(reader.recover().orders.map(({ order: { id } }) => id)).toEqual(['o1'])
  reader.close()
  await again.close()
})

test('commits continue during a long read of the journal, and after the read the log is copied into the journal', async () => {
  const path = journalPath()
  const journal = openJournal(path, JOURNAL_OPTIONS)
  journal.input(1, timeOf(0), start(1))
  journal.commit(() => {})
  const reading = new Database(path, { readonly: true })
  const rows = reading.prepare('SELECT name FROM sqlite_master').iterate()
  rows.next()
  let committed = 0
  for (let number = 1; number <= 400; number++) {
    journal.output(number + 1, timeOf(number), 0, { kind: 'order', order: order(number) })
    journal.commit(() => committed++)
  }
  expect(committed).toBe(400)
  const length = statSync(`${path}-wal`).size
  expect(length).toBeGreaterThan(2 ** 20)
  rows.return?.()
  reading.close()
  await journal.close()
  const reader = openReader(path)
  expect(reader.recover().orders).toHaveLength(400)
  reader.close()
  expect(statSync(path).size).toBeGreaterThan(2 ** 16)
})

test.each<[what: string, path: () => string]>([
  ['a journal that cannot be created below a path that is not a folder', () => '/dev/null/journal.db'],
  ['a journal that cannot be created at the path of a folder', () => tmpdir()],
])('the error about %s is one line', (_what, pathOf) => {
  const path = pathOf()
  const refusal = { name: 'SluiceError', message: expect.stringContaining(`${path} cannot be created: `) }
  expect(() => openForWriting(path)).toThrow(expect.objectContaining(refusal))
})

test('the error is one line if the journal is a folder, or if its lock cannot be created', () => {
  const isOne = (message: string, exitCode: number) =>
    expect.objectContaining({ name: 'SluiceError', exitCode, message })
  expect(() => openReader(tmpdir())).toThrow(isOne(`${tmpdir()} is a folder; a journal is a file`, 2))
  const path = '/dev/null/journal.db'
  expect(() => lockJournal(path)).toThrow(isOne(expect.stringContaining(`${path} cannot be used: `), 1))
})

test('the migration of a journal of the first version keeps its open orders, and they continue', async () => {
  const path = journalPath()
  const journal = openJournal(path, JOURNAL_OPTIONS)
  journal.input(1, timeOf(0), start(1))
  journal.output(2, timeOf(1), 0, { kind: 'order', order: order(1) })
  journal.write({ kind: 'attempt', attempt: attempt(1, { state: 'unknown' }) })
  journal.write({ kind: 'fill', fill: fill(2) })
  journal.write({ kind: 'report', id: 1, report: report(2, { state: 'filled', fill: fill(2) }) })
  journal.write({ kind: 'report', id: 2, report: report(3, { state: 'failed' }) })
  await journal.close()
  const old = new Database(path)
  forgetLedger(old)
  old.exec(
    `DROP TABLE learned; DROP VIEW wallet_transactions; DROP TABLE wallet; DROP TABLE wallet_transaction; DROP TABLE watch;
     DROP VIEW fills; ALTER TABLE fill DROP COLUMN costs; CREATE VIEW fills AS SELECT signature FROM fill;
     UPDATE report SET json = json_remove(json, '$.fill.costs')`,
  )
  old.pragma('user_version = 1')
  old.close()
  expect(() => openReader(path)).toThrow('`sluice migrate --journal')
  const held = lockJournal(path)
  expect(() => bringUpToDate(path)).toThrow(expect.objectContaining({ exitCode: 4 }))
  held.release()
  expect(bringUpToDate(path)).toEqual({ from: 1, to: SCHEMA_VERSION, backup: `${path}.schema-1` })
  expect(bringUpToDate(path)).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION })
  expect(() => bringUpToDate(`${path}.none`)).toThrow('no journal at')
  const again = openJournal(path, JOURNAL_OPTIONS)
  const reader = openReader(path)
  expect(reader.recover()).toMatchObject({ orders: [{ order: { id: 'o1' } }], attempts: [{ state: 'unknown' }] })
  // Journals of schema 1 have no separate fees of venue and service, so these are unknown.
  const costs = {
    ...NO_COSTS,
    ...{ tradeLamports: 50_000_000, baseFeeLamports: 5_000, priorityFeeLamports: 100_000, rentPaidLamports: 2_039_280 },
    unknown: ['venueFee', 'serviceFee'],
  }
  const [first, second] = reader.recover().untaken
  expect(first?.report.fill).toEqual({ ...fill(2), costs })
  expect(second?.report).toEqual(report(3, { state: 'failed' }))
  expect(reader.fills()).toMatchObject([{ orderId: 'o2', sol: 0.05, costs: { tradeSol: 0.05, venueFeeSol: 0 } }])
  reader.close()
  const db = new Database(path, { readonly: true })
  expect(db.pragma('user_version', { simple: true })).toBe(SCHEMA_VERSION)
  db.close()
  await again.close()
})

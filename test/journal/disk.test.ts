import { readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import type { Input } from '../../src/engine/messages.ts'
import { openForWriting } from '../../src/journal/database.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { SCHEMA_VERSION } from '../../src/journal/schema/migrations.ts'
import { segmentsOf } from '../../src/journal/tape/recorded-segments.ts'
import { type JournalOptions, openJournal } from '../../src/journal/writer/journal.ts'
import { inputWrites, outputWrites, recordWrites } from '../../src/journal/writer/records.ts'
import type { Space } from '../../src/journal/writer/space.ts'
import { Writer } from '../../src/journal/writer/writer.ts'
import { Mints } from '../../src/market/mints.ts'
import { journalPath, NO_LIMITS, order, start, timeOf, trades } from '../support/journal-samples.ts'

const open = (path: string, more: Partial<JournalOptions> = {}) =>
  openJournal(path, {
    space: NO_LIMITS,
    onFailure: (error) => {
      throw error
    },
    ...more,
  })

/** A journal with one segment of 400 rows and an order. */
async function filled(): Promise<string> {
  const path = journalPath()
  const journal = open(path)
  journal.input(1, timeOf(0), start(1))
  journal.rows(trades(400), 0, 400, 2)
  journal.output(401, timeOf(399), 0, { kind: 'order', order: order(1) })
  await journal.close()
  return path
}

describe('a journal that cannot be read', () => {
  const change = (sql: string) => (path: string) => {
    const db = new Database(path)
    db.exec(sql)
    db.close()
  }
  test.each<[string, (path: string) => void, RegExp]>([
    [
      'a journal of a newer version',
      change(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`),
      /written by a newer version of Sluice/,
    ],
    ['a text file', (path) => writeFileSync(path, 'prices\n'.repeat(100)), /is not a Sluice journal/],
    ['a database of another program', change('PRAGMA application_id = 7'), /is not a Sluice journal/],
    ['a truncated journal', (path) => truncateSync(path, statSync(path).size - 8192), /corrupt: the last 8192 bytes/],
    ['a damaged journal', (path) => writeFileSync(path, damaged(readFileSync(path))), /is corrupt/],
    [
      'a journal with a damaged column',
      change('UPDATE block SET price = zeroblob(length(price))'),
      /its tape block up to seq 401 does not match/,
    ],
    ['a tape of a newer version', change('UPDATE block SET format = 99'), /newer version of Sluice \(format 99\)/],
  ])('%s is refused with exit code 1', async (_what, spoil, message) => {
    const path = await filled()
    spoil(path)
    const refusal = { name: 'SluiceError', exitCode: 1, message: expect.stringMatching(message) }
    await expect(async () => {
      const reader = openReader(path)
      reader.recover()
      return [...reader.blocks(new Mints())]
    }).rejects.toMatchObject(refusal)
    if (/tape|truncated|damaged/.test(_what)) return
    await expect(async () => open(path)).rejects.toMatchObject(refusal)
  })

  test('opening a path without a journal fails with one line', () => {
    expect(() => openReader('/nowhere/sluice.db')).toThrow(/^no journal at \/nowhere\/sluice\.db$/)
  })

  test('the error for a path without a journal names the newest journal in its folder', async () => {
    const folder = dirname(journalPath())
    for (const name of ['older', 'demo', 'stranger']) {
      const path = join(folder, `${name}.db`)
      if (name === 'stranger') new Database(path).exec('CREATE TABLE t (x)').close()
      else await open(path).close()
    }
    utimesSync(join(folder, 'older.db'), 0, 0)
    const path = join(folder, 'sluice.db')
    expect(() => openReader(path)).toThrow(
      `no journal at ${path}; the newest journal in this folder: --journal ${join(folder, 'demo.db')}`,
    )
  })

  /** Overwrites every page except the first one with other bytes. */
  function damaged(file: Buffer): Buffer {
    return file.fill(0xa5, 8192)
  }
})

test('Sluice does not change a database of another program', async () => {
  const path = await filled()
  const db = new Database(path)
  db.pragma('journal_mode = DELETE')
  db.exec('PRAGMA application_id = 7; DROP VIEW trades')
  db.close()
  const before = readFileSync(path)
  expect(() => open(path)).toThrow('is not a Sluice journal')
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('the journal drops old tape step by step, and keeps orders', async () => {
  const path = journalPath()
  const day = 86_400_000
  const journal = open(path, { keepTapeDays: 2 })
  const mints = new Mints()
  journal.input(1, timeOf(0), start(1))
  for (let age = 0; age < 6; age++) {
    const block = trades(10, (age * day) / 10, mints) // 10 ms a row
    journal.rows(block, 0, 10, 2 + age * 20)
    journal.output(12 + age * 20, block.time[9] as number, 0, { kind: 'order', order: order(age + 1) })
    journal.commit(() => {})
  }
  journal.input(200, timeOf((5 * day) / 10 + 20), { kind: 'timer', id: 1 })
  journal.commit(() => {})
  await journal.close()
  const reader = openReader(path)
  const firsts = [...reader.blocks(new Mints())].map(({ time }) => ((time[0] as number) - timeOf(0)) / day)
  expect(firsts).toEqual([4, 5]) // day 3 ended more than two days before the last row
  expect(reader.orders()).toHaveLength(6)
  expect(reader.segments()).toMatchObject([{ complete: false, rows: 20 }])
  reader.close()
})

describe('a disk with little free space', () => {
  const limits = { tapeBytes: 1000, entryBytes: 100, reserveBytes: 200_000 }
  const batch = (segment: number, n: number) => ({
    ...{ segment, time: timeOf(n), slices: [{ block: trades(5, n), from: 0, to: 5, firstSeq: n }] },
    writes: [['counter', `c${n}`, n]] as const,
  })

  test('as free space shrinks, first the tape stops, then entries; both continue later, and the reserved space stays intact', async () => {
    const path = journalPath()
    const told: Space[] = []
    let free = 5000
    const db = openForWriting(path)
    const writer = new Writer(db, { space: limits }, { space: ({ state }) => told.push(state) }, () => free)
    const step = (now: number, n: number) => {
      free = now
      writer.tidy(n * 10_000)
      writer.take(batch(1, n))
      writer.flush()
      return reserveOf(db)
    }
    expect([5000, 900, 80, 120, 600, 1100, 1300].map((now, n) => step(now, n * 5 + 1))).toEqual(
      Array.from({ length: 7 }, () => 200_000),
    )
    expect(told).toEqual(['noTape', 'noEntries', 'noTape', 'ample'])
    writer.close()
    const reader = openReader(path)
    expect([...reader.blocks(new Mints())].map(({ length }) => length)).toEqual([5, 5])
    reader.close()
    const after = new Database(path, { readonly: true })
    expect(after.prepare('SELECT seq, cause FROM gaps').all()).toEqual([{ seq: 6, cause: 'disk' }])
    expect(after.prepare('SELECT first_seq, last_seq, rows FROM missing').all()).toEqual([
      { first_seq: 6, last_seq: 30, rows: 25 },
    ])
    after.close()
  })

  test('a write that the disk refuses uses the reserved space; records that do not fit there stay in memory', () => {
    const path = journalPath()
    const told: Space[] = []
    let free = 5000
    const db = openForWriting(path)
    const writer = new Writer(db, { space: limits }, { space: ({ state }) => told.push(state) }, () => free)
    const pages = db.pragma('page_count', { simple: true }) as number
    const take = (from: number) => writer.take({ segment: 1, time: 1, slices: [], writes: bulk(from) })
    const written = () => db.prepare("SELECT count(*) FROM counter WHERE name LIKE 'bulk%'").pluck().get()
    db.pragma(`max_page_count = ${pages}`) // SQLite reports a full disk
    free = 0
    take(0)
    writer.flush()
    expect([told, written(), reserveOf(db)]).toEqual([['full'], 300, 0])
    for (let n = 300; n < 900; n += 300) take(n)
    expect(() => writer.flush()).toThrow('database or disk is full')
    writer.stuck()
    take(900)
    expect(written()).toBe(300)
    db.pragma(`max_page_count = ${pages + 1000}`)
    free = 5000
    writer.flush()
    writer.tidy(10_000)
    expect([told, written(), reserveOf(db)]).toEqual([['full', 'stuck', 'full', 'ample'], 1200, 200_000])
    writer.close()
  })

  test('on a full disk, the journal writes only records about money, and its segment counts as incomplete', () => {
    const path = journalPath()
    const db = openForWriting(path)
    const writer = new Writer(db, { space: limits }, {}, () => 5000)
    const pages = db.pragma('page_count', { simple: true }) as number
    writer.take({ segment: 1, time: timeOf(0), slices: [], writes: inputWrites(1, 1, timeOf(0), start(1), '{}') })
    writer.flush()
    db.pragma(`max_page_count = ${pages}`)
    writer.take({ segment: 1, time: 1, slices: [], writes: bulk(0) })
    writer.flush()
    const report = { kind: 'report', id: 1, report: { orderId: 'o1' } } as unknown as Input
    const timer = { kind: 'timer', id: 7 } as const
    const note = { kind: 'note', bot: 'b', mint: '', code: '', reason: 'idle' } as const
    const writes = [
      ...inputWrites(1, 2, timeOf(2), report, '{}'),
      ...inputWrites(1, 3, timeOf(3), timer, '{}'),
      ...outputWrites(3, timeOf(3), 0, note, '{}'),
      ...outputWrites(3, timeOf(3), 1, { kind: 'order', order: order(1) }, '{}'),
      ...recordWrites({ kind: 'netResult', result: { time: 3, account: 'paper', bot: 'b', netLamports: 1 } }, 3),
    ]
    writer.take({ segment: 1, time: timeOf(3), slices: [], writes })
    writer.flush()
    expect(db.prepare('SELECT kind FROM input').pluck().all()).toEqual(['report'])
    expect(db.prepare('SELECT kind FROM output').pluck().all()).toEqual(['order'])
    expect(db.prepare('SELECT * FROM net_result').all()).toEqual([])
    expect(db.prepare('SELECT first_seq, last_seq, rows FROM missing').all()).toEqual([
      { first_seq: 3, last_seq: 3, rows: 0 },
    ])
    expect(segmentsOf(db)).toMatchObject([{ complete: false }])
    writer.abandon()
  })

  const bulk = (from: number) =>
    Array.from({ length: 300 }, (_, n) => ['counter', `bulk${from + n}${'x'.repeat(200)}`, n] as const)
  const reserveOf = (db: Database.Database) => db.prepare('SELECT sum(length(room)) FROM reserve').pluck().get() ?? 0
})

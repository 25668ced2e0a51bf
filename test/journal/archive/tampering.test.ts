import { chmodSync, copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { beforeAll, describe, expect, test } from 'vitest'
import { archiveTape } from '../../../src/journal/archive/archive-tape.ts'
import { dayPath } from '../../../src/journal/archive/day-file.ts'
import { forgetTape, listTape, restoreTape, verifyTape } from '../../../src/journal/archive/recorded-days.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { checksumOf, LATE_COLUMNS, SCAN_COLUMNS } from '../../../src/journal/tape/block-row.ts'
import { windowOf } from '../../../src/journal/tape/market-tape.ts'
import { openTape } from '../../../src/journal/tape-files.ts'
import { Mints } from '../../../src/market/mints.ts'
import { called } from '../../e2e/called.ts'
import { contentOf } from '../../support/journal-samples.ts'
import { runs } from '../../support/runs.ts'
import { DAY, T0, writeDays } from '../../support/tape-days.ts'

let path: string
let file: string
let whole: Buffer

beforeAll(async () => {
  path = await writeDays({ seed: 21, days: 3, batches: 4 })
  await archiveTape(path)
  file = dayPath(path, '2026-11-02')
  whole = readFileSync(file)
  chmodSync(file, 0o600)
})

const problems = (): string[] => [...verifyTape(path, [])].map(({ problem }) => problem).filter((text) => text !== '')

function withFile(change: () => void, check: () => void): void {
  try {
    change()
    check()
  } finally {
    writeFileSync(file, whole)
  }
}

test('`tape verify` notices a changed byte at any place of an archived day', () => {
  expect(problems()).toEqual([])
  const count = runs(20)
  const places = Array.from({ length: count }, (_, n) => Math.floor((n * (whole.length - 1)) / (count - 1)))
  for (const place of [...places, 24, 68, 92, 100]) {
    const changed = Buffer.from(whole)
    changed[place] = (changed[place] as number) ^ 0x55
    withFile(
      () => writeFileSync(file, changed),
      () => expect(problems(), `byte ${place}`).toHaveLength(1),
    )
  }
})

/** Changes a block of the archived day, and updates its checksums so that they match. */
function edit(sql: string): void {
  const db = new Database(file)
  db.exec(sql)
  for (const row of db.prepare('SELECT * FROM block').all() as Record<string, unknown>[]) {
    const sums = [SCAN_COLUMNS, LATE_COLUMNS].map((columns) => checksumOf(columns.map((name) => row[name])))
    db.prepare('UPDATE block SET checksum = ?, late_checksum = ? WHERE last_seq = ?').run(...sums, row.last_seq)
  }
  db.close()
}

describe('an edit of an archived day with matching checksums', () => {
  test.each(['price', 'kind', 'time', 'market_cap', 'extra'])(
    '`tape verify` and readers notice an edit of the column %s with matching checksums',
    (column) => {
      withFile(
        () => edit(`UPDATE block SET ${column} = zeroblob(length(${column}))`),
        () => {
          expect(statSync(file).size).toBe(whole.length)
          expect(problems()).toHaveLength(1)
          const reader = openReader(path)
          expect(() => contentOf(reader.blocks(new Mints()))).toThrow(/2026-11-02\.db is corrupt/)
          expect([...reader.changedRows()].length).toBeGreaterThan(0)
          reader.close()
        },
      )
    },
  )
})

const SPOILED: [string, () => void, RegExp][] = [
  [
    'the file of an archived day is missing',
    () => rmSync(file),
    /2026-11-02\.db is missing\. It holds the tape of 2026-11-02: put the file back/,
  ],
  [
    'the file of an archived day is cut off',
    () => writeFileSync(file, whole.subarray(0, -100)),
    /was changed: it has \d+ bytes/,
  ],
  [
    'the file of an archived day belongs to another journal',
    () => writeFileSync(file, readFileSync(other)),
    /belongs to another journal|was changed/,
  ],
]
let other: string

beforeAll(async () => {
  const stranger = await writeDays({ seed: 22, days: 3, batches: 4 })
  await archiveTape(stranger)
  other = dayPath(stranger, '2026-11-02')
})

test.each(SPOILED)(
  'if %s, only commands that need its rows end, and they name the remedy',
  async (_name, spoil, said) => {
    spoil()
    try {
      const reader = openReader(path)
      expect(() => contentOf(reader.blocks(new Mints()))).toThrow(said)
      expect(reader.warmupRange(60).to).toBeGreaterThan(0)
      expect(reader.segments().length).toBeGreaterThan(0)
      expect([...reader.changedRows()]).toMatchObject([{ table: 'tape_day', row: 'day 2026-11-02' }])
      const far = reader.warmupRange(3 * 86_400)
      expect(contentOf(reader.warmup(new Mints(), far)).length).toBeGreaterThan(0)
      reader.close()
      const tape = openTape([path])
      const later = windowOf(tape.market, Date.UTC(2026, 10, 4), T0 + 9 * DAY)
      const rows = [...later.items(new Mints())].filter(({ kind }) => kind === 'rows').length
      expect(rows > 0 || later.rows === 0).toBe(true)
      tape.close()
      expect((await called(['tape', 'list', '--journal', path])).code).toBe(1)
      expect((await called(['tape', 'verify', '--journal', path])).code).toBe(1)
      expect(() => restoreTape(path, ['2026-11-02'])).toThrow(said)
    } finally {
      writeFileSync(file, whole)
    }
  },
)

test('a changed record of an archived day or of one of its blocks is found when the journal is verified', () => {
  const copy = `${path}.copy`
  for (const [sql, table] of [
    ["UPDATE tape_day SET rows = rows + 1 WHERE day = '2026-11-02'", 'tape_day'],
    ["UPDATE tape_day SET sha256 = replace(sha256, 'a', 'b') WHERE day = '2026-11-02'", 'tape_day'],
    ["UPDATE archived_block SET text_checksum = 1 WHERE day = '2026-11-02'", 'block'],
    ['DELETE FROM archived_block WHERE last_seq = (SELECT max(last_seq) FROM archived_block)', 'input or block'],
  ]) {
    copyFileSync(path, copy)
    const db = new Database(path)
    db.exec(sql as string)
    db.pragma('wal_checkpoint(TRUNCATE)')
    const reader = openReader(path)
    expect([...reader.changedRows()].map((finding) => finding.table)).toContain(table)
    reader.close()
    db.close()
    copyFileSync(copy, path)
  }
})

test('if a lost day is given up, the tape begins after it, and every row of the tape can still be proved', async () => {
  const lost = await writeDays({ seed: 23, days: 4, batches: 4 })
  await archiveTape(lost)
  rmSync(dayPath(lost, '2026-11-02'))
  expect(forgetTape(lost, '2026-11-02').map(({ day }) => day)).toEqual(['2026-11-01', '2026-11-02'])
  const reader = openReader(lost)
  expect([...reader.findings()]).toEqual([])
  const [first] = reader.market().stretches
  expect(first?.from).toBeGreaterThanOrEqual(Date.UTC(2026, 10, 2))
  expect(contentOf(reader.blocks(new Mints())).length).toBe(reader.market().rows)
  reader.close()
  expect(listTape(lost).strange).toHaveLength(1) // the file of the first day is never deleted
})

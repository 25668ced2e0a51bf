import { readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lamports } from '../../src/base/units.ts'
import { openJournal } from '../../src/journal/writer/journal.ts'
import {
  attempt,
  fill,
  journalPath,
  keyOf,
  NO_LIMITS,
  order,
  start,
  timeOf,
  trades,
} from '../support/journal-samples.ts'

const document = readFileSync(new URL('../../docs/journal.md', import.meta.url), 'utf8')
const examples = [...document.matchAll(/```sql\n-- (.*)\n([^`]*)```/g)].map(
  ([, name, sql]) => [name ?? '', sql ?? ''] as const,
)

let db: Database.Database

beforeAll(async () => {
  const path = journalPath()
  const journal = openJournal(path, { space: NO_LIMITS, onFailure: (error) => expect.fail(error.message) })
  journal.input(1, timeOf(0), start(1))
  journal.rows(trades(200), 0, 200, 2)
  journal.input(202, timeOf(199), { kind: 'gap', from: timeOf(10), to: timeOf(110), keys: ['trades'] })
  journal.output(202, timeOf(199), 0, { kind: 'order', order: order(1) })
  journal.output(202, timeOf(199), 1, { kind: 'note', bot: 'dips', mint: keyOf(9), code: '', reason: 'no depth' })
  journal.write({ kind: 'attempt', attempt: attempt(1, { priorityFeeLamports: lamports(100_000) }) })
  journal.write({ kind: 'fill', fill: fill(1, { tokens: 1_500_000n, decimals: 6 }) })
  await journal.close()
  db = new Database(path, { readonly: true })
})
afterAll(() => db.close())

test.each(examples)('the SQL example in docs/journal.md returns rows: %s', (_name, sql = '') => {
  expect(db.prepare(sql).all().length).toBeGreaterThan(0)
})

test('docs/journal.md lists every view with its columns', () => {
  const views = db.prepare("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name").pluck().all() as string[]
  const told = [...document.matchAll(/^\| `(\w+)` \|[^|]*\|([^|]*)\|$/gm)].map(([, name, columns]) => ({
    name,
    columns,
  }))
  expect(told.map(({ name }) => name).sort()).toEqual(views)
  for (const { name, columns } of told) {
    const named = (columns ?? '')
      .replace(/\(.*?\)/g, '')
      .split(',')
      .map((column) => column.trim())
    const theirs = db
      .prepare(`SELECT * FROM ${name}`)
      .columns()
      .map((column) => column.name)
    const [last] = named.slice(-1)
    if (last === 'and each cost') expect(theirs).toEqual(expect.arrayContaining(named.slice(0, -1)))
    else expect(named).toEqual(theirs)
  }
})

test('docs/journal.md has examples', () => {
  expect(examples.length).toBe(document.split('```sql').length - 1)
})

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { backUp } from '../../src/journal/copy-before-migration.ts'
import { openForWriting } from '../../src/journal/database.ts'
import { bringUpToDate } from '../../src/journal/migrate.ts'
import { SCHEMA_VERSION } from '../../src/journal/schema/migrations.ts'
import { journalPath } from '../support/journal-samples.ts'

const RECORDED = gunzipSync(readFileSync(new URL('./journals/cloud.db.gz', import.meta.url)))
/** The schema version of the recorded journal. */
const BEFORE = RECORDED.readUInt32BE(60)

/** Writes a journal of an earlier version, and returns its path. */
function olderJournal(): string {
  const path = journalPath()
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, RECORDED)
  return path
}

function ordersIn(path: string): number {
  const db = new Database(path, { readonly: true })
  const count = db.prepare('SELECT count(*) FROM "order"').pluck().get() as number
  db.close()
  return count
}

const beside = (path: string): string[] =>
  readdirSync(dirname(path)).filter((name) => name.startsWith(`${basename(path)}.schema`))

test('a migration keeps a private and complete copy of the older journal, and deletes the copy of an earlier migration', () => {
  const path = olderJournal()
  const older = `${path}.schema-3`
  new Database(older).close()
  const { backup } = bringUpToDate(path)
  expect(backup).toBe(`${path}.schema-${BEFORE}`)
  expect(beside(path)).toEqual([basename(backup as string)])
  expect(statSync(backup as string).mode & 0o777).toBe(0o600)
  const copy = new Database(backup as string, { readonly: true })
  expect(copy.pragma('user_version', { simple: true })).toBe(BEFORE)
  copy.close()
  expect(ordersIn(backup as string)).toBe(ordersIn(path))
  expect(ordersIn(path)).toBeGreaterThan(0)
  expect(bringUpToDate(path)).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION })
})

test('the copy that a migration keeps can take the place of the journal, and is migrated again', () => {
  const path = olderJournal()
  const { backup } = bringUpToDate(path)
  expect(bringUpToDate(backup as string)).toMatchObject({ from: BEFORE, to: SCHEMA_VERSION })
})

test('a migration without a copy leaves no file next to the journal', () => {
  const path = olderJournal()
  expect(bringUpToDate(path, { backup: false })).toEqual({ from: BEFORE, to: SCHEMA_VERSION })
  expect(beside(path)).toEqual([])
})

test('opening a new journal makes no copy of it', () => {
  const path = journalPath()
  openForWriting(path).close()
  expect(beside(path)).toEqual([])
})

test('if there is no space for the copy, a migration leaves the journal unchanged', () => {
  const path = olderJournal()
  const db = new Database(path)
  expect(() => backUp(db, path, BEFORE, 1_000_000)).toThrow(
    /needs 6\d MiB of disk space, but 1 MiB are free: .*`sluice migrate --skip-backup --journal/,
  )
  db.close()
  expect(existsSync(`${path}.schema-${BEFORE}`)).toBe(false)
})

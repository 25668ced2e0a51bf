import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openForWriting } from '../../src/journal/database.ts'
import { lockJournal } from '../../src/journal/lock.ts'
import { backUpOnline } from '../../src/journal/online-backup.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { called } from '../e2e/called.ts'
import { tradedJournal } from '../support/traded-journal.ts'

const traded = tradedJournal()
const OLDER = gunzipSync(readFileSync(new URL('./journals/cloud.db.gz', import.meta.url)))

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'sluice-backup-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

/** Returns a new journal, and a target in another folder. */
function files(): { from: string; to: string; backups: string } {
  const path = folder()
  const from = join(path, 'journal.db')
  copyFileSync(traded, from)
  const backups = join(path, 'backups')
  mkdirSync(backups)
  return { from, to: join(backups, 'copy.db'), backups }
}

const contentOf = (path: string): Buffer => {
  const db = new Database(path, { readonly: true })
  try {
    return db.serialize().subarray(100) // without the header, which counts the changes
  } finally {
    db.close()
  }
}

test('`backup` writes one private file with every row of the journal, and prints the time of the last row', async () => {
  const { from, to, backups } = files()
  const backup = await called(['backup', from, to, '--json'])
  expect(backup).toMatchObject({ code: 0, stderr: '' })
  const said = JSON.parse(backup.stdout)
  const reader = openReader(from)
  const { nextSeq, lastTime } = reader.recover()
  reader.close()
  expect(said).toMatchObject({
    from,
    to,
    bytes: statSync(to).size,
    state: { lastSeq: nextSeq - 1, lastTime, findings: 0 },
  })
  expect(readdirSync(backups)).toEqual(['copy.db'])
  expect(statSync(to).mode & 0o777).toBe(0o600)
  const [one, other] = await Promise.all([from, to].map((journal) => called(['fills', '--journal', journal, '--json'])))
  expect(other?.stdout).toBe(one?.stdout)
  expect((await called(['backup', from, to, '--replace'])).stdout).toMatch(
    /copy\.db is a copy of \S+ \([\d.]+ MB\) up to row \d+ of .*, with \d+ open positions?, \d+ open orders?; no damage, all checksums match\n/,
  )
})

test('a backup has the state of the journal at one moment, even if another connection commits between its steps', async () => {
  const { from, to } = files()
  const writer = openForWriting(from)
  writer.exec('CREATE TABLE witness (n INTEGER); INSERT INTO witness VALUES (0)')
  // 64 MiB, so that the backup copies the file in several steps.
  writer.exec('CREATE TABLE filling (data BLOB)')
  for (let n = 0; n < 16; n++) writer.exec(`INSERT INTO filling VALUES (zeroblob(${4 * 2 ** 20}))`)
  const steps: number[] = []
  await backUpOnline(from, to, {
    copied: (bytes) => {
      steps.push(bytes)
      writer.exec('UPDATE witness SET n = n + 1; INSERT INTO filling VALUES (zeroblob(9000))')
    },
  })
  const commits = writer.prepare('SELECT n FROM witness').pluck().get() as number
  writer.close()
  expect(commits).toBeGreaterThanOrEqual(4)
  expect(steps).toEqual(steps.toSorted((one, other) => one - other)) // it never began again
  const copy = new Database(to, { readonly: true })
  expect(copy.prepare('SELECT (SELECT n FROM witness), (SELECT count(*) FROM filling)').raw().get()).toEqual([0, 16])
  copy.close()
})

test('a backup of a backup and a restored backup equal the journal', async () => {
  const { from, to, backups } = files()
  await backUpOnline(from, to)
  const again = join(backups, 'again.db')
  await backUpOnline(to, again)
  expect(contentOf(again)).toEqual(contentOf(to))
  openForWriting(again).close()
})

test('`backup` copies a journal of an older schema unchanged, and prints that its rows were not checked', async () => {
  const { from, to } = files()
  writeFileSync(from, OLDER)
  const { code, stdout } = await called(['backup', from, to])
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('so its rows were not checked') })
  expect(await called(['migrate', '--journal', to])).toMatchObject({ code: 0 })
})

test('`backup` reports a changed row of the journal with exit code 1, and keeps the copy', async () => {
  const { from, to } = files()
  const db = new Database(from)
  db.exec("UPDATE output SET reason = reason || '!' WHERE seq = (SELECT max(seq) FROM output)")
  db.close()
  const { code, stderr } = await called(['backup', from, to])
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/does not match its checksums: \d+ rows? changed .*`sluice replay --journal/),
  })
  expect(existsSync(to)).toBe(true)
})

test('a journal in which a row was tampered with does not replace an older backup', async () => {
  const { from, to, backups } = files()
  await backUpOnline(from, to)
  const before = contentOf(to)
  const db = new Database(from)
  db.exec("UPDATE output SET reason = reason || '!' WHERE seq = (SELECT max(seq) FROM output)")
  db.close()
  const { code, stderr } = await called(['backup', from, to, '--replace'])
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/Therefore .*copy\.db is kept; name another/),
  })
  expect(contentOf(to)).toEqual(before)
  expect(readdirSync(backups)).toEqual(['copy.db'])
})

test('a corrupt journal does not replace an older backup', async () => {
  const { from, to, backups } = files()
  await backUpOnline(from, to)
  const before = contentOf(to)
  const bytes = readFileSync(from)
  bytes.fill(0x5a, 3 * 8192 + 100, 4 * 8192)
  writeFileSync(from, bytes)
  const { code, stderr } = await called(['backup', from, to, '--replace'])
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('is corrupt') })
  expect(contentOf(to)).toEqual(before)
  expect(readdirSync(backups)).toEqual(['copy.db'])
})

describe('a backup refuses', () => {
  test.each<[what: string, code: number, says: RegExp, prepare: (from: string, to: string) => string | undefined]>([
    ['a copy to an existing file', 2, /already exists; --replace/, (from, to) => void copyFileSync(from, to)],
    ['a copy to the journal itself', 2, /is the journal itself/, (from) => from],
    [
      'a copy to an existing file that is not a journal, even with --replace',
      1,
      /is not a Sluice journal/,
      (_, to) => {
        writeFileSync(to, 'a diary')
        return `${to} --replace`
      },
    ],
    ['a copy to a folder', 2, /is a folder/, (_, to) => dirname(to)],
    ['a copy to a folder that does not exist', 2, /is not a folder; create it/, (_, to) => join(to, 'copy.db')],
    [
      'a copy to a path with the log of another journal',
      2,
      /SQLite would apply it to the copy/,
      (_, to) => void writeFileSync(`${to}-wal`, 'x'),
    ],
    [
      'a copy to a journal that a process writes',
      4,
      /is in use by process/,
      (from, to) => {
        copyFileSync(from, to)
        const lock = lockJournal(to)
        onTestFinished(() => lock.release())
        return `${to} --replace`
      },
    ],
  ])('`backup` refuses %s, with exit code %i', async (_what, code, says, prepare) => {
    const { from, to } = files()
    const before = contentOf(from)
    const ended = await called(['backup', from, ...(prepare(from, to) ?? to).split(' ')])
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(says) })
    expect(contentOf(from)).toEqual(before)
  })

  test('`backup` refuses a copy that would stop the recording on the same disk, or that does not fit', async () => {
    const { from, to, backups } = files()
    const tight = backUpOnline(from, to, { freeBytes: 600 * 2 ** 20 })
    await expect(tight).rejects.toThrow(
      /needs 64\d MiB of free disk space, 640 MiB of it for a process .*but 600 MiB are free/,
    )
    expect(readdirSync(backups)).toEqual([])
    await backUpOnline(from, to, { freeBytes: 700 * 2 ** 20 })
  })
})

test('the next backup deletes the partial copy of a backup that was killed', async () => {
  const { from, to, backups } = files()
  for (const name of [
    'copy.db.partial-999999999',
    'copy.db.partial-999999999-journal',
    `copy.db.partial-${process.ppid}`,
  ])
    writeFileSync(join(backups, name), '')
  await backUpOnline(from, to)
  expect(readdirSync(backups).sort()).toEqual(['copy.db', `copy.db.partial-${process.ppid}`])
})

import { existsSync, readdirSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { archiveTape } from '../../../src/journal/archive/archive-tape.ts'
import { archiveFolder } from '../../../src/journal/archive/day-file.ts'
import { DayMove } from '../../../src/journal/archive/day-move.ts'
import { listTape, restoreTape, verifyTape } from '../../../src/journal/archive/recorded-days.ts'
import { openForWriting } from '../../../src/journal/database.ts'
import { lockJournal } from '../../../src/journal/lock.ts'
import { Transactions } from '../../../src/journal/writer/transactions.ts'
import { runs } from '../../support/runs.ts'
import { readAll, writeDays } from '../../support/tape-days.ts'

test('all readers of a journal return the same rows after any sequence of archives and restores', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('archive' as const), days: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ kind: fc.constant('restore' as const), days: fc.integer({ min: 0, max: 15 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.array(step, { minLength: 1, maxLength: 3 }), async (seed, steps) => {
      const path = await writeDays({ seed, days: 3, batches: 4 })
      const before = readAll(path)
      expect(before.findings).toEqual([])
      for (const { kind, days } of steps) {
        if (kind === 'archive') await archiveTape(path, { until: `2026-11-0${days}` })
        else {
          const named = listTape(path).days.filter((_, index) => (days >> index) % 2 === 1)
          if (named.length > 0)
            restoreTape(
              path,
              named.map(({ day }) => day),
            )
        }
        expect(readAll(path)).toEqual(before)
        expect([...verifyTape(path, [])].every(({ problem }) => problem === '')).toBe(true)
      }
      const { days } = listTape(path)
      if (days.length > 0)
        restoreTape(
          path,
          days.map(({ day }) => day),
        )
      expect(readAll(path)).toEqual(before)
      expect(existsSync(archiveFolder(path))).toBe(false)
    }),
    { numRuns: runs(2) },
  )
})

test('an archive moves the closed days to private files, one for each day, and leaves the last day in the journal', async () => {
  const path = await writeDays({ seed: 3, days: 3 })
  const { days, byProcess } = await archiveTape(path)
  expect(byProcess).toBe(false)
  expect(days.map(({ day }) => day)).toEqual(['2026-11-01', '2026-11-02'])
  const names = readdirSync(archiveFolder(path)).filter((name) => name.startsWith('2026'))
  expect(names).toEqual(days.flatMap(({ day }) => [`${day}.db`, `${day}.db.sha256`]))
  for (const { file } of listTape(path).days) expect(statSync(file).mode & 0o777).toBe(0o400)
  const db = new Database(path, { readonly: true })
  expect(db.prepare(`SELECT DISTINCT date(last_time / 1000, 'unixepoch') FROM block`).pluck().all()).toEqual([
    '2026-11-03',
  ])
  db.close()
})

test('if the process that writes the journal is killed during an archive, its successor gets the journal and moves the days', async () => {
  const path = await writeDays({ seed: 3, days: 3 })
  const killed = lockJournal(path)
  const archive = archiveTape(path, { step: () => killed.release() })
  const successor = lockJournal(path)
  expect(listTape(path).days).toEqual([])
  const db = openForWriting(path)
  const transactions = new Transactions(db, false)
  const move = new DayMove(db, transactions)
  while (move.look()) move.step()
  move.close()
  transactions.close()
  successor.release()
  expect((await archive).byProcess).toBe(true)
  expect([...verifyTape(path, [])].map(({ problem }) => problem)).toEqual(['', ''])
})

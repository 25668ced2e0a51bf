import fs, { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { archiveTape } from '../../../src/journal/archive/archive-tape.ts'
import { archiveFolder } from '../../../src/journal/archive/day-file.ts'
import { listTape, restoreTape } from '../../../src/journal/archive/recorded-days.ts'
import { Transactions } from '../../../src/journal/writer/transactions.ts'
import { runs } from '../../support/runs.ts'
import { readAll, readTape, writeDays } from '../../support/tape-days.ts'

/** The tests copy all files at each step of a command, because a kill at this step would leave these files. The next
 *  command then runs on every sixth copy, and on every copy in CI. */
const GO_ON_EVERY = runs(1) > 1 ? 1 : 6
const OPERATIONS = ['renameSync', 'rmSync', 'fsyncSync', 'chmodSync', 'writeFileSync'] as const

afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

/** Runs a command and copies all files before each change of a file and around each transaction: a kill at that moment
 *  would leave these files. Returns the paths of the journals in the copies. */
async function killedAtEveryStep(path: string, run: () => unknown): Promise<string[]> {
  const copies = mkdtempSync(join(tmpdir(), 'sluice-killed-'))
  onTestFinished(() => rmSync(copies, { recursive: true, force: true }))
  const found: string[] = []
  let isCopying = false
  const copy = (): void => {
    if (isCopying) return
    isCopying = true
    const target = join(copies, String(found.length))
    // The next process does not use the lock files and SQLite's shared-memory file (`-shm`), so they are not copied.
    cpSync(dirname(path), target, { recursive: true, filter: (file) => !/-shm$|\.lock/.test(file) })
    found.push(join(target, basename(path)))
    isCopying = false
  }
  for (const name of OPERATIONS) {
    const real = fs[name] as (...args: unknown[]) => unknown
    vi.spyOn(fs, name).mockImplementation(((...args: unknown[]) => {
      copy()
      return real(...args)
    }) as never)
  }
  const transact = Transactions.prototype.run
  vi.spyOn(Transactions.prototype, 'run').mockImplementation(function (this: Transactions, work) {
    copy()
    transact.call(this, work)
    copy()
  })
  syncBuiltinESMExports()
  await run()
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  return found
}

test('a kill at any step of an archive leaves the whole tape, and the next archive completes the work', async () => {
  const path = await writeDays({ seed: 11, days: 2, batches: 3, rows: 4 })
  const [tape, all] = [readTape(path), readAll(path)]
  const copies = await killedAtEveryStep(path, () => archiveTape(path))
  expect(copies.length).toBeGreaterThan(15)
  const after = listTape(path).days.map(({ day }) => day)
  for (const [index, copy] of copies.entries()) {
    expect(readTape(copy)).toEqual(tape)
    if (index % GO_ON_EVERY !== 0) continue
    await archiveTape(copy)
    expect(readTape(copy)).toEqual(tape)
    expect(listTape(copy).days.map(({ day, whole, problem }) => [day, whole, problem])).toEqual(
      after.map((day) => [day, 1, '']),
    )
  }
  expect(readAll(copies.at(-1) as string)).toEqual(all)
})

test('a kill at any step of a restore leaves the whole tape, and the next restore completes the work', async () => {
  const path = await writeDays({ seed: 12, days: 2, batches: 3, rows: 4 })
  const [tape, all] = [readTape(path), readAll(path)]
  await archiveTape(path)
  const days = listTape(path).days.map(({ day }) => day)
  const copies = await killedAtEveryStep(path, () => restoreTape(path, days))
  expect(copies.length).toBeGreaterThan(6)
  for (const [index, copy] of copies.entries()) {
    expect(readTape(copy)).toEqual(tape)
    if (index % GO_ON_EVERY !== 0) continue
    const left = listTape(copy).days.map(({ day }) => day)
    if (left.length > 0) restoreTape(copy, left)
    expect(listTape(copy).days).toEqual([])
    expect(readTape(copy)).toEqual(tape)
  }
  expect(readAll(path)).toEqual(all)
  expect(fs.existsSync(archiveFolder(path))).toBe(false)
})

import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { archiveTape } from '../../../src/journal/archive/archive-tape.ts'
import { dayPath } from '../../../src/journal/archive/day-file.ts'
import { verifyTape } from '../../../src/journal/archive/recorded-days.ts'
import { backUpOnline } from '../../../src/journal/online-backup.ts'
import { called } from '../../e2e/called.ts'
import { readTape, writeDays } from '../../support/tape-days.ts'

test('a backup contains the archived days and verifies them; a second backup copies only new days', async () => {
  const path = await writeDays({ seed: 31, days: 3, batches: 4 })
  const tape = readTape(path)
  await archiveTape(path, { until: '2026-11-01' })
  const to = `${path}.backup.db`
  const first = await backUpOnline(path, to)
  expect(first).toMatchObject({ days: 1, state: { findings: 0 } })
  expect(readTape(to)).toEqual(tape)
  const made = statSync(dayPath(to, '2026-11-01')).ino
  await archiveTape(path)
  const said = await called(['backup', path, to, '--replace'])
  expect(said.stdout).toMatch(/and 2 archived days in \S+\.tape \([\d.]+ MB\).*all checksums match/)
  expect(statSync(dayPath(to, '2026-11-01')).ino).toBe(made)
  expect(readTape(to)).toEqual(tape)
  expect([...verifyTape(to, [])].map(({ problem }) => problem)).toEqual(['', ''])
  expect(readdirSync(`${to}.tape`).filter((name) => name.endsWith('.db'))).toHaveLength(2)
})

test('a backup counts a changed or missing day as a finding, and never replaces its own good copy of the day', async () => {
  const path = await writeDays({ seed: 32, days: 3, batches: 4 })
  const { days } = await archiveTape(path)
  const to = `${path}.backup.db`
  await backUpOnline(path, to)
  const [file, copy] = [dayPath(path, '2026-11-01'), dayPath(to, '2026-11-01')]
  const bytes = readFileSync(copy)
  chmodSync(file, 0o600)
  const changed = Buffer.from(bytes)
  changed[bytes.length - 50] = (changed[bytes.length - 50] as number) ^ 1
  writeFileSync(file, changed)
  // The earlier backup has an undamaged copy of the archived day, so no row is lost.
  expect(await backUpOnline(path, to, { replace: true })).toMatchObject({ state: { findings: 0 } })
  expect(readFileSync(copy)).toEqual(bytes)
  rmSync(copy)
  await expect(backUpOnline(path, to, { replace: true })).rejects.toThrow(/does not match its checksums/)
  const elsewhere = `${path}.elsewhere.db`
  expect(await backUpOnline(path, elsewhere)).toMatchObject({ days: days.length - 1, state: { findings: 1 } })
  // A backup of the backup restores the journal with its days.
  writeFileSync(copy, bytes)
  const restored = `${path}.restored.db`
  await backUpOnline(to, restored)
  expect(readTape(restored)).toEqual(readTape(to))
})

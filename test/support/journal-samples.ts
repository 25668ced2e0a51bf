import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

export * from './journal-values.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** Returns a path for a journal in a temporary folder, which is removed after the tests of the file. */
export function journalPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-journal-'))
  folders.push(folder)
  return join(folder, 'new', 'sluice.db')
}

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'

/** Returns a folder outside of the repository, which is removed after the tests of the file. */
export function temporaryFolder(): { path: string; write: (name: string, text: string, mode?: number) => string } {
  const path = mkdtempSync(join(tmpdir(), 'sluice-config-'))
  afterAll(() => rmSync(path, { recursive: true }))
  const write = (name: string, text: string, mode = 0o600) => {
    const file = join(path, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    chmodSync(file, mode)
    return file
  }
  return { path, write }
}

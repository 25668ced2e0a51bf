import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs a function with a folder for journals. The folder is on the same disk as the system's temporary files. */
export async function inTemporaryFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    return await run(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

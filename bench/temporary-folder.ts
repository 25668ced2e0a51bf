import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder for the journals of a run, on disk like the system's temporary files. */
export async function inTemporaryFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    return await run(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder for the journals of a run; on a disk as the system's temporary files are. */
export async function inTemporaryFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    return await run(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { errorOf } from '../base/errors.ts'
import { backupPath, partialBackup } from './copy-before-migration.ts'
import { bringUpToDate, type Migration, migratesFrom } from './migrate.ts'
import type { FromMigrationThread, MigrationStart } from './migrate-thread.ts'

/** Functions that receive the progress of a migration. */
export interface MigrationReport {
  /** Receives the number of bytes copied so far, and the size of the journal. */
  readonly copied: (bytes: number, of: number) => void
  /** Receives the number of rows that have a checksum now, and the total number. */
  readonly sealed: (rows: number, of: number) => void
}

const POLL_MS = 100

/** Migrates a journal as `bringUpToDate` does. The migration runs in a thread of its own, because SQLite copies a
 *  journal in one call that blocks. Meanwhile this thread reports the progress, which it takes from the size of the
 *  copy. */
export async function migrateInThread({ path, backup }: MigrationStart, report: MigrationReport): Promise<Migration> {
  const from = migratesFrom(path)
  if (from === undefined) return bringUpToDate(path, { backup })
  const copy = partialBackup(backupPath(path, from))
  const { promise, resolve, reject } = Promise.withResolvers<Migration>()
  const workerData: MigrationStart = { path, backup }
  const thread = new Worker(new URL('./migrate-thread.ts', import.meta.url), { workerData })
  thread.on('error', reject)
  thread.on('exit', () => reject(new Error('the migration thread exited before the migration was complete')))
  thread.on('message', (message: FromMigrationThread) => {
    if (message.kind === 'sealed') report.sealed(message.rows, message.of)
    else if (message.kind === 'done') resolve(message.migration)
    else reject(errorOf(message))
  })
  const poll = setInterval(() => {
    const bytes = sizeOf(copy)
    if (bytes > 0) report.copied(bytes, sizeOf(path) + sizeOf(`${path}-wal`))
  }, POLL_MS)
  try {
    return await promise
  } finally {
    clearInterval(poll)
    await thread.terminate()
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

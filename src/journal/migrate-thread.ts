// A thread that migrates a journal, while the main thread shows the progress.
import { parentPort, workerData } from 'node:worker_threads'
import { type Failed, failedOf } from '../base/errors.ts'
import { bringUpToDate, type Migration } from './migrate.ts'

export interface MigrationStart {
  readonly path: string
  readonly backup: boolean
}

export type FromMigrationThread =
  | { readonly kind: 'sealed'; readonly rows: number; readonly of: number }
  | { readonly kind: 'done'; readonly migration: Migration }
  | Failed

function say(message: FromMigrationThread): void {
  parentPort?.postMessage(message)
}

const { path, backup } = workerData as MigrationStart
try {
  const sealed = (rows: number, of: number): void => say({ kind: 'sealed', rows, of })
  say({ kind: 'done', migration: bringUpToDate(path, { backup, sealed }) })
} catch (error) {
  say(failedOf(error))
}

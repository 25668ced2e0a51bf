import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { SluiceError } from '../base/errors.ts'
import { freeBytesOf } from './writer/space.ts'

const MEBIBYTE = 2 ** 20
/** Free bytes that must remain after a backup, for the migration itself. */
const ROOM_FOR_MIGRATION = 64 * MEBIBYTE

/** Returns the path of the backup that is made before a journal of this schema version is migrated. */
export function backupPath(path: string, version: number): string {
  return `${path}.schema-${version}`
}

/** Returns the path that a backup has until it is complete. */
export function partialBackup(backup: string): string {
  return `${backup}.partial`
}

/** Copies a journal before it is migrated. After a crash, there is either no backup or a complete one. Deletes the
 *  backups of earlier migrations. Throws SluiceError if the disk has no space for the copy. */
export function backUp(db: Database, path: string, version: number, freeBytes = freeBytesOf(dirname(path))): void {
  const [size, log] = [path, `${path}-wal`].map((file) => (existsSync(file) ? statSync(file).size : 0)) as [
    number,
    number,
  ]
  const needed = size + log + ROOM_FOR_MIGRATION
  if (freeBytes < needed)
    throw new SluiceError(
      `${path} has an older schema (${version}), and the backup before its migration needs ${inMebibytes(needed)} MiB of disk space, but ${inMebibytes(freeBytes)} MiB are free: free some space, or migrate without a backup: \`sluice migrate --skip-backup --journal ${path}\``,
    )
  const target = backupPath(path, version)
  const partial = partialBackup(target)
  rmSync(partial, { force: true })
  // The file exists beforehand, because SQLite would create it with a mode that others can read.
  closeSync(openSync(partial, 'wx', 0o600))
  try {
    db.prepare('VACUUM INTO ?').run(partial)
    flush(partial)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
  renameSync(partial, target)
  flush(dirname(path))
  for (const older of backupsOf(path)) if (older !== target) rmSync(older, { force: true })
}

function backupsOf(path: string): string[] {
  const folder = dirname(path)
  const start = `${basename(path)}.schema-`
  return readdirSync(folder)
    .filter((name) => name.startsWith(start) && /^\d+$/.test(name.slice(start.length)))
    .map((name) => join(folder, name))
}

/** Waits until a file is on the disk. If the path is a folder, waits for its list of files. */
export function flush(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

export function inMebibytes(bytes: number): number {
  return Math.ceil(bytes / MEBIBYTE)
}

import { chmodSync, copyFileSync, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { flush } from '../copy-before-migration.ts'
import { lockArchive } from '../lock.ts'
import { archiveFolder, dayPath, differenceOf, sha256Of, type TapeDay, writtenSum } from './day-file.ts'
import { removeEmpty, removePartials, writeSum } from './write-day.ts'

/** Returns the archived days that a copy of a journal records; none in a copy of an older schema. */
export function daysOf(copy: Database): TapeDay[] {
  const hasTable = copy.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'tape_day'`).get() !== undefined
  return hasTable ? copy.prepare<[], TapeDay>('SELECT * FROM tape_day ORDER BY day').all() : []
}

/** Returns the days whose files are in the backup. */
export function daysIn(to: string, days: readonly TapeDay[]): TapeDay[] {
  return days.filter(({ day, bytes }) => sizeOf(dayPath(to, day)) === bytes)
}

/** Returns the total size, in bytes, of the days' files that are not in the backup yet. */
export function bytesToCopy(days: readonly TapeDay[], to: string): number {
  const there = daysIn(to, days)
  return days.reduce((sum, day) => sum + (there.includes(day) ? 0 : day.bytes), 0)
}

interface CopyOptions {
  /** Whether a different file with the name of a day's file is replaced. */
  readonly replace?: boolean
  /** Receives the number of bytes copied so far, and the total number. */
  readonly copied?: (bytes: number, of: number) => void
}

/** Copies the files of archived days to the folder of a backup, and reads every byte of each. A file that the backup
 *  already has is only read. Days whose files cannot be read are left out; the check of the copy counts them. Throws
 *  SluiceError if a different file has the name of a day's file, unless `replace` is set. */
export function copyDays(
  from: string,
  to: string,
  days: readonly TapeDay[],
  { replace = false, copied }: CopyOptions,
): void {
  if (days.length === 0) return
  const folder = archiveFolder(to)
  const lock = lockArchive(folder)
  try {
    removePartials(folder)
    const of = days.reduce((sum, { bytes }) => sum + bytes, 0)
    let done = 0
    for (const day of days) {
      copyDay(from, to, day, replace)
      done += day.bytes
      copied?.(done, of)
    }
    flush(folder)
  } finally {
    lock.release()
    removeEmpty(folder)
  }
}

function copyDay(from: string, to: string, day: TapeDay, replace: boolean): void {
  const [source, target] = [dayPath(from, day.day), dayPath(to, day.day)]
  const isThere = existsSync(target)
  const isSame = isThere && sizeOf(target) === day.bytes && sha256Of(target) === day.sha256
  if (isSame && writtenSum(target) === day.sha256) return
  if (!isSame) {
    if (differenceOf(source, day) !== '') return
    const partial = `${target}.partial`
    copyFileSync(source, partial)
    chmodSync(partial, 0o400)
    flush(partial)
    if (sha256Of(partial) !== day.sha256) {
      rmSync(partial, { force: true })
      return
    }
    if (isThere && !replace) {
      rmSync(partial, { force: true })
      throw new SluiceError(
        `${target} already exists and differs from ${source}; --replace replaces it`,
        ExitCode.usage,
      )
    }
    renameSync(partial, target)
  }
  writeSum(target)
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

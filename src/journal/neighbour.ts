import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ExitCode, SluiceError } from '../core/errors.ts'
import { APPLICATION_ID } from './schema.ts'

/** Where SQLite's file header has it. */
const APPLICATION_ID_AT = 68

/** Where there is no journal (exit 2): names the one beside it that was written last, because the demo gives each its own name. */
export function noJournalAt(path: string): SluiceError {
  return new SluiceError(`there is no journal at ${path}${neighbourHint(path)}`, ExitCode.usage)
}

/** `; the journal beside it ...`, or nothing. */
export function neighbourHint(path: string): string {
  const newest = newestBeside(path)
  return newest === undefined ? '' : `; the journal beside it that was written last: --journal ${newest}`
}

function newestBeside(path: string): string | undefined {
  const folder = dirname(path)
  const found = (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith('.db') && name !== basename(path))
    .map((name) => join(folder, name))
    .filter(isJournal)
    .map((file) => ({ file, time: writtenAt(file) }))
  return found.toSorted((one, other) => other.time - one.time)[0]?.file
}

/** The log is written first. */
function writtenAt(file: string): number {
  return Math.max(...[file, `${file}-wal`].filter(existsSync).map((one) => statSync(one).mtimeMs))
}

function isJournal(file: string): boolean {
  const id = Buffer.alloc(4)
  try {
    const opened = openSync(file, 'r')
    try {
      return readSync(opened, id, 0, 4, APPLICATION_ID_AT) === 4 && id.readUInt32BE(0) === APPLICATION_ID
    } finally {
      closeSync(opened)
    }
  } catch {
    return false // somebody else's, or gone meanwhile
  }
}

import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { ExitCode, SluiceError } from '../core/errors.ts'
import { guarded } from './database.ts'

/** Held until it is released or the process ends, however it ends: the system takes it back, also after kill -9. */
export interface Lock {
  /** Nothing on this machine ever held it before. */
  readonly isFirst: boolean
  release(): void
}

/** Keeps a second process off a journal; its readers never come here. Throws SluiceError: exit 4 that names the holder, exit 1 where nothing
 *  can be written there. */
export function lockJournal(path: string): Lock {
  return guarded(path, () => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const real = existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path))
    return lockFile(`${real}.lock`, `the journal ${path}`)
  })
}

/** Keeps a second process off something that has no file of its own: a wallet, an API key. `what` is what the message calls it; the name
 *  may be secret, so only its hash is written. Throws SluiceError (exit 4) that names the holder. */
export function lockName(stateFolder: string, what: string, name: string): Lock {
  const hash = createHash('sha256').update(`${what}\0${name}`).digest('hex').slice(0, 32)
  return guarded(stateFolder, () => {
    mkdirSync(stateFolder, { recursive: true, mode: 0o700 })
    return lockFile(join(stateFolder, `${hash}.lock`), what)
  })
}

function lockFile(path: string, what: string): Lock {
  const isFirst = !existsSync(path)
  closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
  const db = new Database(path, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (!(error instanceof Database.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error
    throw new SluiceError(`${what} is in use by ${holderOf(path)}`, ExitCode.unsafe)
  }
  const since = new Date(Date.now() - process.uptime() * 1000).toISOString()
  writeFileSync(`${path}.holder`, `process ${process.pid}, started ${since}`, { mode: 0o600 })
  return { isFirst, release: () => db.close() }
}

/** While it is held nobody can read the lock file itself, so the holder's name lies beside it. */
function holderOf(path: string): string {
  try {
    return readFileSync(`${path}.holder`, 'utf8').slice(0, 200)
  } catch {
    return 'another process'
  }
}

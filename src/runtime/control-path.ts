import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { ExitCode, SluiceError } from '../core/errors.ts'

/** The system's limit is 104 bytes on macOS and 108 on Linux. */
const LONGEST_SOCKET_PATH = 100

/** Where the process that runs on this journal listens: beside it, or in the runtime directory where that path would be too long. The
 *  journal's folder must exist. Throws a SluiceError where the runtime directory belongs to somebody else. */
export function controlPath(journalPath: string): string {
  const path = join(realpathSync(dirname(resolve(journalPath))), basename(journalPath))
  const beside = `${path}.sock`
  if (Buffer.byteLength(beside) <= LONGEST_SOCKET_PATH) return beside
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16)
  return join(runtimeDirectory(), `sluice-${name}.sock`)
}

/** The file whose presence halts, beside the journal. */
export function haltPath(journalPath: string): string {
  return join(dirname(resolve(journalPath)), 'HALT')
}

function runtimeDirectory(): string {
  const path = process.env.XDG_RUNTIME_DIR || join(tmpdir(), `sluice-${userInfo().uid}`)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const { mode, uid } = lstatSync(path)
  if (uid !== userInfo().uid || (mode & 0o077) !== 0) {
    throw new SluiceError(`${path} must be a directory that is yours alone (chmod 700)`, ExitCode.unsafe)
  }
  return path
}

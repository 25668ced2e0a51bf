import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'

const OTHERS_WRITE = 0o022

/** Throws a SluiceError where another user could put something else in the place of a file, or change it: the file and
 *  its folder must belong to this user or root, and neither group nor others may write there. What is not there is left
 *  to whoever reads it. */
export function refuseChangeable(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return
  const file = realpathSync(path)
  refuseWritable(file, 'chmod go-w')
  refuseWritable(dirname(file), 'chmod go-w')
}

/** As above, of a folder or a file by itself. */
export function refuseWritable(path: string, remedy: string): void {
  const { uid, mode } = statSync(path)
  const isOurs = uid === process.getuid?.() || uid === 0
  if (isOurs && (mode & OTHERS_WRITE) === 0) return
  const shown = (mode & 0o7777).toString(8).padStart(4, '0')
  const why = isOurs ? `other users can write to it (mode ${shown})` : 'it belongs to another user'
  throw new SluiceError(
    `${path}: ${why}, so they could change what is signed here; make it the signer's own, and run: ${remedy} '${path}'`,
    ExitCode.unsafe,
  )
}

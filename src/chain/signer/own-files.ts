import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'

const OTHERS_WRITE = 0o022

/** Throws a SluiceError if another user could replace or change a file: the file and its folder must belong to this
 *  user or root, and neither group nor others may write to them. A missing file is accepted here; the code that reads
 *  it reports the problem. */
export function refuseChangeable(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return
  const file = realpathSync(path)
  refuseWritable(file, 'chmod go-w')
  refuseWritable(dirname(file), 'chmod go-w')
}

/** Throws a SluiceError if another user owns, or could write to, this file or folder. `remedy`: the command to
 *  recommend. */
export function refuseWritable(path: string, remedy: string): void {
  const { uid, mode } = statSync(path)
  const isOurs = uid === process.getuid?.() || uid === 0
  if (isOurs && (mode & OTHERS_WRITE) === 0) return
  const shown = (mode & 0o7777).toString(8).padStart(4, '0')
  const why = isOurs ? `other users can write to it (mode ${shown})` : 'it belongs to another user'
  throw new SluiceError(
    `${path}: ${why}, so another user could control the signatures; make the signer's user its owner, then run: ${remedy} '${path}'`,
    ExitCode.unsafe,
  )
}

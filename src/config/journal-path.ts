import { ExitCode, SluiceError } from '../base/errors.ts'
import { journalFrom } from './effective.ts'
import { readConfigFile } from './read.ts'
import { formatErrors } from './yaml/errors.ts'

/** The journal that these files name together, or the usual one. Nothing else in them has to be right: a process can be
 *  halted while somebody edits its configuration. Throws SluiceError (exit 2) where a file cannot be read, or its
 *  journal is wrong. */
export function journalPathOf(files: readonly string[], cwd: string): string {
  const read = files.map((file) => readConfigFile(file, cwd))
  const errors = read.flatMap(({ file, errors: found }) =>
    file === undefined ? found : found.filter(({ path }) => path.startsWith('journal')),
  )
  if (errors.length > 0)
    throw new SluiceError(`the configuration does not name a journal\n${formatErrors(errors)}`, ExitCode.usage)
  const paths = new Set(
    read.flatMap(({ file }) => file?.sections.journal ?? []).map((journal) => journalFrom(journal, cwd).path),
  )
  if (paths.size > 1)
    throw new SluiceError(`the files name different journals: ${[...paths].join(', ')}`, ExitCode.usage)
  const [path] = paths
  return path ?? journalFrom(undefined, cwd).path
}

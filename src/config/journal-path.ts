import { ExitCode, SluiceError } from '../base/errors.ts'
import { journalFrom } from './convert-sections.ts'
import { readConfigFile } from './read-file.ts'
import { formatErrors } from './yaml/errors.ts'

/** Returns the path of the journal that the files name, or the default path. Other sections may be invalid, because an
 *  operator must be able to halt a process while its configuration is being edited. Throws a SluiceError (exit 2) if a
 *  file cannot be read or its section `journal` is invalid. */
export function journalPathOf(files: readonly string[], cwd: string): string {
  const read = files.map((file) => readConfigFile(file, cwd))
  const errors = read.flatMap(({ file, errors: found }) =>
    file === undefined ? found : found.filter(({ path }) => path.startsWith('journal')),
  )
  if (errors.length > 0)
    throw new SluiceError(`the journal in the configuration is invalid\n${formatErrors(errors)}`, ExitCode.usage)
  const paths = new Set(
    read.flatMap(({ file }) => file?.sections.journal ?? []).map((journal) => journalFrom(journal, cwd).path),
  )
  if (paths.size > 1)
    throw new SluiceError(
      `the files name different journals: ${[...paths].join(', ')}; give files with the same journal.path`,
      ExitCode.usage,
    )
  const [path] = paths
  return path ?? journalFrom(undefined, cwd).path
}

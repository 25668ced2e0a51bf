import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'

/** Text of each new file by its path. The paths are relative to one folder. */
export type NewFiles = Readonly<Record<string, string>>

export interface Written {
  readonly written: readonly string[]
  /** Paths of files that already existed and stay unchanged. */
  readonly kept: readonly string[]
}

/**
 * Writes the files that do not exist yet, with the permissions `mode`. Throws SluiceError if a file cannot be written.
 */
export function writeNew(folder: string, files: NewFiles, mode = 0o666): Written {
  const written: string[] = []
  const kept: string[] = []
  for (const [name, text] of Object.entries(files)) {
    const list = writing(name, () => writeIfNew(join(folder, name), text, mode)) ? written : kept
    list.push(name)
  }
  return { written, kept }
}

/** Writes a file, or replaces one that contains `mark`. Throws SluiceError for any other existing file. */
export function writeGenerated(path: string, text: string, mark: string): void {
  writing(path, () => {
    if (existsSync(path) && !readFileSync(path, 'utf8').includes(mark))
      throw new SluiceError(`${path} already exists and was not written by this command`, ExitCode.usage)
    writeFileSync(path, text)
  })
}

/** Writes the file unless it exists, and returns whether it was written. The exclusive flag makes the check and the
 *  write one step, so a file that another process creates at the same time is not overwritten. */
function writeIfNew(path: string, text: string, mode: number): boolean {
  mkdirSync(dirname(path), { recursive: true })
  try {
    writeFileSync(path, text, { flag: 'wx', mode })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

function writing<T>(name: string, write: () => T): T {
  try {
    return write()
  } catch (error) {
    if (error instanceof SluiceError || (error as NodeJS.ErrnoException).code === undefined) throw error
    throw new SluiceError(`cannot write ${name}: ${(error as Error).message}`)
  }
}

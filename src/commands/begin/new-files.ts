import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'

/** Files to write, by their path below a folder. */
export type NewFiles = Readonly<Record<string, string>>

export interface Written {
  readonly written: readonly string[]
  /** Were there already, and are as they were. */
  readonly kept: readonly string[]
}

/** Writes what is not there; never touches what is. Throws SluiceError where the system does not let it. */
export function writeNew(folder: string, files: NewFiles): Written {
  const written: string[] = []
  const kept: string[] = []
  for (const [name, text] of Object.entries(files)) {
    const list = writing(name, () => writeIfNew(join(folder, name), text)) ? written : kept
    list.push(name)
  }
  return { written, kept }
}

/** Writes over what was written the same way before, known by `mark`, and over nothing else. Throws SluiceError. */
export function writeAgain(path: string, text: string, mark: string): void {
  writing(path, () => {
    if (existsSync(path) && !readFileSync(path, 'utf8').includes(mark))
      throw new SluiceError(`${path} is something else; nothing is overwritten`, ExitCode.usage)
    writeFileSync(path, text)
  })
}

/** The system decides whether it is there, so that nothing can come in between. */
function writeIfNew(path: string, text: string): boolean {
  mkdirSync(dirname(path), { recursive: true })
  try {
    writeFileSync(path, text, { flag: 'wx' })
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
    throw new SluiceError(`${name} cannot be written: ${(error as Error).message}`)
  }
}

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Files to write, by their path below a folder. */
export type NewFiles = Readonly<Record<string, string>>

export interface Written {
  readonly written: readonly string[]
  /** Were there already, and are as they were. */
  readonly kept: readonly string[]
}

/** Writes what is not there; never touches what is. */
export function writeNew(folder: string, files: NewFiles): Written {
  const written: string[] = []
  const kept: string[] = []
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    const list = writeIfNew(path, text) ? written : kept
    list.push(name)
  }
  return { written, kept }
}

/** The system decides whether it is there, so that nothing can come in between. */
function writeIfNew(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

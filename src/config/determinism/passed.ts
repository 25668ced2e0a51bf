import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import module from 'node:module'
import { basename, dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { MANIFEST, SOURCE_ENDING } from '../package-paths.ts'
import { localFiles } from './local-files.ts'

// The check loads Node's parser of TypeScript, which takes 45 ms of processor time. So that later starts can omit the
// check, Sluice writes a note about each file that passed, with a hash of the file and of the check's code. The notes
// are next to Node's cache of compiled code and need no more protection than this cache: a program that can write there
// can change the code that runs.

/** A module of a strategy that was checked for code that a replay could not repeat. */
export interface CheckedModule {
  readonly file: string
  readonly text: string
  /** Specifiers of its imports. */
  readonly imports: readonly string[]
}

/** Whether a strategy's file, and each local module that it imports, passed the check with its present text. */
export function passedBefore(file: string, folder = notesFolder()): boolean {
  if (folder === undefined) return false
  const queue = [file]
  for (const one of queue) {
    const imports = notedImports(one, folder)
    if (imports === undefined) return false
    for (const next of localFiles(one, imports)) if (!queue.includes(next)) queue.push(next)
  }
  return true
}

export function notePassed(modules: readonly CheckedModule[], folder = notesFolder()): void {
  if (folder === undefined) return
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const { file, text, imports } of modules)
      writeFileSync(notePath(file, folder), JSON.stringify({ hash: hashOf(text), imports }), { mode: 0o600 })
  } catch {
    // Without a note, the next start checks the file again.
  }
}

/** Returns the specifiers of the imports of a file, if its note says that it passed the check of strategies; undefined
 *  if there is no note, or if the file or the code of the check has changed since. */
function notedImports(file: string, folder: string): readonly string[] | undefined {
  try {
    const { hash, imports } = JSON.parse(readFileSync(notePath(file, folder), 'utf8'))
    return hash === hashOf(readFileSync(file, 'utf8')) ? imports : undefined
  } catch {
    return undefined
  }
}

function notePath(file: string, folder: string): string {
  return join(folder, createHash('sha256').update(file).digest('hex'))
}

function hashOf(text: string): string {
  return createHash('sha256').update(checkHash()).update(text).digest('hex')
}

let ofCheck: string | undefined

/** Returns the hash of Node's version, of the package.json of Sluice, and of the code of the check of strategies. */
function checkHash(): string {
  if (ofCheck !== undefined) return ofCheck
  const own = fileURLToPath(new URL('./', import.meta.url))
  const names = readdirSync(own).filter((name) => name.endsWith(SOURCE_ENDING))
  const files = [MANIFEST, join(own, `../strategy-modules${SOURCE_ENDING}`), ...names.sort().map((name) => own + name)]
  const hash = createHash('sha256').update(process.version)
  for (const file of files) hash.update(`\0${basename(file)}\0`).update(readFileSync(file))
  ofCheck = hash.digest('hex')
  return ofCheck
}

/** Returns the folder with the notes about files that passed the check. The folder is next to Node's cache of compiled
 *  code; undefined if Node uses no such cache. */
function notesFolder(): string | undefined {
  const compiled = module.getCompileCacheDir()
  return compiled === undefined ? undefined : join(dirname(compiled), 'checked')
}

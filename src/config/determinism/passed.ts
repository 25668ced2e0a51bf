import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import module from 'node:module'
import { basename, dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { MANIFEST, SOURCE_ENDING } from '../files.ts'
import { localFiles } from './local-files.ts'

// The check needs Node's parser of TypeScript, which takes 45 ms of processor time to load. A file that passed the
// check is therefore noted next to the code that Node has compiled and cached, with hashes of its text and of the
// check. The notes need no more protection than that cache: a program that can write there can change the code that
// runs.

/** A module that was checked. */
export interface CheckedModule {
  readonly file: string
  readonly text: string
  /** Specifiers of its imports. */
  readonly imports: readonly string[]
}

/** Whether a strategy's file, and each local module that it imports, passed this check with its present text. */
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

/** Returns the specifiers of the imports of a file that passed the check; undefined if the file or the check has
 *  changed since. */
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

/** Returns the hash of Node's version, of the versions of the packages, and of the code of the check. */
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

/** Returns the folder of the notes, next to the folder of compiled code that bin/sluice.js has checked; undefined if
 *  there is no such folder. */
function notesFolder(): string | undefined {
  const compiled = module.getCompileCacheDir()
  return compiled === undefined ? undefined : join(dirname(compiled), 'checked')
}

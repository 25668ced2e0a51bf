// Writes the modules of the signer's process without their types. npm runs this script after `npm install` in a clone.
// It uses the function with which Node itself removes the types of a module, so the signer runs the same code as from
// its sources. An argument names another folder.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import {
  compiledName,
  hashOf,
  SIGNER_ENTRY,
  STRIPPED,
  STRIPPED_LIST,
  type StrippedModule,
} from '../src/chain/signer/program.ts'

const SOURCES = fileURLToPath(new URL('../src/', import.meta.url))

/** Imports of our own modules. All are static: a test refuses others in the modules of the signer. */
const IMPORTS = /(\b(?:from|import) ')(\.[^']*\.ts)'/g

/** Writes the modules, and the list of them, into a folder in place of its content. */
export function stripSigner(folder: string): void {
  const fresh = `${folder.replace(/\/$/, '')}-${process.pid}`
  const modules: StrippedModule[] = []
  const waiting = new Set([SIGNER_ENTRY])
  for (const path of waiting) {
    const source = readFileSync(join(SOURCES, path), 'utf8')
    const code = stripTypeScriptTypes(source).replace(IMPORTS, (_all, start: string, imported: string) => {
      waiting.add(join(dirname(path), imported))
      return `${start}${compiledName(imported)}'`
    })
    write(join(fresh, compiledName(path)), code)
    modules.push({ path, sourceHash: hashOf(source), hash: hashOf(code) })
  }
  write(join(fresh, 'package.json'), '{ "type": "module" }\n')
  write(join(fresh, STRIPPED_LIST), JSON.stringify(modules, null, 2))
  rmSync(folder, { recursive: true, force: true })
  renameSync(fresh, folder)
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

if (import.meta.main) stripSigner(process.argv[2] ?? STRIPPED)

import { readdirSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { ExitCode, SluiceError } from '../core/errors.ts'
import { expandPath } from './expand-path.ts'
import { didYouMean } from './nearest.ts'
import { OWN_STRATEGIES } from './package-files.ts'

const ENDINGS = ['.ts', '.mts', '.js', '.mjs']

/** The file that a strategy's name or path means: a name in `strategies/` of the working directory, else of this package. */
export function findStrategy(nameOrPath: string, cwd: string): string {
  return isPath(nameOrPath) ? fileOf(nameOrPath, cwd) : named(nameOrPath, cwd)
}

/** Names that can be used from `cwd`. */
export function strategyNames(cwd: string): string[] {
  const names = folders(cwd).flatMap((folder) => list(folder))
  return [...new Set(names)].sort()
}

function isPath(text: string): boolean {
  return /^(\.{1,2}|~)?\//.test(text)
}

function fileOf(path: string, cwd: string): string {
  const file = expandPath(path, cwd)
  if (!isFile(file)) throw refused(`no such file: ${file}`)
  if (!ENDINGS.includes(extname(file))) throw refused(`expected a file that ends in ${ENDINGS.join(', ')}`)
  return file
}

function named(name: string, cwd: string): string {
  if (!/^\w[\w-]*$/.test(name)) {
    const hint = /[/\\.]/.test(name) ? `; a path begins with ./ (did you mean ./${name}?)` : ''
    throw refused(`expected the name of a strategy or a path${hint}`)
  }
  for (const folder of folders(cwd)) {
    const file = ENDINGS.map((ending) => join(folder, name + ending)).find(isFile)
    if (file) return file
  }
  const names = strategyNames(cwd)
  const hint = didYouMean(name, names)
  const others = hint || names.length === 0 ? '' : `; there are ${names.join(', ')}`
  throw refused(`no strategy of this name in strategies/${hint}${others}`)
}

function folders(cwd: string): string[] {
  return [join(cwd, 'strategies'), OWN_STRATEGIES]
}

function list(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(folder)
    .filter((name) => ENDINGS.includes(extname(name)) && !/\.(d|test)\.m?ts$/.test(name))
    .map((name) => name.slice(0, -extname(name).length))
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

function refused(message: string): SluiceError {
  return new SluiceError(message, ExitCode.usage)
}

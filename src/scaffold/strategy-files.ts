import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ExitCode, SluiceError } from '../core/errors.ts'
import type { NewFiles } from './new-files.ts'
import { strategyTestText, strategyText } from './strategy-text.ts'

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const LONGEST_NAME = 40

interface Manifest {
  readonly name?: unknown
  readonly dependencies?: Readonly<Record<string, unknown>>
  readonly devDependencies?: Readonly<Record<string, unknown>>
}

/** A strategy of this name and its test, where they belong: beside each other in a project, in test/ in the repository of Sluice. `taken`:
 *  names that mean something else already. Throws SluiceError where the name or the folder does not fit. */
export function strategyFiles(name: string, folder: string, taken: readonly string[]): NewFiles {
  if (!NAME.test(name) || name.length > LONGEST_NAME)
    throw refused(`${name} is no name for a strategy: small letters, digits and dashes, such as fast-dips`)
  if (taken.includes(name)) throw refused(`there is a strategy ${name} already; choose another name`)
  const manifest = manifestOf(folder)
  const ownRepository = manifest.name === 'sluice'
  const test = ownRepository ? `test/strategies/${name}.test.ts` : `strategies/${name}.test.ts`
  const imported = ownRepository ? `../../strategies/${name}.ts` : `./${name}.ts`
  const files = {
    [`strategies/${name}.ts`]: strategyText(name),
    [test]: strategyTestText(imported, hasVitest(manifest) ? 'vitest' : 'node:test'),
  }
  const there = Object.keys(files).find((file) => existsSync(join(folder, file)))
  if (there !== undefined) throw refused(`${there} is there already, and nothing is overwritten; choose another name`)
  return files
}

function manifestOf(folder: string): Manifest {
  const path = join(folder, 'package.json')
  if (!existsSync(path))
    throw refused('there is no package.json here: go to your project, or make one with `sluice init`')
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) ?? {}) as Manifest
  } catch {
    throw refused('the package.json here is not JSON')
  }
}

function hasVitest({ dependencies, devDependencies }: Manifest): boolean {
  return dependencies?.vitest !== undefined || devDependencies?.vitest !== undefined
}

function refused(message: string): SluiceError {
  return new SluiceError(message, ExitCode.usage)
}

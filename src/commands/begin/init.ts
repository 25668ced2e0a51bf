import { statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { MANIFEST } from '../../config/files.ts'
import { configSchema } from '../../config/json-schema.ts'
import { writeNew } from './new-files.ts'
import { ownPackage, projectFiles, SCHEMA } from './project-files.ts'

/** `sluice init [FOLDER]`: a project outside of this package. What is there already is left as it is. */
export async function run([given = '.']: string[]): Promise<number> {
  const folder = resolve(given)
  const own = dirname(MANIFEST)
  if (folder === own) throw refused('this is Sluice itself; a project lies in a folder of its own')
  if (statSync(folder, { throwIfNoEntry: false })?.isFile()) throw refused(`${given} is a file`)
  const { spec, first, versions } = ownPackage(own)
  const files = writeNew(folder, projectFiles(folder, spec, versions))
  // Only now can the strategy in it be loaded.
  const schema = writeNew(folder, { [SCHEMA]: `${(await configSchema([], folder)).text}\n` })
  const written = [...files.written, ...schema.written]
  for (const name of [...files.kept, ...schema.kept]) console.error(`sluice: ${name} is there already, left as it is`)
  if (written.length === 0) throw refused('all of it is there already; nothing was written')
  const where = relative('', folder)
  // A package.json of somebody else's making has neither these dependencies nor these scripts.
  const isKept = files.kept.includes('package.json')
  const test = isKept ? ['node --test "strategies/**/*.test.ts"'] : ['npm install', 'npm test']
  const steps = [isKept ? '' : first, where && `cd ${where}`, ...test, 'npx sluice run bots.yaml'].filter(Boolean)
  console.log(`${written.join('\n')}\n\nNext:\n${steps.map((step) => `  ${step}\n`).join('')}`)
  return ExitCode.done
}

function refused(message: string): SluiceError {
  return new SluiceError(message, ExitCode.usage)
}

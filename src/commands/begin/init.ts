import { statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { configSchema } from '../../config/json-schema.ts'
import { MANIFEST } from '../../config/package-paths.ts'
import { defineCommand, JSON_LINE } from '../options.ts'
import { writeNew } from './new-files.ts'
import { ownPackage, projectFiles, SCHEMA } from './project-files.ts'

/** Creates a project outside of this package. Keeps files that already exist. */
export const command = defineCommand({
  options: { json: JSON_LINE },
  async run([given = '.'], { json }) {
    const folder = resolve(given)
    const own = dirname(MANIFEST)
    if (folder === own) throw usageError('this is the folder of Sluice itself; name another folder for your project')
    if (statSync(folder, { throwIfNoEntry: false })?.isFile()) throw usageError(`${given} is a file, not a folder`)
    const { spec, first, versions } = ownPackage(own)
    const files = writeNew(folder, projectFiles(folder, spec, versions))
    // Generating the schema loads the strategies, so they must be written first.
    const schema = writeNew(folder, { [SCHEMA]: `${(await configSchema([], folder)).text}\n` })
    const written = [...files.written, ...schema.written]
    const kept = [...files.kept, ...schema.kept]
    for (const name of kept) console.error(`sluice: ${name} already exists, kept unchanged`)
    if (written.length === 0) throw usageError('all files of a project already exist; nothing was written')
    const where = relative('', folder)
    // An existing package.json stays unchanged, so it may lack the project's dependencies.
    const isKept = files.kept.includes('package.json')
    const install = isKept ? ['', where && `cd ${where}`] : [first, where && `cd ${where}`, 'npm install']
    const steps = [...install, 'npx sluice test', 'npx sluice run bots.yaml'].filter(Boolean)
    if (json) console.log(JSON.stringify({ written, kept }))
    else console.log(`${written.join('\n')}\n\nNext:\n${steps.map((step) => `  ${step}\n`).join('')}`)
    return ExitCode.done
  },
})

function usageError(message: string): SluiceError {
  return new SluiceError(message, ExitCode.usage)
}

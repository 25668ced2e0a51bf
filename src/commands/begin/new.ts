import { ExitCode, SluiceError } from '../../base/errors.ts'
import { strategyNames } from '../../config/strategies.ts'
import { defineCommand, JSON_LINE } from '../options.ts'
import { writeNew } from './new-files.ts'
import { strategyFiles } from './strategy-files.ts'

/** Creates a working strategy and its test. Overwrites no existing file. */
export const command = defineCommand({
  options: { json: JSON_LINE },
  async run([what = '', name = ''], { json }) {
    if (what !== 'strategy')
      throw new SluiceError(`cannot create "${what}": expected \`sluice new strategy NAME\``, ExitCode.usage)
    const files = strategyFiles(name, process.cwd(), strategyNames(process.cwd()))
    const { written, kept } = writeNew(process.cwd(), files)
    const [strategy = '', test = ''] = Object.keys(files)
    if (json) console.log(JSON.stringify({ written, kept }))
    else
      console.log(
        `${strategy}\n${test}\n\nNext: npx sluice test ${test}\nThen use it in your configuration: \`strategy: ${name}\``,
      )
    return ExitCode.done
  },
})

import { ExitCode, SluiceError } from '../../base/errors.ts'
import { strategyNames } from '../../config/strategies.ts'
import { defineCommand } from '../options.ts'
import { writeNew } from './new-files.ts'
import { strategyFiles } from './strategy-files.ts'

/** Creates a working strategy and its test. Overwrites no existing file. */
export const command = defineCommand({
  options: {},
  async run([what = '', name = '']) {
    if (what !== 'strategy')
      throw new SluiceError(`cannot create "${what}": expected \`sluice new strategy NAME\``, ExitCode.usage)
    const files = strategyFiles(name, process.cwd(), strategyNames(process.cwd()))
    writeNew(process.cwd(), files)
    const [strategy = '', test = ''] = Object.keys(files)
    const one = test.startsWith('test/') ? ` -- ${test}` : ''
    console.log(
      `${strategy}\n${test}\n\nNext: npm test${one}\nThen use it in your configuration: \`strategy: ${name}\``,
    )
    return ExitCode.done
  },
})

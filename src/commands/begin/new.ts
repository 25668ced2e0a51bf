import { ExitCode, SluiceError } from '../../base/errors.ts'
import { strategyNames } from '../../config/strategies.ts'
import { writeNew } from './new-files.ts'
import { strategyFiles } from './strategy-files.ts'

/** `sluice new strategy NAME`: a strategy that works, and its test. Overwrites nothing. */
export async function run([what = '', name = '']: string[]): Promise<number> {
  if (what !== 'strategy')
    throw new SluiceError(`what is new? \`sluice new strategy NAME\` is what there is, found ${what}`, ExitCode.usage)
  const files = strategyFiles(name, process.cwd(), strategyNames(process.cwd()))
  writeNew(process.cwd(), files)
  const [strategy = '', test = ''] = Object.keys(files)
  const one = test.startsWith('test/') ? ` -- ${test}` : ''
  console.log(`${strategy}\n${test}\n\nNext: npm test${one}\nThen name it in a YAML: \`strategy: ${name}\``)
  return ExitCode.done
}

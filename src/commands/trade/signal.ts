import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { defineCommand, PROCESS } from '../options.ts'
import { control } from './control.ts'

export const command = defineCommand({
  options: PROCESS,
  run: async ([signal = '', data = 'null'], process) =>
    control({ command: 'signal', signal, data: parsed(data) }, process),
})

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw new SluiceError(
      `the data of a signal must be JSON, such as '{"size": 2}' or '"fast"': ${(error as Error).message}`,
      ExitCode.usage,
    )
  }
}

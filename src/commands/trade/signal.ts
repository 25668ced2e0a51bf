import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import type { Options } from '../options.ts'
import { steer } from './steer.ts'

/** `sluice signal NAME [JSON]`: gives it to the `onSignal` of every bot. */
export async function run([signal = '', data = 'null']: string[], options: Options): Promise<number> {
  return steer({ command: 'signal', signal, data: parsed(data) }, options)
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw new SluiceError(
      `what a signal carries is JSON, such as '{"size": 2}' or '"fast"': ${(error as Error).message}`,
      ExitCode.usage,
    )
  }
}

import { formatErrors } from '../config/errors.ts'
import { loadConfig } from '../config/load.ts'
import { ExitCode } from '../core/errors.ts'
import { checkJson } from './check-json.ts'
import { checkText } from './check-text.ts'
import { counted } from './counted.ts'
import type { Options } from './options.ts'

/** `sluice check FILE...`: everything that is wrong at once, else what the bots are allowed to do. Reads no secret, opens no connection. */
export async function run(files: string[], { json = false }: Options): Promise<number> {
  const result = await loadConfig(files)
  if (json) console.log(JSON.stringify(checkJson(result)))
  else if (result.ok) console.log(checkText(result.config))
  else console.error(`${formatErrors(result.errors)}\n\n${counted(result.errors.length, 'thing')} to put right`)
  return result.ok ? ExitCode.done : ExitCode.usage
}

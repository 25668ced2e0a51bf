import { type ConfigSchema, configSchema, SCHEMA_TITLE } from '../../config/json-schema.ts'
import type { Options } from '../options.ts'
import { writeAgain } from './new-files.ts'

/** `sluice schema [STRATEGY...]`: a configuration as JSON Schema, with the params of every strategy in strategies/, of
 *  those shipped, and of the files given. For an editor: the first line of a YAML says `# yaml-language-server:
 *  $schema=FILE`. FILE is written over only where it is such a schema. */
export async function run(given: string[], { out }: Options): Promise<number> {
  const { text, broken }: ConfigSchema = await configSchema(given, process.cwd())
  for (const { name, why } of broken) console.error(`sluice: ${name} is in it without its params: ${why}`)
  if (out === undefined) console.log(text)
  else writeAgain(out, `${text}\n`, SCHEMA_TITLE)
  return 0
}

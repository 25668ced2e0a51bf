import { SCHEMA_TITLE } from '../config/file-json-schema.ts'
import { writeAgain } from '../scaffold/new-files.ts'
import { type ConfigSchema, configSchema } from '../wiring/config-schema.ts'
import type { Options } from './options.ts'

/** `sluice schema [STRATEGY...]`: a configuration as JSON Schema, with the params of every strategy in strategies/, of those shipped, and of
 *  the files given. For an editor: the first line of a YAML says `# yaml-language-server: $schema=FILE`. FILE is written
 *  over only where it is such a schema. */
export async function run(given: string[], { out }: Options): Promise<number> {
  const { text, broken }: ConfigSchema = await configSchema(given, process.cwd())
  for (const { name, why } of broken) console.error(`sluice: ${name} is in it without its params: ${why}`)
  if (out === undefined) console.log(text)
  else writeAgain(out, `${text}\n`, SCHEMA_TITLE)
  return 0
}

import { writeFileSync } from 'node:fs'
import { type ConfigSchema, configSchema } from '../config-schema.ts'
import type { Options } from './options.ts'

/** `sluice schema [STRATEGY...]`: a configuration as JSON Schema, with the params of every strategy in strategies/, of those shipped, and of
 *  the files given. For an editor: the first line of a YAML says `# yaml-language-server: $schema=FILE`. */
export async function run(given: string[], { out }: Options): Promise<number> {
  const { text, broken }: ConfigSchema = await configSchema(given, process.cwd())
  for (const { name, why } of broken) console.error(`sluice: ${name} is in it without its params: ${why}`)
  if (out === undefined) console.log(text)
  else writeFileSync(out, `${text}\n`)
  return 0
}

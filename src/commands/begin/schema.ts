import { configSchema, SCHEMA_TITLE } from '../../config/json-schema.ts'
import { defineCommand, text } from '../options.ts'
import { writeGenerated } from './new-files.ts'

/** Prints or writes the JSON Schema of a configuration, with which an editor checks and completes keys. The schema
 *  includes the params of the strategies in strategies/, of the shipped ones, and of the given files. The first line of
 *  a YAML file refers to it: `# yaml-language-server: $schema=FILE`. */
export const command = defineCommand({
  options: {
    out: text(
      '<file>',
      'write the schema to this file instead of stdout; an existing file is replaced only if it is a schema',
    ),
  },
  async run(files, { out }) {
    const { text, broken } = await configSchema(files, process.cwd())
    for (const { name, why } of broken)
      console.error(`sluice: the schema lacks the params of the strategy ${name}: ${why}`)
    if (out === undefined) console.log(text)
    else writeGenerated(out, `${text}\n`, SCHEMA_TITLE)
    return 0
  },
})

import { fileJsonSchema } from '../config/file-json-schema.ts'
import { type LoadedStrategy, loadStrategy } from '../config/strategies.ts'
import { strategyNames } from '../config/strategy-files.ts'
import { SluiceError } from '../core/errors.ts'

export interface ConfigSchema {
  /** JSON. */
  readonly text: string
  /** Strategies that could not be loaded. */
  readonly broken: readonly { readonly name: string; readonly why: string }[]
}

/** The JSON Schema of a configuration that stands in `cwd`: with the strategies that have a name there, and those of the paths given. Throws
 *  SluiceError where one of the latter cannot be loaded. */
export async function configSchema(given: readonly string[], cwd: string): Promise<ConfigSchema> {
  const strategies: LoadedStrategy[] = []
  const broken: { name: string; why: string }[] = []
  for (const name of strategyNames(cwd))
    try {
      strategies.push(await loadStrategy(name, cwd))
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      broken.push({ name, why: error.message })
    }
  for (const path of given) strategies.push(await loadStrategy(path, cwd))
  const schema = fileJsonSchema(
    strategies,
    broken.map(({ name }) => name),
  )
  return { text: JSON.stringify(schema, null, 2), broken }
}

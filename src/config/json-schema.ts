import { z } from 'zod'
import { SluiceError } from '../base/errors.ts'
import { botSchema, fileSchema } from './schema.ts'
import { type LoadedStrategy, loadStrategy, strategyNames } from './strategies.ts'

type JsonSchema = z.core.JSONSchema.BaseSchema

/** By this a schema of ours is known. */
export const SCHEMA_TITLE = 'A configuration of Sluice'

const BROKEN = 'cannot be loaded now, so its params are not known; `sluice check` says why'

/** A configuration file as JSON Schema (draft 7, as editors take it), with the params of each of these strategies. It
 *  says less than `sluice check`: what a pattern of shapes cannot hold (addresses, secrets, what contradicts what) is
 *  left to that. `broken`: names of strategies that could not be loaded. */
function fileJsonSchema(strategies: readonly LoadedStrategy[], broken: readonly string[]): JsonSchema {
  const file = jsonSchemaOf(fileSchema)
  const { $schema: _, ...bot } = jsonSchemaOf(botSchema)
  const items: JsonSchema = {
    ...bot,
    properties: { ...bot.properties, strategy: strategyName(strategies, broken) },
    allOf: strategies.map(paramsWhere),
  }
  const bots: JsonSchema = { type: 'array', items }
  return { ...file, title: SCHEMA_TITLE, properties: { ...file.properties, bots } }
}

/** The params that a bot of this strategy may have. */
function paramsWhere(one: LoadedStrategy): JsonSchema {
  return {
    if: { type: 'object', properties: { strategy: { const: one.name } }, required: ['strategy'] },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
    then: { properties: { params: paramsOf(one) } },
  }
}

/** A name that there is, or a path. */
function strategyName(strategies: readonly LoadedStrategy[], broken: readonly string[]): JsonSchema {
  return {
    anyOf: [
      ...strategies.map(({ name, strategy }) => ({ const: name, description: strategy.about })),
      ...broken.map((name) => ({ const: name, description: BROKEN })),
      { type: 'string', pattern: '^(\\.{1,2}|~)?/', description: 'the path of a strategy file' },
    ],
  }
}

function paramsOf({ strategy }: LoadedStrategy): JsonSchema {
  const { $schema: _, ...schema } = jsonSchemaOf(strategy.params)
  return { ...schema, description: strategy.about }
}

/** What may be written, so before defaults are filled in. Keys that a plain `z.object` would drop are wrong in a
 *  configuration. */
function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    ...({ io: 'input', target: 'draft-7', unrepresentable: 'any' } as const),
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod
      if (def.type === 'object' && def.catchall === undefined) jsonSchema.additionalProperties = false
      // Where nothing fits, editors speak of the first branch: that should not be a word such as `none`.
      jsonSchema.anyOf?.sort((one, other) => Number('const' in one) - Number('const' in other))
    },
  })
}

export interface ConfigSchema {
  /** JSON. */
  readonly text: string
  /** Strategies that could not be loaded. */
  readonly broken: readonly { readonly name: string; readonly why: string }[]
}

/** The JSON Schema of a configuration that stands in `cwd`: with the strategies that have a name there, and those of
 *  the paths given. Throws SluiceError where one of the latter cannot be loaded. */
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

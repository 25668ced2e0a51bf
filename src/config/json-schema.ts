import { z } from 'zod'
import { SluiceError } from '../base/errors.ts'
import { keyTextOf } from '../engine/key-text.ts'
import { botSchema, fileSchema } from './schema.ts'
import { type LoadedStrategy, loadStrategy, strategyNames } from './strategies.ts'

type JsonSchema = z.core.JSONSchema.BaseSchema

/** Title of the schema. A file with this title was written by Sluice, so Sluice may replace it. */
export const SCHEMA_TITLE = 'A configuration of Sluice'

const BROKEN = 'cannot be loaded at present, so its params are unknown; `sluice check` gives the reason'

/** Returns the JSON Schema of a configuration file (draft 7, for editors), with the params of these strategies. `sluice
 *  check` also checks rules that a schema cannot express: addresses, secrets, contradictions. `broken`: names of
 *  strategies that could not be loaded. */
function fileJsonSchema(strategies: readonly LoadedStrategy[], broken: readonly string[]): JsonSchema {
  const file = jsonSchemaOf(fileSchema)
  const { $schema: _, ...bot } = jsonSchemaOf(botSchema)
  const items: JsonSchema = {
    ...bot,
    properties: { ...bot.properties, strategy: strategyName(strategies, broken) },
    allOf: strategies.map(paramsWhere),
  }
  const bots: JsonSchema = { ...(file.properties?.bots as JsonSchema), items }
  return { ...file, title: SCHEMA_TITLE, properties: { ...file.properties, bots } }
}

/** Returns the schema of the params that applies to bots with this strategy. */
function paramsWhere(one: LoadedStrategy): JsonSchema {
  return {
    if: { type: 'object', properties: { strategy: { const: one.name } }, required: ['strategy'] },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
    then: { properties: { params: paramsOf(one) } },
  }
}

/** Returns the schema of the key `strategy`: the name of an existing strategy, or a path. */
function strategyName(strategies: readonly LoadedStrategy[], broken: readonly string[]): JsonSchema {
  return {
    description: keyTextOf(botSchema.shape.strategy)?.about ?? '',
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

/** Returns the JSON Schema of the values as written, before defaults. Unknown keys are errors in a configuration, so
 *  the JSON Schema does not permit them; a plain `z.object` would drop them. */
function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    ...({ io: 'input', target: 'draft-7', unrepresentable: 'any' } as const),
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod
      describe(jsonSchema)
      if (def.type === 'object' && def.catchall === undefined) jsonSchema.additionalProperties = false
      // If a value fits none of the alternatives, editors report the problem of the first one, so a word such as `none`
      // must come last.
      jsonSchema.anyOf?.sort((one, other) => Number('const' in one) - Number('const' in other))
    },
  })
}

/** Turns the text of a key into the keywords that editors show. zod has copied the text into the schema. */
function describe(schema: JsonSchema & { about?: string; unit?: string; absent?: string }): void {
  const { about, unit, absent } = schema
  if (about === undefined) return
  for (const name of ['about', 'unit', 'absent'] as const) delete schema[name]
  const parts = [about, ...(unit === undefined ? [] : [`Unit: ${unit}.`])]
  schema.description = [...parts, ...(absent === undefined ? [] : [`Without this key: ${absent}.`])].join(' ')
  if (unit !== undefined) schema['x-unit'] = unit
}

export interface ConfigSchema {
  /** The schema as JSON. */
  readonly text: string
  /** Names of the strategies that could not be loaded, with the reasons. */
  readonly broken: readonly { readonly name: string; readonly why: string }[]
}

/** Returns the JSON Schema of a configuration in `cwd`. The schema covers all strategies that a configuration in this
 *  folder can select by name, and those at the paths `given`. Throws a SluiceError if one of these paths cannot be
 *  loaded. */
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

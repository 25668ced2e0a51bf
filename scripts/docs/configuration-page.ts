import { configSchema } from '../../src/config/json-schema.ts'

type Schema = Readonly<Record<string, unknown>>

/** The reference of all keys of the YAML as one Markdown page, from the JSON Schema that editors use. */
export async function configurationPage(): Promise<string> {
  const { text } = await configSchema([], process.cwd())
  const file = JSON.parse(text) as Schema
  return [
    '# Configuration\n',
    'This page lists every key of the YAML. `npm run docs` generates it from the schema with which `sluice check` checks a',
    'file, and which `sluice schema` writes for editors. A bold key is required in its section.\n',
    'Some sections exist both in `defaults` and in a bot. They are described under `defaults`; a key of a bot takes',
    'precedence over the same key there. [strategies/](../strategies/README.md) lists the params of the strategies that',
    'Sluice includes.\n',
    ...Object.entries(properties(file)).flatMap(([name, one]) => section(name, one, file)),
  ].join('\n')
}

function section(name: string, one: Schema, file: Schema): string[] {
  const shared = name === 'bots' ? ['paper', ...Object.keys(properties(properties(file).defaults ?? {}))] : []
  const rows = rowsOf(one, '', shared)
  const table = ['| key | value | default | meaning |', '|---|---|---|---|', ...rows, '']
  return [`## ${name}\n`, `${one.description as string}\n`, ...(rows.length === 0 ? [] : table)]
}

/** A table row for each key. The rows for the keys of an inner section follow the row of that section. `shared`:
 *  sections whose keys another table lists. */
function rowsOf(schema: Schema, prefix: string, shared: readonly string[] = []): string[] {
  return partsOf(schema).flatMap((part) =>
    Object.entries(properties(part)).flatMap(([name, one]) => {
      const isRequired = ((part.required ?? []) as string[]).includes(name)
      const key = `\`${prefix}${name}\``
      const cells = [isRequired ? `**${key}**` : key, valueText(one), defaultText(one), meaning(one)]
      return [
        `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
        ...(shared.includes(name) ? [] : rowsOf(one, `${prefix}${name}.`)),
      ]
    }),
  )
}

/** Returns the schemas of objects that a value can match: the schema itself, its `anyOf` branches, and the items of a
 *  list. */
function partsOf(schema: Schema): Schema[] {
  const branches = [schema, ...((schema.anyOf ?? []) as Schema[])]
  return [
    ...branches,
    ...branches.flatMap(({ items }) => (items === undefined ? [] : partsOf(items as Schema))),
  ].filter((one) => one.properties !== undefined)
}

function properties(schema: Schema): Record<string, Schema> {
  return (schema.properties ?? {}) as Record<string, Schema>
}

/** Type and range of a value, with its unit. */
function valueText(one: Schema): string {
  const unit = (one['x-unit'] ?? 'unitless') as string
  return rangeText(one, ['count', 'unitless'].includes(unit) ? '' : ` ${unit}`)
}

function rangeText(one: Schema, unit: string): string {
  if (one.const !== undefined) return typeof one.const === 'number' ? `${one.const}${unit}` : `\`${one.const}\``
  if (one.enum !== undefined) return (one.enum as unknown[]).map((value) => `\`${value}\``).join(', ')
  if (one.anyOf !== undefined)
    return [...new Set((one.anyOf as Schema[]).map((part) => rangeText(part, unit)))].join(', or ')
  if (one.type === 'array')
    return one.items === undefined ? 'a list' : `a list: ${rangeText(one.items as Schema, unit)}`
  if (one.type === 'number' || one.type === 'integer') return `${numberText(one)}${unit}`
  if (one.type === 'boolean') return '`true`, `false`'
  return one.type === 'object' ? 'a map' : 'text'
}

function numberText({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, type }: Schema): string {
  const kind = type === 'integer' ? 'a whole number, ' : ''
  const least = minimum === undefined ? `above ${shown(exclusiveMinimum)}` : shown(minimum)
  return `${kind}${least} to ${maximum === undefined ? `below ${shown(exclusiveMaximum)}` : shown(maximum)}`
}

function shown(value: unknown): string {
  return (value as number).toLocaleString('en-US', { maximumFractionDigits: 9 })
}

function defaultText(one: Schema): string {
  if ('default' in one) return `\`${JSON.stringify(one.default).replaceAll('"', '')}\``
  return /Without this key: (.*)\.$/.exec((one.description ?? '') as string)?.[1] ?? ''
}

function meaning(one: Schema): string {
  return ((one.description ?? '') as string).replace(/ Unit: [^.]*\./, '').replace(/ Without this key: .*/, '')
}
